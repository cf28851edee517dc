//! The state CRuby's lexer is in after each token: whether a value, an operator or a name may
//! come next.

pub(super) const BEG: u16 = 1;
pub(super) const END: u16 = 2;
pub(super) const ENDARG: u16 = 4;
pub(super) const ENDFN: u16 = 8;
pub(super) const ARG: u16 = 16;
pub(super) const CMDARG: u16 = 32;
pub(super) const MID: u16 = 64;
pub(super) const FNAME: u16 = 128;
pub(super) const DOT: u16 = 256;
pub(super) const CLASS: u16 = 512;
pub(super) const LABEL: u16 = 1024;
pub(super) const LABELED: u16 = 2048;
pub(super) const FITEM: u16 = 4096;

pub(super) const BEG_ANY: u16 = BEG | MID | CLASS;
pub(super) const ARG_ANY: u16 = ARG | CMDARG;

/// The state and whether a command may begin.
#[derive(Clone, Copy)]
pub(super) struct State {
    pub(super) now: u16,
    pub(super) command: bool,
}

impl State {
    pub(super) fn is(self, any: u16) -> bool {
        self.now & any != 0
    }

    /// A value is expected.
    pub(super) fn at_beginning(self) -> bool {
        self.is(BEG_ANY) || self.now & (ARG | LABELED) == ARG | LABELED
    }

    fn after_operator(self) -> bool {
        self.is(FNAME | DOT)
    }

    /// After an operator; `command` is whether one could have begun before it.
    pub(super) fn operator(&mut self, text: &[u8]) {
        let name = self.after_operator();
        self.now = match text {
            b"&." | b"." => DOT,
            b"->" => ENDFN,
            b"|" if !name => BEG | LABEL,
            b"?" | b":" | b"=>" | b".." | b"..." => BEG,
            b"::" if self.at_beginning() => BEG,
            b"::" => DOT,
            b"&&" | b"||" | b"!=" | b"!~" if !name => BEG,
            _ if name => ARG,
            _ if text.len() > 1 && text.ends_with(b"=") => BEG,
            _ => BEG,
        };
        self.command = false;
    }

    /// After a keyword; gives whether it began a statement rather than changed one.
    pub(super) fn keyword(&mut self, text: &[u8]) {
        let last = *self;
        self.command = false;
        if last.is(FNAME) {
            self.now = ENDFN;
            return;
        }
        self.now = match text {
            b"alias" | b"undef" => FNAME | FITEM,
            b"def" => FNAME,
            b"class" => CLASS,
            b"break" | b"next" | b"return" | b"rescue" => MID,
            b"defined?" | b"not" | b"super" | b"yield" => ARG,
            b"BEGIN" | b"END" | b"end" | b"false" | b"nil" | b"redo" | b"retry" | b"self"
            | b"true" | b"__FILE__" | b"__LINE__" | b"__ENCODING__" => END,
            _ => BEG,
        };
        self.command = self.is(BEG);
        let modifier = matches!(text, b"if" | b"unless" | b"while" | b"until" | b"rescue");
        if modifier && !last.is(BEG | LABELED | CLASS) {
            self.now = BEG | LABEL;
        }
    }

    /// After a name that is no keyword.
    pub(super) fn name(&mut self, local: bool) {
        let (last, command) = (*self, self.command);
        self.command = false;
        self.now = if last.is(BEG_ANY | ARG_ANY | DOT) {
            if command { CMDARG } else { ARG }
        } else if last.is(FNAME) {
            ENDFN
        } else {
            END
        };
        if local && !last.is(DOT | FNAME) {
            self.now = END | LABEL;
        }
    }

    pub(super) fn set(&mut self, now: u16) {
        *self = State { now, command: false };
    }

    pub(super) fn line(&mut self) {
        *self = State { now: BEG, command: true };
    }
}
