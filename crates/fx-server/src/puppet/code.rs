//! What tools want to know of the code: environments, classes, modules; and the flush.

use fx_wire::puppet::Environment;
use serde_json::{Map, Value, json};

use super::Answer;
use crate::app::App;
use crate::code::Refusal;
use crate::message::{Reply, Request};

impl App {
    pub(crate) fn environments(&self) -> Reply {
        let (paths, all) = self.parts.code.environments();
        let mut environments = Map::new();
        for one in all {
            let settings = json!({
                "modulepath": one.modulepath,
                "manifest": one.manifest,
                "environment_timeout": one.timeout,
                "config_version": one.config_version,
            });
            environments.insert(one.name, json!({"settings": settings}));
        }
        Reply::json(200, &json!({"search_paths": paths, "environments": environments}))
    }

    pub(crate) fn classes(&self, request: &Request) -> Answer {
        let environment = plain_environment(request)?;
        let classes = self.parts.code.classes(&environment);
        let mut classes = classes.map_err(|why| plain_refusal(why, &environment))?;
        classes["name"] = environment.as_str().into();
        // The tag is that of the content: the same classes have the same one.
        let text = classes.to_string();
        let tag = fx_crypto::digest::Algorithm::Sha1.hex(text.as_bytes());
        let known = request.head.field("if-none-match").map(|known| {
            known.trim_start_matches("W/").trim_matches('"').trim_end_matches("--gzip").to_owned()
        });
        if known.as_deref() == Some(tag.as_str()) {
            return Ok(Reply::empty(304).with("etag", tag));
        }
        Ok(Reply::new(200, Some("application/json"), text.into_bytes()).with("etag", tag))
    }

    pub(crate) fn modules(&self, request: &Request) -> Answer {
        let of = |environment: &Environment| {
            let modules = self.parts.code.modules(environment);
            let modules = modules.map_err(|why| plain_refusal(why, environment))?;
            Ok(json!({"name": environment.as_str(), "modules": modules}))
        };
        let found: Value = if request.head.query.get("environment").is_some() {
            of(&plain_environment(request)?)?
        } else {
            let (_, all) = self.parts.code.environments();
            let all = all.iter().filter_map(|one| Environment::parse(&one.name));
            Value::Array(all.map(|one| of(&one)).collect::<Result<_, Reply>>()?)
        };
        Ok(Reply::new(200, Some("application/json"), found.to_string().into_bytes()))
    }

    pub(crate) fn flush(&self, request: &Request) -> Answer {
        match request.head.query.get("environment") {
            Some(_) => self.parts.code.flush(Some(&plain_environment(request)?)),
            None => self.parts.code.flush(None),
        }
        Ok(Reply::empty(204))
    }
}

fn plain_environment(request: &Request) -> Result<Environment, Reply> {
    let Some(name) = request.head.query.get("environment") else {
        return Err(Reply::text(400, "An environment parameter must be specified"));
    };
    Environment::parse(name).ok_or_else(|| {
        Reply::text(400, format!("The environment must be purely alphanumeric, not '{name}'"))
    })
}

fn plain_refusal(why: Refusal, environment: &Environment) -> Reply {
    match why {
        Refusal::NoEnvironment => {
            Reply::text(404, format!("Could not find environment '{environment}'"))
        }
        Refusal::NotFound(text) => Reply::text(404, text),
        Refusal::Failed(text) => Reply::text(500, text),
        Refusal::Busy => crate::app::busy(),
    }
}
