//! The mail that cf-execd sends about a run.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use fx_cfengine::regex;
use fx_host::{Net, OsHost, Requests};

const PORT: u16 = 25;
const PATIENCE: Duration = Duration::from_secs(30);

/// What a mail is made of.
pub(super) struct Mail<'a> {
    pub(super) server: &'a str,
    pub(super) from: &'a str,
    pub(super) to: &'a str,
    pub(super) subject: String,
    /// The line that programs look for.
    pub(super) marks: String,
    pub(super) date: String,
    /// Name of this host.
    pub(super) host: &'a str,
    pub(super) lines: Vec<String>,
}

/// Which lines are sent.
pub(super) struct Filter {
    pub(super) include: Vec<String>,
    pub(super) exclude: Vec<String>,
}

impl Filter {
    pub(super) fn keeps(&self, line: &str) -> bool {
        let any = |list: &[String]| list.iter().any(|pattern| regex::full(pattern, line));
        (self.include.is_empty() || any(&self.include)) && !any(&self.exclude)
    }
}

struct Dialogue {
    reader: BufReader<TcpStream>,
}

impl Dialogue {
    fn hear(&mut self, code: &str) -> Result<(), String> {
        loop {
            let mut line = String::new();
            let count = self.reader.read_line(&mut line).map_err(|error| error.to_string())?;
            if count == 0 || line.len() > 4096 {
                return Err("the mail server hung up".to_owned());
            }
            if !line.starts_with(code) {
                return Err(line.trim_end().to_owned());
            }
            // More lines of the same answer have a dash after the number.
            if line.as_bytes().get(3) != Some(&b'-') {
                return Ok(());
            }
        }
    }

    fn say(&mut self, text: &str) -> Result<(), String> {
        let stream = self.reader.get_mut();
        stream.write_all(text.as_bytes()).map_err(|error| error.to_string())
    }
}

/// Sends a mail.
pub(super) fn send(host: &OsHost, mail: &Mail<'_>) -> Result<(), String> {
    let addresses = host.resolve(mail.server).map_err(|error| error.to_string())?;
    let address = addresses.first().ok_or("the mail server has no address")?;
    let stream = host.dial(SocketAddr::new(*address, PORT), PATIENCE);
    let stream = stream.map_err(|error| error.to_string())?;
    let mut dialogue = Dialogue { reader: BufReader::new(stream) };
    dialogue.hear("220")?;
    dialogue.say(&format!("HELO {}\r\n", mail.host))?;
    dialogue.hear("250")?;
    dialogue.say(&format!("MAIL FROM: <{}>\r\n", mail.from))?;
    dialogue.hear("250")?;
    dialogue.say(&format!("RCPT TO: <{}>\r\n", mail.to))?;
    dialogue.hear("250")?;
    dialogue.say("DATA\r\n")?;
    dialogue.hear("354")?;
    let mut text = format!(
        "Subject: {}\r\n{}\r\nDate: {}\r\nFrom: {}\r\nTo: {}\r\n\r\n",
        mail.subject, mail.marks, mail.date, mail.from, mail.to
    );
    for line in &mail.lines {
        // A line of one dot would end the mail.
        let dot = if line.starts_with('.') { "." } else { "" };
        text.push_str(&format!("{dot}{line}\r\n"));
    }
    text.push_str(".\r\n");
    dialogue.say(&text)?;
    dialogue.hear("250")?;
    dialogue.say("QUIT\r\n")?;
    dialogue.hear("221")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_sent_as_the_filters_say() {
        let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect();
        let filter = Filter {
            include: list(&["R: CorrectString1", ".*CorrectString[2]", "R: WrongString1"]),
            exclude: list(&["R: WrongString1", "orrectString1"]),
        };
        let table = [
            ("R: CorrectString1", true),
            ("R: CorrectString2", true),
            ("R: WrongString1", false),
            ("R: Other", false),
        ];
        for (line, expected) in table {
            assert_eq!(filter.keeps(line), expected, "{line}");
        }
        let all = Filter { include: Vec::new(), exclude: Vec::new() };
        assert!(all.keeps("anything"));
    }
}
