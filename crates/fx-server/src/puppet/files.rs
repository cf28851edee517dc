//! Files of modules: what they are and what is in them.

use fx_wire::puppet::{Environment, Format};

use super::{Answer, environment};
use crate::app::{App, refusal};
use crate::code::{FileWish, Tree};
use crate::message::{Issue, Reply, Request};

impl App {
    pub(crate) fn file_metadata(&self, parts: &[String], request: &Request) -> Answer {
        let environment = self.known_environment(request)?;
        let format = request.format(&[Format::Json, Format::Pson])?;
        let wish = self.wish(parts, request, "file_metadata")?;
        let found = self.parts.code.metadata(&environment, &wish);
        let found = found.map_err(|why| refusal(why, environment.as_str()))?;
        Ok(Reply::data(format, found.to_json().to_string().into_bytes()))
    }

    pub(crate) fn file_metadatas(&self, parts: &[String], request: &Request) -> Answer {
        let environment = self.known_environment(request)?;
        let format = request.format(&[Format::Json, Format::Pson])?;
        let wish = self.wish(parts, request, "file_metadatas")?;
        let query = &request.head.query;
        let tree = Tree {
            recurses: query.get("recurse") == Some("true"),
            depth: query.get("recurselimit").and_then(|limit| limit.parse().ok()),
            ignore: query.all("ignore").map(str::to_owned).collect(),
        };
        let found = self.parts.code.metadatas(&environment, &wish, &tree);
        let found = found.map_err(|why| refusal(why, environment.as_str()))?;
        Ok(Reply::listing(format, found))
    }

    pub(crate) fn file_content(&self, parts: &[String], request: &Request) -> Answer {
        let environment = self.known_environment(request)?;
        request.format(&[Format::Binary])?;
        let wish = self.wish(parts, request, "file_content")?;
        let content = self.parts.code.content(&environment, &wish);
        let content = content.map_err(|why| refusal(why, environment.as_str()))?;
        Ok(Reply::file(content))
    }

    pub(crate) fn static_content(&self, parts: &[String], request: &Request) -> Answer {
        let query = &request.head.query;
        let (Some(environment), Some(code_id)) = (query.get("environment"), query.get("code_id"))
        else {
            let text = "Error: A /static_file_content request requires an environment, a code-id, and a file-path";
            return Err(Reply::text(400, text));
        };
        let environment = Environment::parse(environment)
            .ok_or_else(|| Reply::text(400, "the name of the environment is not sound"))?;
        // Kind of folder, module, folder of the module, file.
        let is_served = matches!(parts, [_, _, folder, _, ..]
            if matches!(folder.as_str(), "files" | "lib" | "scripts" | "tasks"));
        if !is_served {
            let text = "Request Denied: A /static_file_content request must be a file within the files, lib, scripts, or tasks directory of a module.";
            return Err(Reply::text(403, text));
        }
        let content = self.parts.code.static_content(&environment, code_id, parts);
        let content = content.map_err(|why| refusal(why, environment.as_str()))?;
        Ok(Reply::file(content))
    }

    /// The environment of a request, where there is one of that name.
    fn known_environment(&self, request: &Request) -> Result<Environment, Reply> {
        let environment = environment(request)?;
        if self.parts.code.has_environment(&environment) {
            return Ok(environment);
        }
        let text = format!("Could not find environment '{environment}'");
        Err(Reply::issue(Issue::NoEnvironment, &text))
    }

    fn wish(&self, parts: &[String], request: &Request, what: &str) -> Result<FileWish, Reply> {
        let (mount, path) = match parts {
            [mount, path @ ..] if !mount.is_empty() => (mount, path),
            _ => return Err(Reply::issue(Issue::BadRequest, "the path names no mount")),
        };
        if !self.parts.code.has_mount(mount) {
            let text =
                format!("Not authorized to call find on /{what}/{} with {{}}", parts.join("/"));
            return Err(Reply::issue(Issue::Failed, &text));
        }
        let query = &request.head.query;
        Ok(FileWish {
            mount: mount.clone(),
            client: request.head.caller.identity().map_or_else(String::new, |one| one.name.clone()),
            // A slash at the end means nothing more.
            path: path.iter().filter(|part| !part.is_empty()).cloned().collect(),
            checksum: query.get("checksum_type").unwrap_or("sha256").to_owned(),
            follows_links: query.get("links") == Some("follow"),
            with_permissions: matches!(
                query.get("source_permissions"),
                Some("use" | "use_when_creating")
            ),
        })
    }
}
