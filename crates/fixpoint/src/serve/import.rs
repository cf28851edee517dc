//! `fixpoint serve import`: fills the store from a repository, a backup of a whole server or the
//! directory of a server that keeps single files. What is read is given to the server as requests of
//! its superuser, so that one set of rules decides what is kept and in which form.

mod keys;
mod rights;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fx_chef::Described;
use fx_chef_server::{Request, Server};
use fx_host::Files;
use fx_wire::puppet::{Pairs, percent_encoded};
use serde_json::{Value as J, json};

use crate::chef_repo::{Cookbook, Reader};

/// What came of an import.
#[derive(Default)]
pub(crate) struct Imported {
    /// How many of each kind, in the order of names.
    pub(crate) counts: BTreeMap<String, usize>,
    /// What was not taken, and why.
    pub(crate) refused: Vec<String>,
}

/// Fills the store from a directory; a repository goes to the organization of this name.
pub(crate) fn import(
    server: &Server,
    source: &Path,
    organization: &str,
) -> Result<Imported, String> {
    let reader = Reader::new();
    let mut import = Import { server, reader, done: Imported::default(), org: String::new() };
    import.reader.host.list(source).map_err(|error| error.to_string())?;
    let organizations = import.reader.names(&source.join("organizations"))?;
    if organizations.is_empty() {
        import.organization(source, organization)?;
        return Ok(import.done);
    }
    import.users(source)?;
    for (name, is_dir) in organizations {
        if is_dir {
            import.organization(&source.join("organizations").join(&name), &name)?;
        }
    }
    // They name what the organizations brought.
    import.keys(source)?;
    import.user_rights(source)?;
    Ok(import.done)
}

struct Import<'a> {
    server: &'a Server,
    reader: Reader,
    done: Imported,
    org: String,
}

/// What stands in the way of a request.
struct Refusal {
    status: u16,
    text: String,
}

impl Import<'_> {
    /// A request of the superuser.
    fn ask(&self, method: &str, path: &str, body: &J, version: &str) -> Result<J, Refusal> {
        let request = Request {
            method: method.to_owned(),
            path: path.to_owned(),
            query: Pairs::default(),
            fields: vec![("x-ops-server-api-version".to_owned(), version.to_owned())],
            body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
        };
        let reply = self.server.answer_superuser(&request);
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        if reply.status < 300 {
            return Ok(serde_json::from_str(&text).unwrap_or(J::Null));
        }
        Err(Refusal { status: reply.status, text })
    }

    fn own(&self, path: &str) -> String {
        format!("/organizations/{}/{path}", self.org)
    }

    fn counted(&mut self, kind: &str) {
        *self.done.counts.entry(kind.to_owned()).or_insert(0) += 1;
    }

    /// Counts what was taken, and notes what was not.
    fn note(&mut self, kind: &str, name: &str, made: Result<J, Refusal>) {
        match made {
            Ok(_) => self.counted(kind),
            Err(why) => self.done.refused.push(format!("{kind} '{name}': {}", why.text)),
        }
    }

    /// Replaces what is there by this name, or makes it.
    fn put(&mut self, kind: &str, collection: &str, name: &str, document: &J) {
        let path = self.own(&format!("{collection}/{}", percent_encoded(name)));
        let made = match self.ask("PUT", &path, document, "2") {
            Err(why) if why.status == 404 => self.ask("POST", &self.own(collection), document, "2"),
            made => made,
        };
        self.note(kind, name, made);
    }

    fn organization(&mut self, dir: &Path, name: &str) -> Result<(), String> {
        name.clone_into(&mut self.org);
        let about = dir.join("org.json");
        let about = if self.exists(&about) { self.reader.json(&about)? } else { J::Null };
        let path = format!("/organizations/{name}");
        if self.ask("GET", &path, &J::Null, "0").is_err() {
            let full = about["full_name"].as_str().unwrap_or(name);
            let made =
                self.ask("POST", "/organizations", &json!({"name": name, "full_name": full}), "0");
            self.note("organization", name, made);
        }
        self.members(dir)?;
        self.clients(dir)?;
        self.groups(dir)?;
        self.containers(dir)?;
        for (kind, folder, ruby) in [
            ("environment", "environments", Some(Described::Environment)),
            ("role", "roles", Some(Described::Role)),
        ] {
            for (name, document) in self.reader.documents(&dir.join(folder), ruby)? {
                // It is there from the start and cannot be changed.
                if !(kind == "environment" && name == "_default") {
                    self.put(kind, folder, &name, &document);
                }
            }
        }
        self.data_bags(dir)?;
        self.cookbooks(dir)?;
        self.policies(dir)?;
        for (name, document) in self.reader.documents(&dir.join("nodes"), None)? {
            self.put("node", "nodes", &name, &document);
        }
        self.rights(dir)
    }

    fn exists(&self, path: &Path) -> bool {
        self.reader.host.lstat(path).is_ok()
    }

    /// Users of a whole server, with their keys.
    fn users(&mut self, source: &Path) -> Result<(), String> {
        let dump = source.join("key_dump.json");
        let dump = if self.exists(&dump) { self.reader.json(&dump)? } else { json!([]) };
        for (name, document) in self.reader.documents(&source.join("users"), None)? {
            let known = dump.as_array().into_iter().flatten().find(|row| row["username"] == *name);
            let mut user = json!({"username": name, "password": self.server.new_password()});
            for field in ["email", "display_name", "first_name", "middle_name", "last_name"] {
                if let Some(value) = document.get(field).filter(|value| !value.is_null()) {
                    user[field] = value.clone();
                }
            }
            if user.get("display_name").is_none() {
                user["display_name"] = name.as_str().into();
            }
            let key = [known.map(|row| &row["public_key"]), document.get("public_key")];
            if let Some(key) = key.into_iter().flatten().find(|key| key.is_string()) {
                user["public_key"] = key.clone();
            }
            let path = format!("/users/{}", percent_encoded(&name));
            if self.ask("GET", &path, &J::Null, "0").is_ok() {
                self.counted("user");
                continue;
            }
            let made = self.ask("POST", "/users", &user, "0");
            self.note("user", &name, made);
        }
        Ok(())
    }

    fn members(&mut self, dir: &Path) -> Result<(), String> {
        for (file, kind, path, field) in [
            ("members.json", "member", "users", "username"),
            ("invitations.json", "invitation", "association_requests", "user"),
        ] {
            let file = dir.join(file);
            if !self.exists(&file) {
                continue;
            }
            for row in self.reader.json(&file)?.as_array().into_iter().flatten() {
                let name = row["user"]["username"].as_str().or_else(|| row["username"].as_str());
                let name = name.unwrap_or_default().to_owned();
                let made = self.ask("POST", &self.own(path), &json!({field: name}), "0");
                // Whoever is a member already stays one.
                let made =
                    made.or_else(|why| if why.status == 409 { Ok(J::Null) } else { Err(why) });
                self.note(kind, &name, made);
            }
        }
        Ok(())
    }

    fn clients(&mut self, dir: &Path) -> Result<(), String> {
        for (name, document) in self.reader.documents(&dir.join("clients"), None)? {
            let mut client = json!({"name": name, "validator": document["validator"] == true});
            if document["public_key"].is_string() {
                client["public_key"] = document["public_key"].clone();
            }
            let path = self.own(&format!("clients/{}", percent_encoded(&name)));
            let made = match self.ask("PUT", &path, &client, "0") {
                Err(why) if why.status == 404 => {
                    self.ask("POST", &self.own("clients"), &client, "0")
                }
                made => made,
            };
            self.note("client", &name, made);
        }
        Ok(())
    }

    fn data_bags(&mut self, dir: &Path) -> Result<(), String> {
        for folder in ["data_bags", "data"] {
            for (bag, is_dir) in self.reader.names(&dir.join(folder))? {
                if !is_dir {
                    continue;
                }
                let made = self.ask("POST", &self.own("data"), &json!({"name": bag}), "0");
                let made =
                    made.or_else(|why| if why.status == 409 { Ok(J::Null) } else { Err(why) });
                self.note("data bag", &bag, made);
                let items = self.reader.documents(&dir.join(folder).join(&bag), None)?;
                for (id, item) in items {
                    let collection = format!("data/{bag}");
                    self.put("data bag item", &collection, &id, &item);
                }
            }
        }
        Ok(())
    }

    fn cookbooks(&mut self, dir: &Path) -> Result<(), String> {
        let (books, manifests) = self.book_dirs(&dir.join("cookbooks"))?;
        for book in Cookbook::read_all(&self.reader, &books)? {
            let name = format!("{} {}", book.name, book.version);
            self.contents(&book)?;
            let path =
                self.own(&format!("cookbooks/{}/{}", percent_encoded(&book.name), book.version));
            let made = self.ask("PUT", &path, &book.manifest(), "2");
            self.note("cookbook", &name, made);
        }
        for (name, version, file) in manifests {
            let manifest = self.reader.json(&file)?;
            self.stored_contents(dir, &manifest)?;
            let path = self.own(&format!("cookbooks/{}/{version}", percent_encoded(&name)));
            let made = self.ask("PUT", &path, &manifest, "2");
            self.note("cookbook", &format!("{name} {version}"), made);
        }
        let (artifacts, _) = self.book_dirs(&dir.join("cookbook_artifacts"))?;
        for (book, dir) in Cookbook::read_all(&self.reader, &artifacts)?.iter().zip(&artifacts) {
            let base = dir.file_name().map(|name| name.to_string_lossy().into_owned());
            let base = base.unwrap_or_default();
            let Some(identifier) = base.strip_prefix(&format!("{}-", book.name)) else {
                self.done.refused.push(format!("cookbook artifact '{base}': no identifier"));
                continue;
            };
            self.contents(book)?;
            let at = format!("cookbook_artifacts/{}/{identifier}", percent_encoded(&book.name));
            let made = self.ask("PUT", &self.own(&at), &book.artifact(identifier), "2");
            let made = made.or_else(|why| if why.status == 409 { Ok(J::Null) } else { Err(why) });
            self.note("cookbook artifact", &base, made);
        }
        Ok(())
    }

    /// Directories of cookbooks, and manifests of those that are kept as single files.
    #[expect(clippy::type_complexity, reason = "two lists of one directory")]
    fn book_dirs(
        &self,
        dir: &Path,
    ) -> Result<(Vec<PathBuf>, Vec<(String, String, PathBuf)>), String> {
        let (mut books, mut manifests) = (Vec::new(), Vec::new());
        for (name, is_dir) in self.reader.names(dir)? {
            if !is_dir || name.starts_with('.') {
                continue;
            }
            let book = dir.join(&name);
            if self.exists(&book.join("metadata.rb")) || self.exists(&book.join("metadata.json")) {
                books.push(book);
                continue;
            }
            for (version, is_dir) in self.reader.names(&book)? {
                if is_dir || version.starts_with('.') {
                    return Err(format!("'{}' is no cookbook: it has no metadata", book.display()));
                }
                manifests.push((name.clone(), version.clone(), book.join(version)));
            }
        }
        Ok((books, manifests))
    }

    fn contents(&self, book: &Cookbook) -> Result<(), String> {
        for file in &book.files {
            self.server.keep_content(&self.org, &file.content)?;
        }
        Ok(())
    }

    /// Contents that lie beside the documents by their checksums.
    fn stored_contents(&self, dir: &Path, manifest: &J) -> Result<(), String> {
        for file in fx_chef_server::files_of(manifest) {
            let checksum = file["checksum"].as_str().unwrap_or_default();
            if !checksum.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(format!("'{checksum}' is no checksum"));
            }
            let path = dir.join("file_store/checksums").join(checksum);
            self.server.keep_content(&self.org, &self.reader.bytes(&path)?)?;
        }
        Ok(())
    }

    /// Revisions of policies, then which group follows which.
    fn policies(&mut self, dir: &Path) -> Result<(), String> {
        let mut locks: BTreeMap<(String, String), J> = BTreeMap::new();
        for (file, lock) in self.reader.documents(&dir.join("policies"), None)? {
            let name = lock["name"].as_str().unwrap_or(&file).to_owned();
            let revision = lock["revision_id"].as_str().unwrap_or_default().to_owned();
            let path = self.own(&format!("policies/{}/revisions", percent_encoded(&name)));
            let made = self.ask("POST", &path, &lock, "2");
            let made = made.or_else(|why| if why.status == 409 { Ok(J::Null) } else { Err(why) });
            self.note("policy revision", &file, made);
            locks.insert((name, revision), lock);
        }
        for (group, document) in self.reader.documents(&dir.join("policy_groups"), None)? {
            for (policy, assigned) in document["policies"].as_object().into_iter().flatten() {
                let revision = assigned["revision_id"].as_str().unwrap_or_default().to_owned();
                let label = format!("{group}/{policy}");
                let Some(lock) = locks.get(&(policy.clone(), revision)) else {
                    self.done
                        .refused
                        .push(format!("policy group '{label}': its revision is missing"));
                    continue;
                };
                let (at, policy) = (percent_encoded(&group), percent_encoded(policy));
                let path = self.own(&format!("policy_groups/{at}/policies/{policy}"));
                let made = self.ask("PUT", &path, lock, "2");
                self.note("policy group", &label, made);
            }
        }
        Ok(())
    }
}
