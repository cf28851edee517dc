//! Catalogs for specs: manifests compiled as a server does it. What is parsed is kept, and a catalog
//! that was compiled is not compiled again.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use fx_engine::Cancel;
use fx_host::{Host, LookingHost};
use fx_puppet::{CatalogRequest, Machine, compile_texts, facts_from_json};
use fx_ruby::{Args, HostObject, R, Value, Vm};
use serde_json::{Value as Json, json};

/// Catalogs that are kept: specs ask for the same one again and again.
const KEPT: usize = 64;

/// What specs reach as `FxPuppet`.
pub(crate) struct Catalogs {
    machine: Machine,
    kept: RefCell<Vec<(String, String)>>,
}

impl Catalogs {
    /// Modules are only looked at: what their functions would change is refused.
    pub(crate) fn new(host: Rc<dyn Host>) -> Catalogs {
        let looking = Rc::new(LookingHost::new(host));
        Catalogs { machine: Machine::new(looking, Cancel::default()), kept: RefCell::default() }
    }

    /// A wish and its answer, both as JSON: `{"catalog": …}` or `{"error": …}`.
    fn answer(&self, wish: &str) -> String {
        let found = self.kept.borrow().iter().position(|(known, _)| known == wish);
        if let Some(at) = found {
            let mut kept = self.kept.borrow_mut();
            let one = kept.remove(at);
            let answer = one.1.clone();
            kept.push(one);
            return answer;
        }
        let answer = match self.compile(wish) {
            Ok(catalog) => format!("{{\"catalog\":{catalog}}}"),
            Err(why) => json!({ "error": why }).to_string(),
        };
        let mut kept = self.kept.borrow_mut();
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push((wish.to_owned(), answer.clone()));
        answer
    }

    fn compile(&self, wish: &str) -> Result<String, String> {
        let wish: Json = serde_json::from_str(wish).map_err(|error| error.to_string())?;
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
        let facts = wish["facts"].as_object().map(facts_from_json).unwrap_or_default();
        let texts = [(String::new(), text("code").into_bytes())];
        let made = compile_texts(&self.machine, &request, &text("node"), facts, &texts)?;
        Ok(made.text)
    }
}

impl HostObject for Catalogs {
    fn name(&self) -> &'static str {
        "FxPuppet"
    }

    fn call(&self, vm: &mut Vm, _: u32, args: Args) -> R {
        let wish = vm.arg(args, 0);
        let wish = vm.to_s(wish)?;
        let answer = self.answer(&wish);
        Ok(vm.str(answer))
    }

    /// It keeps no value of Ruby.
    fn trace(&self, _: &mut dyn FnMut(Value)) {}
}
