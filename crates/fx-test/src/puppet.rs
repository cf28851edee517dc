//! Catalogs for specs: manifests compiled as a server does it. What is parsed is kept, and a catalog
//! that was compiled is not compiled again.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use fx_engine::Cancel;
use fx_host::{Host, LookingHost};
use fx_puppet::{CatalogRequest, Machine, RubySession, facts_from_json};
use fx_ruby::value::NIL;
use fx_ruby::{Args, HostObject, R, Shipped, Value, Vm};
use serde_json::{Value as Json, json};

/// Catalogs that are kept: specs ask for the same one again and again.
const KEPT: usize = 64;

/// What specs reach as `FxPuppet`.
pub(crate) struct Catalogs {
    session: RubySession,
    kept: RefCell<Vec<Kept>>,
    facts: RefCell<Vec<(Rc<str>, Facts)>>,
}

type Facts = Vec<(String, fx_puppet::Value)>;

/// A wish and its answer.
struct Kept {
    wish: String,
    facts: Rc<str>,
    answer: String,
}

/// Facts that are kept once they are read.
const KEPT_FACTS: usize = 16;

/// What to compile, and for whom.
struct Wish {
    request: CatalogRequest,
    node: String,
    facts: Facts,
    texts: [(String, Vec<u8>); 1],
}

impl Wish {
    fn read(text: &str, facts: Facts) -> Result<Wish, String> {
        let wish: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let text = |name: &str| wish[name].as_str().unwrap_or_default().to_owned();
        let path = |name: &str| wish[name].as_str().map(PathBuf::from);
        let mut request = CatalogRequest {
            modulepath: text("modulepath").split(':').map(PathBuf::from).collect(),
            hiera_config: path("hiera_config"),
            environment: text("environment"),
            environment_dir: path("environment_dir"),
            version: Some("1".to_owned()),
            ..CatalogRequest::default()
        };
        for (name, value) in wish["settings"].as_object().into_iter().flatten() {
            if let Some(value) = value.as_str() {
                request.given.insert(name.clone(), value.to_owned());
            }
        }
        for (name, value) in wish["extensions"].as_object().into_iter().flatten() {
            request.extensions.push((name.clone(), value.as_str().unwrap_or_default().to_owned()));
        }
        let texts = [(String::new(), text("code").into_bytes())];
        Ok(Wish { request, node: text("node"), facts, texts })
    }
}

impl Catalogs {
    /// Manifests are only looked at: what they would change is refused. The Ruby machine becomes that
    /// of all modules below `root`.
    pub(crate) fn start(
        host: Rc<dyn Host>,
        root: PathBuf,
        more: &[Shipped],
        vm: &mut Vm,
    ) -> Result<Catalogs, String> {
        let looking = Rc::new(LookingHost::new(host));
        let machine = Machine::new(looking, Cancel::default());
        let request = CatalogRequest {
            modulepath: vec![root],
            environment: "rp_env".to_owned(),
            ..CatalogRequest::default()
        };
        let node = fx_puppet::node_name(&machine);
        let session = RubySession::start(&machine, &request, &node, more, vm)?;
        Ok(Catalogs { session, kept: RefCell::default(), facts: RefCell::default() })
    }

    /// Facts from their JSON, read once.
    fn facts(&self, text: &str) -> Result<(Rc<str>, Facts), String> {
        if let Some((text, facts)) = self.facts.borrow().iter().find(|(known, _)| **known == *text)
        {
            return Ok((Rc::clone(text), facts.clone()));
        }
        let read: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let facts = read.as_object().map(facts_from_json).unwrap_or_default();
        let text: Rc<str> = text.into();
        let mut known = self.facts.borrow_mut();
        if known.len() == KEPT_FACTS {
            known.remove(0);
        }
        known.push((Rc::clone(&text), facts.clone()));
        Ok((text, facts))
    }

    /// The answer to a wish, with the facts apart, all as JSON: `{"catalog": …}` or `{"error": …}`.
    fn answer(&self, vm: &mut Vm, wish: &str, facts: &str) -> String {
        let found =
            self.kept.borrow().iter().position(|one| one.wish == wish && *one.facts == *facts);
        if let Some(at) = found {
            let mut kept = self.kept.borrow_mut();
            let one = kept.remove(at);
            let answer = one.answer.clone();
            kept.push(one);
            return answer;
        }
        let (text, facts) = match self.facts(facts) {
            Ok(known) => known,
            Err(why) => return json!({ "error": why }).to_string(),
        };
        let made = Wish::read(wish, facts).and_then(|wish| {
            self.session.compile(vm, &wish.request, &wish.node, wish.facts, &wish.texts)
        });
        let answer = match made {
            Ok(made) => {
                let exported = Json::Array(made.exported);
                format!("{{\"catalog\":{},\"exported\":{exported}}}", made.text)
            }
            Err(why) => json!({ "error": why }).to_string(),
        };
        let mut kept = self.kept.borrow_mut();
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(Kept { wish: wish.to_owned(), facts: text, answer: answer.clone() });
        answer
    }

    /// Compiles a wish and asks that compilation from then on; what is wrong with it, or nothing.
    fn enter(&self, vm: &mut Vm, wish: &str, facts: &str) -> String {
        let read = self.facts(facts).and_then(|(_, facts)| Wish::read(wish, facts));
        let made = read.and_then(|wish| {
            self.session.enter(vm, &wish.request, &wish.node, wish.facts, &wish.texts)
        });
        made.err().unwrap_or_default()
    }
}

/// Methods of `FxPuppet`, by their numbers.
pub(crate) const METHODS: [&str; 4] = ["compile", "enter", "leave", "facts"];

impl HostObject for Catalogs {
    fn name(&self) -> &'static str {
        "FxPuppet"
    }

    fn call(&self, vm: &mut Vm, number: u32, args: Args) -> R {
        if number == 2 {
            self.session.leave();
            return Ok(NIL);
        }
        if number == 3 {
            return Ok(crate::facts::text(vm, args).map_or(NIL, |text| vm.str(text)));
        }
        let (wish, facts) = (vm.arg(args, 0), vm.arg(args, 1));
        let (wish, facts) = (vm.to_s(wish)?, vm.to_s(facts)?);
        let answer = if number == 0 {
            self.answer(vm, &wish, &facts)
        } else {
            self.enter(vm, &wish, &facts)
        };
        Ok(vm.str(answer))
    }

    /// It keeps no value of Ruby.
    fn trace(&self, _: &mut dyn FnMut(Value)) {}
}
