//! The tree the runtime walks. Every node has a byte offset into its file; locals are slots.
//!
//! Sites (calls, constants, instance variables) carry cells for caches, which only the
//! runtime reads and writes.

use std::cell::{Cell, OnceCell};

use crate::Sym;
use crate::image::{Later, Stored};
use crate::trees::keep;

/// A node, alive for the whole run.
pub type N = &'static Node;

/// A kind of node with its place.
pub struct Node {
    /// Byte offset in the file.
    pub pos: u32,
    /// What it is.
    pub kind: Kind,
}

/// Code that may never run. Of an image it is read when it first does.
#[derive(Clone, Copy)]
pub struct Branch(pub N);

/// A string literal.
pub struct StrLit {
    /// Its bytes after escapes.
    pub bytes: &'static [u8],
    /// 0 UTF-8, 1 binary, 2 US-ASCII.
    pub enc: u8,
    /// Frozen by a magic comment or by being a key.
    pub frozen: bool,
    /// The one frozen object, once made (word of a value, 0 before).
    pub cached: Cell<u64>,
}

/// A regexp, literal or with interpolation.
pub struct RegexLit {
    /// Its parts; a literal has one `Str`.
    pub parts: &'static [N],
    /// i=1 x=2 m=4 n=32 and 16 for a fixed encoding.
    pub flags: u32,
    /// Literal or `o` flag: made once.
    pub once: bool,
    /// The object once made.
    pub cached: Cell<u64>,
}

/// Where a local lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Var {
    /// On the value stack, relative to the frame.
    Stack(u32),
    /// In the environment so many levels up.
    Env(u32, u32),
}

/// An instance variable's site.
pub struct IvarSite {
    /// Its name.
    pub name: Sym,
    /// Class of the last object seen.
    pub class: Cell<u32>,
    /// Slot in objects of that class.
    pub slot: Cell<u32>,
}

/// A constant's site.
pub struct ConstSite {
    /// Its name.
    pub name: Sym,
    /// Epoch of the cached value.
    pub epoch: Cell<u32>,
    /// Where it was looked up: a lexical scope, or for `A::B` the word of `A`.
    pub cref: Cell<usize>,
    /// The value's word.
    pub value: Cell<u64>,
}

impl ConstSite {
    /// A site that was not evaluated yet.
    pub fn new(name: Sym) -> ConstSite {
        ConstSite { name, epoch: Cell::new(0), cref: Cell::new(0), value: Cell::new(0) }
    }
}

/// Key (none for `**x`) and value of a hash element.
pub type Pair = (Option<N>, N);

/// What stands where a block can stand.
#[derive(Clone, Copy)]
pub enum Blk {
    /// Nothing.
    None,
    /// `&expression`.
    Pass(N),
    /// A literal block.
    Code(&'static Code),
}

/// Arguments of a call.
#[derive(Clone, Copy)]
pub struct Args {
    /// Positional, `Splat` nodes among them when `splat` is set.
    pub pos: &'static [N],
    /// What most calls have not.
    more: Option<&'static MoreArgs>,
    /// Whether a splat is among them.
    pub splat: bool,
    /// Whether only the plain fast path is needed.
    pub simple: bool,
}

/// Keywords and the block of a call.
struct MoreArgs {
    kw: Option<&'static [Pair]>,
    block: Blk,
}

impl Args {
    /// Arguments of these parts.
    pub(crate) fn new(
        pos: &'static [N],
        splat: bool,
        kw: Option<&'static [Pair]>,
        block: Blk,
    ) -> Args {
        let plain = kw.is_none() && matches!(block, Blk::None);
        let more = (!plain).then(|| keep(MoreArgs { kw, block }));
        Args { pos, more, splat, simple: plain && !splat }
    }

    /// Keywords; the slice may be empty for none.
    pub fn kw(&self) -> Option<&'static [Pair]> {
        self.more.and_then(|more| more.kw)
    }

    /// The block.
    pub fn block(&self) -> Blk {
        self.more.map_or(Blk::None, |more| more.block)
    }
}

/// The cached method of a call site does more than to read or write an instance variable.
pub const NO_SLOT: u32 = u32::MAX;

/// A call site.
pub struct Call {
    /// Receiver; none for self.
    pub recv: Option<N>,
    /// Method.
    pub name: Sym,
    /// Arguments.
    pub args: Args,
    /// `&.`
    pub safe: bool,
    /// Self call: private methods are allowed.
    pub fcall: bool,
    /// A bare word that could have been a variable.
    pub vcall: bool,
    /// Assignment form: the value is the right-hand side.
    pub asgn: bool,
    /// Cached class.
    pub c_class: Cell<u32>,
    /// Cached epoch.
    pub c_epoch: Cell<u32>,
    /// Cached method.
    pub c_meth: Cell<u32>,
    /// Where the cached method reads or writes an instance variable, [`NO_SLOT`] for any other.
    pub c_slot: Cell<u32>,
    /// Byte offset.
    pub pos: u32,
}

/// Fast binary operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    Index,
    Shl,
    And,
    Or,
    Shr,
    Xor,
    Cmp,
}

/// What can be assigned in a multiple assignment or a rescue clause.
pub enum Target {
    Var(Var),
    Ivar(&'static IvarSite),
    Gvar(Sym),
    Cvar(Sym),
    Const(ConstScope, Sym),
    /// A setter call with receiver and leading arguments.
    Send(&'static Call),
    Multi(&'static Multi),
}

/// Where a constant is looked for or set.
#[derive(Clone, Copy)]
pub enum ConstScope {
    Lexical,
    Top,
    In(N),
}

/// Left side of a multiple assignment.
pub struct Multi {
    pub pre: &'static [Target],
    /// The splat; the inner option is empty for an anonymous one.
    pub rest: Option<Option<&'static Target>>,
    pub post: &'static [Target],
}

/// A pattern.
pub enum Pat {
    Value(N),
    Bind(Var),
    Alt(&'static Pat, &'static Pat),
    Capture(&'static Pat, Var),
    Arr { konst: Option<N>, pre: &'static [Pat], rest: Option<Option<Var>>, post: &'static [Pat] },
    Find { konst: Option<N>, left: Option<Var>, mid: &'static [Pat], right: Option<Var> },
    Hash { konst: Option<N>, pairs: &'static [(Sym, Pat)], rest: PatRest },
}

/// Rest of a hash pattern.
pub enum PatRest {
    None,
    Nil,
    Var(Option<Var>),
}

/// Clause of `case … in`.
pub struct InClause {
    pub pat: Pat,
    pub guard: Option<N>,
    pub body: Branch,
}

/// `case … when` with a value.
pub struct CaseNode {
    pub subject: N,
    pub clauses: &'static [WhenClause],
    pub other: N,
    /// The clause for each small integer; empty when a clause has anything else. Worked out on the
    /// first run.
    pub jump: OnceCell<Option<Jump>>,
}

/// `case … in`.
pub struct CaseInNode {
    pub subject: N,
    pub clauses: &'static [InClause],
    pub other: Option<N>,
}

/// Clauses of a `case` by the integer they are for.
pub struct Jump {
    /// The first integer that has a clause.
    pub low: i64,
    /// The body for each integer from there on.
    pub bodies: Vec<Option<N>>,
}

/// Clause of `case … when`.
pub struct WhenClause {
    pub conds: &'static [N],
    pub body: Branch,
}

/// Rescue clause.
pub struct Rescue {
    /// Empty for StandardError.
    pub classes: &'static [N],
    pub target: Option<Target>,
    pub body: Branch,
}

/// `begin … rescue … else … ensure … end`.
pub struct Begin {
    pub body: N,
    pub rescues: &'static [Rescue],
    pub else_body: Option<N>,
    pub ensure: Option<N>,
}

/// An optional parameter.
pub struct OptParam {
    pub slot: u32,
    pub var: Var,
    pub default: N,
    pub name: Sym,
}

/// A keyword parameter.
pub struct KwParam {
    pub name: Sym,
    pub slot: u32,
    pub var: Var,
    /// None for a required keyword.
    pub default: Option<N>,
}

/// Parameters; slots stand in the order: required, optional, rest, post, keywords, keyword rest, block.
pub struct Params {
    pub req: u32,
    pub req_names: &'static [Option<Sym>],
    pub opt: &'static [OptParam],
    /// Slot of the splat; None inside for `|a,|`.
    pub rest: Option<u32>,
    pub rest_name: Option<Sym>,
    /// `|a,|`: takes more and drops it.
    pub implicit_rest: bool,
    pub post: u32,
    pub post_names: &'static [Option<Sym>],
    pub kw: &'static [KwParam],
    pub kwrest: Option<u32>,
    pub kwrest_name: Option<Sym>,
    pub no_kw: bool,
    pub block: Option<u32>,
    pub block_name: Option<Sym>,
    pub forwarding: bool,
    /// Slot and shape of each `(a, b)` parameter.
    pub destructure: &'static [(u32, &'static Multi)],
    /// Only required parameters, none of them destructured.
    pub simple: bool,
    /// A block that spreads a single array argument.
    pub spreads: bool,
    /// Numbered parameters.
    pub numbered: u8,
}

impl Params {
    /// What each call asks of them.
    pub(crate) fn shape(&self) -> Shape {
        Shape { req: self.req, simple: self.simple, spreads: self.spreads }
    }
}

/// What a piece of code belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeKind {
    Program,
    Eval,
    Method,
    Block,
    Lambda,
    Class,
}

/// What each call asks of the parameters, kept where the code is.
#[derive(Clone, Copy)]
pub struct Shape {
    pub req: u32,
    pub simple: bool,
    pub spreads: bool,
}

/// Code with its own frame.
pub struct Code {
    pub kind: CodeKind,
    pub name: Sym,
    pub shape: Shape,
    pub params: &'static Params,
    pub body: N,
    /// Slots on the value stack.
    pub nstack: u32,
    /// Names of the environment's slots; no environment is made when empty.
    pub env_names: &'static [Sym],
    /// Parameters that are captured: from stack slot to environment slot.
    pub copies: &'static [(u32, u32)],
    /// Names of all locals on the stack, for `local_variables`.
    pub file: u32,
    pub pos: u32,
    pub end_pos: u32,
    /// How many blocks deep it is in its method or file.
    pub level: u32,
}

/// A method definition.
pub struct DefNode {
    pub name: Sym,
    pub singleton: Option<N>,
    pub code: DefCode,
}

/// The code of a method definition.
pub enum DefCode {
    Here(&'static Code),
    /// It is still in the image that the definition came with.
    Stored(Stored),
}

/// A class or module body.
pub struct ClassNode {
    pub scope: ConstScope,
    pub name: Sym,
    pub superclass: Option<N>,
    pub code: &'static Code,
}

/// Kinds of nodes.
pub enum Kind {
    Nil,
    True,
    False,
    Zelf,
    Int(i64),
    Float(f64),
    Big(bool, &'static [u32]),
    Rational(N, N),
    Imaginary(N),
    Str(&'static StrLit),
    DStr(&'static [N]),
    XStr(N),
    Sym(Sym),
    DSym(&'static [N]),
    Regex(&'static RegexLit),
    MatchLast(N),
    Array(&'static [N]),
    ArraySplat(&'static [N]),
    Splat(N),
    Hash(&'static [Pair]),
    Range(N, N, bool),
    LVar(u32),
    LSet(u32, N),
    EVar(u32, u32),
    ESet(u32, u32, N),
    IVar(&'static IvarSite),
    ISet(&'static IvarSite, N),
    GVar(Sym),
    GSet(Sym, N),
    CVar(Sym),
    CSet(Sym, N),
    NthRef(u32),
    BackRef(u8),
    Const(&'static ConstSite),
    ConstIn(ConstScope, &'static ConstSite),
    ConstSet(ConstScope, Sym, N),
    Call(&'static Call),
    Bin(Op, N, N, &'static Call),
    /// Local, operator, small integer.
    BinLI(Op, u32, i64, &'static Call),
    Not(N, &'static Call),
    Super(&'static Call),
    /// Arguments are reads of the method's parameters.
    ZSuper(&'static Call),
    Yield(&'static Args),
    And(N, N),
    Or(N, N),
    If(N, Branch, Branch),
    While(N, N, bool, bool),
    For(&'static Target, N, N),
    Seq(&'static [N]),
    Case(&'static CaseNode),
    CaseBare(&'static [WhenClause], N),
    CaseIn(&'static CaseInNode),
    MatchPat(N, &'static Pat),
    MatchReq(N, &'static Pat),
    /// `/(?<a>..)/ =~ x` with the locals it sets.
    MatchWrite(N, &'static [(Sym, Var)]),
    Masgn(&'static Multi, N),
    /// As many plain variables as values, and nobody uses the array.
    Spread(&'static Multi, &'static [N]),
    Begin(&'static Begin),
    Def(&'static DefNode),
    Class(&'static ClassNode),
    Module(&'static ClassNode),
    SClass(N, &'static Code),
    Lambda(&'static Code),
    Return(N),
    Break(N),
    Next(N),
    LoopBreak(N),
    LoopNext(N),
    Redo,
    LoopRedo,
    Retry,
    Alias(N, N),
    GAlias(Sym, Sym),
    Undef(&'static [N]),
    FlipFlop(N, N, bool),
    PostExe(&'static Code, &'static Cell<bool>),
    Defined(N),
    File,
    Encoding,
    /// Safe navigation over a temporary: value of the first, nil if nil, else the second.
    SafeSeq(N, N),
    /// A branch that is still in the image it came with.
    Later(&'static Later),
}
