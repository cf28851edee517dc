//! Runs of the server's own agent that a peer asks for.

use fx_cfengine_server::{RunWish, split_command, without_quotes};
use fx_wire::cfengine::{LARGEST, REFUSAL, TERMINATOR};

use super::session::{Asked, Next, Output, Session};
use super::site::Importance;

/// The longest command with what is appended to it.
const LONGEST: usize = 4096;

impl Session {
    /// Judges and carries out the run that was asked for.
    pub(super) fn execute(&mut self, out: &mut dyn Output) -> Next {
        let Some(asked) = self.asked.take() else { return Next::Continue };
        let next = self.judge_and_run(&asked, out);
        let end = [TERMINATOR, b"\0"].concat();
        out.frame(false, &end);
        next
    }

    fn judge_and_run(&self, asked: &Asked, out: &mut dyn Output) -> Next {
        self.log(
            Importance::Verbose,
            &format!("{:>14} {:>7} {}", "Received:", "EXEC", asked.arguments),
        );
        let Some(command) = self.admitted_command() else {
            out.frame(false, REFUSAL);
            return Next::Close;
        };
        if !self.rules.defines_any(&asked.classes) {
            let address = &self.peer.address;
            let hello = format!("Hello  ({address}), nothing relevant to do here...\n\n");
            out.frame(false, hello.as_bytes());
            return self.deny(
                "EXEC denied due to failed class match (check cf-serverd verbose output)",
                out,
            );
        }
        let wish = match RunWish::parse(&asked.arguments) {
            Ok(wish) => wish,
            Err(rest) => return self.deny(&format!("EXEC denied: invalid arguments: {rest}"), out),
        };
        if !self.rules.allows_classes(&wish.classes, &self.peer) {
            return self.deny("EXEC denied role activation (check cf-serverd verbose output)", out);
        }
        if !self.rules.allows_bundles(&wish.bundles, &self.peer) {
            return self
                .deny("EXEC denied bundle activation (check cf-serverd verbose output)", out);
        }
        let command = command + &wish.arguments();
        if command.len() >= LONGEST {
            return self.deny("EXEC denied: too long command", out);
        }
        self.run(&command, out)
    }

    fn deny(&self, text: &str, out: &mut dyn Output) -> Next {
        self.log(Importance::Info, text);
        out.frame(false, &text.as_bytes()[..text.len().min(LARGEST)]);
        Next::Continue
    }

    // The command of policy, if its program may be had by this peer and he is one who may ask.
    fn admitted_command(&self) -> Option<String> {
        let rules = &self.rules;
        let Some(command) = rules.control.run_command.clone() else {
            self.log(Importance::Info, "EXEC denied due to empty cfruncommand");
            return None;
        };
        let program = without_quotes(&command).and_then(|program| self.site.resolve(&program));
        let Some(program) = program else {
            self.log(Importance::Info, "EXEC failed, invalid cfruncommand arg0");
            return None;
        };
        if !rules.paths.allows_path(&program, &self.peer) {
            self.log(Importance::Info, &format!("EXEC denied due to ACL for file: {program}"));
            return None;
        }
        if !rules.allows_user(&self.peer.user) {
            let user = &self.peer.user;
            self.log(Importance::Info, &format!("EXEC denied due to not allowed user: {user}"));
            return None;
        }
        Some(command)
    }

    fn run(&self, command: &str, out: &mut dyn Output) -> Next {
        let text = format!("cf-serverd executing cfruncommand: {command}\n");
        self.log(Importance::Info, text.trim_end());
        out.frame(false, &text.as_bytes()[..text.len().min(LARGEST)]);
        let ended = self.site.run(&split_command(command), &mut |line| {
            let line = &line[..line.len().min(LARGEST - 5)];
            out.frame(false, &[b"> ", line, b"\n"].concat());
        });
        match ended {
            Ok(code) => {
                out.frame(false, format!("(exit code: {code})\n").as_bytes());
                Next::Continue
            }
            Err(why) => {
                self.deny(&format!("Unable to run '{command}' (pipe: {why})"), out);
                Next::Close
            }
        }
    }
}
