//! `fixpoint compile`: Puppet catalogs as JSON for one node, or for many on all cores. A
//! recipe, cookbook or repository goes to Chef and gives its resource collection.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use fx_engine::Cancel;
use fx_host::{
    Edits, Files, HostError, LookingHost, OsHost, Sandbox, SandboxOptions, Spec, WriteOptions,
};
use fx_puppet::{CatalogRequest, Machine};
use fx_report::console::puppet::PuppetConsole;

use crate::{exit, language, terminal};

/// Compiles the Puppet catalog of a node, or the resource collection of a cookbook, as JSON.
#[derive(Clone, clap::Args)]
#[command(after_help = "\
Examples:
  fixpoint compile --node web1 --facts facts.json --modulepath modules -o out.json site.pp
  fixpoint compile --nodes facts/ --out-dir catalogs/ --environment-dir . manifests/
  fixpoint compile --run-list 'recipe[web]' chef-repo/")]
pub(crate) struct CompileArgs {
    /// Name of the node
    #[arg(long)]
    node: Option<String>,
    /// Facts of the node: JSON or YAML
    #[arg(long)]
    facts: Option<PathBuf>,
    /// A folder of facts, one file for each node
    #[arg(long, conflicts_with_all = ["node", "facts"], requires = "out_dir")]
    nodes: Option<PathBuf>,
    /// Where the catalogs of many nodes go
    #[arg(long)]
    out_dir: Option<PathBuf>,
    /// Folders of modules, with colons between them
    #[arg(long)]
    modulepath: Option<String>,
    /// Folder of the environment: its data, its modules
    #[arg(long)]
    environment_dir: Option<PathBuf>,
    /// Name of the environment
    #[arg(long, default_value = "production")]
    environment: String,
    /// The global hiera.yaml
    #[arg(long)]
    hiera_config: Option<PathBuf>,
    /// Where the catalog goes; standard output without it
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Threads for many nodes; as many as there are cores by default
    #[arg(long)]
    jobs: Option<usize>,
    /// The run list of a repository of cookbooks, separated by commas (Chef)
    #[arg(long = "run-list", value_delimiter = ',')]
    run_list: Vec<String>,
    /// Already inside the copy of the machine
    #[arg(long, hide = true)]
    inside: bool,
    /// The manifest, or a folder of them; or a recipe, a cookbook, a repository of cookbooks
    manifest: PathBuf,
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

fn request(host: &OsHost, args: &CompileArgs) -> CatalogRequest {
    // A manifest that lies beside a hierarchy or a configuration is that environment's.
    let beside = absolute(&args.manifest).parent().map(Path::to_path_buf).filter(|dir| {
        ["hiera.yaml", "environment.conf"]
            .iter()
            .any(|name| host.exists(&dir.join(name)).unwrap_or(false))
    });
    let environment_dir = args.environment_dir.as_deref().map(absolute).or(beside);
    let mut modulepath: Vec<PathBuf> = args
        .modulepath
        .iter()
        .flat_map(|paths| paths.split(':'))
        .filter(|path| !path.is_empty())
        .map(|path| absolute(Path::new(path)))
        .collect();
    let mut hiera_config = args.hiera_config.as_deref().map(absolute);
    if let Some(dir) = &environment_dir {
        for own in ["modules", "site-modules"] {
            let own = dir.join(own);
            if host.exists(&own).unwrap_or(false) && !modulepath.contains(&own) {
                modulepath.insert(0, own);
            }
        }
        let global = dir.join("global_hiera.yaml");
        if hiera_config.is_none() && host.exists(&global).unwrap_or(false) {
            hiera_config = Some(global);
        }
    }
    CatalogRequest {
        manifest: absolute(&args.manifest),
        modulepath,
        environment_dir,
        hiera_config,
        environment: args.environment.clone(),
        trace: false,
        given: server_settings(),
        ..CatalogRequest::default()
    }
}

/// Settings of a compiling server, with the paths of Puppet's own packages.
fn server_settings() -> fx_puppet::settings::Given {
    [
        ("ca_server", "puppet.example.com"),
        ("codedir", "/etc/puppetlabs/code"),
        ("confdir", "/etc/puppetlabs/puppet"),
        ("logdir", "/var/log/puppetlabs/puppet"),
        ("publicdir", "/opt/puppetlabs/puppet/public"),
        ("rundir", "/var/run/puppetlabs"),
        ("server", "puppet.example.com"),
        ("ssldir", "/etc/puppetlabs/puppet/ssl"),
        ("vardir", "/opt/puppetlabs/puppet/cache"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

pub(crate) fn run(args: &CompileArgs) -> u8 {
    if args.inside && !Sandbox::is_here() {
        terminal::complain("--inside is for use in a copy of the machine; this is none");
        return exit::ERROR;
    }
    if language::of(&OsHost::new(), &args.manifest) == Ok(language::Language::Chef) {
        let (facts, output) = (args.facts.as_deref(), args.output.as_deref());
        return language::chef_collection(&args.manifest, &args.run_list, facts, output);
    }
    if args.node.is_none() && args.nodes.is_none() {
        terminal::complain("--node or --nodes is needed to compile catalogs");
        return exit::ERROR;
    }
    let jobs = match (&args.nodes, args.jobs) {
        (None, _) => 1,
        (_, Some(jobs)) => jobs.max(1),
        (Some(_), None) => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let mut nodes = VecDeque::new();
    match (&args.nodes, &args.node) {
        (Some(dir), _) => {
            let host = OsHost::new();
            let items = match host.list(dir) {
                Ok(items) => items,
                Err(error) => {
                    terminal::complain(error);
                    return exit::ERROR;
                }
            };
            let into = absolute(args.out_dir.as_deref().unwrap_or(Path::new(".")));
            if !host.exists(&into).unwrap_or(false)
                && let Err(error) = host.make_dir(&into, 0o755)
            {
                terminal::complain(error);
                return exit::ERROR;
            }
            for item in items {
                let path = dir.join(&item.name);
                let node = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let out = into.join(format!("{node}.json"));
                nodes.push_back((node, Some(path), Some(out)));
            }
        }
        (None, Some(node)) => {
            nodes.push_back((node.clone(), args.facts.clone(), args.output.clone()));
        }
        (None, None) => return exit::USAGE,
    }
    let nodes = Arc::new(Mutex::new(nodes));
    let mut workers = Vec::new();
    for _ in 0..jobs {
        let (args, nodes) = (args.clone(), Arc::clone(&nodes));
        match crate::deep::spawn(move || work(&args, &nodes)) {
            Ok(worker) => workers.push(worker),
            Err(error) => terminal::complain(error),
        }
    }
    let codes = workers.into_iter().map(|worker| worker.join().unwrap_or(exit::ERROR));
    codes.max().unwrap_or(exit::ERROR)
}

type Node = (String, Option<PathBuf>, Option<PathBuf>);

fn work(args: &CompileArgs, nodes: &Mutex<VecDeque<Node>>) -> u8 {
    let host = Rc::new(OsHost::new());
    let request = request(&host, args);
    let said = Said::default();
    let console = Rc::new(PuppetConsole::new(Box::new(said.clone()), Box::new(said.clone())));
    // Functions of modules may do anything while they compile: on the machine they only look.
    let looking = (!args.inside).then(|| Rc::new(LookingHost::new(Rc::<OsHost>::clone(&host))));
    let machine = match &looking {
        Some(looking) => Machine::new(Rc::clone(looking), Cancel::default()),
        None => Machine::new(Rc::<OsHost>::clone(&host), Cancel::default()),
    };
    machine.run().ledger.watch(console.clone());
    let mut copy = None;
    let mut code = exit::OK;
    loop {
        let next = nodes.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some((node, facts, out)) = next else { break };
        let mut made = facts
            .as_deref()
            .map_or(Ok(Vec::new()), |path| fx_puppet::read_facts(&machine, path))
            .and_then(|facts| fx_puppet::catalog(&machine, &request, &node, facts))
            .map_err(Some);
        console.flush();
        if let Some(refused) = looking.as_ref().and_then(|looking| looking.refused()) {
            if let Some(looking) = &looking {
                looking.forget();
            }
            if fx_host::Env::euid(&*host) == 0 {
                // What was said so far is said again, by the one in the copy.
                said.take();
                made = in_copy(&host, &mut copy, args, &node, facts.as_deref());
            } else {
                terminal::complain(format_args!(
                    "'{refused}' is done in a copy of the machine only, which needs root: what is compiled without it may be wrong"
                ));
            }
        }
        terminal::hand_on(&String::from_utf8_lossy(&said.take()));
        let text = match made {
            Ok(catalog) => catalog + "\n",
            Err(message) => {
                if let Some(message) = message {
                    terminal::hand_on(&format!("Error: {message}\n"));
                }
                code = exit::ERROR;
                continue;
            }
        };
        let written = match &out {
            None => {
                code = code.max(terminal::print(&text));
                continue;
            }
            Some(out) => host.write(out, text.as_bytes(), &WriteOptions::default()),
        };
        if let Err(error) = written {
            terminal::complain(error);
            code = exit::ERROR;
        }
    }
    // What was written is made to last once, for all nodes.
    if let Err(error) = host.commit() {
        terminal::complain(error);
        code = exit::ERROR;
    }
    // The process ends with its compilations: what they shared need not be taken apart.
    std::mem::forget(machine);
    code
}

/// Compiles one node in a throw-away copy of the machine, which is made for the first. What
/// failed there was already said, so an error need not have a text.
fn in_copy(
    host: &OsHost,
    copy: &mut Option<Sandbox>,
    args: &CompileArgs,
    node: &str,
    facts: Option<&Path>,
) -> Result<String, Option<String>> {
    let told = |error: HostError| Some(error.to_string());
    let sandbox = match copy {
        Some(sandbox) => sandbox,
        None => copy.insert(Sandbox::new(&SandboxOptions::default()).map_err(told)?),
    };
    let program = std::env::current_exe().map_err(|error| Some(error.to_string()))?;
    let mut argv: Vec<OsString> =
        vec![program.into(), "compile".into(), "--inside".into(), "--node".into(), node.into()];
    let mut option = |name: &str, value: Option<&OsStr>| {
        if let Some(value) = value {
            argv.extend([OsString::from(name), value.to_owned()]);
        }
    };
    option("--facts", facts.map(Path::as_os_str));
    option("--modulepath", args.modulepath.as_deref().map(OsStr::new));
    option("--environment-dir", args.environment_dir.as_deref().map(Path::as_os_str));
    option("--environment", Some(OsStr::new(&args.environment)));
    option("--hiera-config", args.hiera_config.as_deref().map(Path::as_os_str));
    argv.extend(["--".into(), args.manifest.clone().into()]);
    let spec =
        Spec { cwd: Some(fx_host::Env::cwd(host)), output_limit: 1 << 30, ..Spec::argv(argv) };
    let ended = sandbox.run(host, &spec).map_err(told)?;
    terminal::hand_on(&String::from_utf8_lossy(&ended.stderr));
    if !ended.exit.success() || ended.truncated {
        return Err(None);
    }
    let mut text = String::from_utf8_lossy(&ended.stdout).into_owned();
    text.truncate(text.trim_end_matches('\n').len());
    Ok(text)
}

/// What is said while a node is compiled, held back until it is known to count.
#[derive(Clone, Default)]
struct Said(Rc<RefCell<Vec<u8>>>);

impl Said {
    fn take(&self) -> Vec<u8> {
        self.0.take()
    }
}

impl std::io::Write for Said {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
