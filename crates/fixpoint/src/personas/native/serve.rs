//! `fixpoint serve`: a server for Puppet's agents and Chef's clients.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fx_engine::Cancel;
use fx_fleet::Fleet;
use fx_host::{Clock, Files, OsHost};
use fx_remote::{Identity, Trust};
use fx_server::{App, Limits, Parts, RevokedSerials, Rules, Signing, SigningOptions, Tls};

use crate::personas::puppet::settings::Settings;
use crate::serve::{
    AutosignSetting, Chef, ChefWish, Compiling, Environments, Exports, Grounds, Place, PuppetDb,
    SERVER_VARDIR, Site, SiteCode, ensure, is_store_url,
};
use crate::{exit, terminal};

/// Serves catalogs, files and certificates to Puppet's agents, and cookbooks to Chef's clients
#[derive(Clone, clap::Args)]
#[command(after_help = "\
Settings are those of puppet.conf, sections [server] and [main]. Without a certificate authority in
'cadir' a new one is made; one of puppetserver is taken over.

Examples:
  fixpoint serve
  fixpoint serve --set confdir=/etc/puppetlabs/puppet --set codedir=/etc/puppetlabs/code
  fixpoint serve --store postgresql://fixpoint@db.example.com/fleet
  fixpoint serve import --chef-organization acme chef-repo")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, default_value = "0.0.0.0:8140")]
    listen: String,
    /// File of the store, or the URL of a PostgreSQL database [default: fleet.db in 'vardir']
    #[arg(long, value_name = "FILE|URL", global = true)]
    store: Option<String>,
    /// Directory of puppetserver's own settings: auth.conf, ca.conf, versioned code [default:
    /// puppetserver/conf.d in 'confdir' or beside it]
    #[arg(long, value_name = "DIR")]
    conf_dir: Option<PathBuf>,
    /// A setting of Puppet, before those of puppet.conf
    #[arg(long = "set", value_name = "NAME=VALUE", global = true)]
    settings: Vec<String>,
    /// Address and port for Chef's clients; none are served without it
    #[arg(long, value_name = "ADDRESS")]
    chef: Option<String>,
    /// Speak HTTP without TLS to Chef's clients, behind a proxy on this machine
    #[arg(long, requires = "chef")]
    chef_plain: bool,
    /// Public key of a web page that signs requests to Chef for the users who are logged in there
    #[arg(long, value_name = "FILE", requires = "chef")]
    chef_web_key: Option<PathBuf>,
    /// Organization of Chef that a first start makes
    #[arg(long, value_name = "NAME", default_value = "default", global = true)]
    chef_organization: String,
    /// Compilers that work at the same time; as many as there are cores by default
    #[arg(long)]
    workers: Option<usize>,
    /// Seconds that a catalog may take to compile
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..))]
    compile_limit: u64,
    /// Report each request on standard error
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Clone, clap::Subcommand)]
enum Command {
    /// Fill the store of Chef's server from a repository, a backup or another server's directory
    #[command(after_help = "\
A repository has folders such as cookbooks, roles, environments, data_bags, nodes and policies; it goes
into the organization of --chef-organization. A backup of a whole server (knife ec backup) has a folder
'organizations' and brings users, groups and rights as well. What is there by the same name is replaced.

Examples:
  fixpoint serve import --chef-organization acme chef-repo
  fixpoint serve import /var/backups/chef")]
    Import {
        /// The directory
        source: PathBuf,
    },
}

pub(crate) fn run(args: &Args) -> u8 {
    let done = match &args.command {
        Some(Command::Import { source }) => import(args, source),
        None => start(args).map(|()| exit::OK),
    };
    match done {
        Ok(code) => code,
        Err(error) => super::failed(error),
    }
}

/// Fills the store; each kind is counted, and what was not taken is named.
fn import(args: &Args, source: &Path) -> Result<u8, String> {
    let host = OsHost::new();
    let settings = settings(&host, &args.settings)?;
    let fleet = open_store(&host, args.store.as_deref(), &settings)?;
    let log: Arc<dyn Fn(&str) + Send + Sync> = Arc::new(|_: &str| {});
    let dir = Path::new(&settings.get("vardir")).join("chef");
    let server = crate::serve::over_store(&host, &dir, &fleet, &log, "https", None)?;
    if host.stat(&source.join("organizations")).is_err() {
        crate::serve::first_organization(&host, &dir, &server, &args.chef_organization)?;
    }
    let done = crate::serve::import(&server, source, &args.chef_organization)?;
    for (kind, count) in &done.counts {
        terminal::print(&format!("{kind}: {count}\n"));
    }
    for refused in &done.refused {
        terminal::complain(format!("not taken: {refused}"));
    }
    Ok(if done.refused.is_empty() { exit::OK } else { exit::ERROR })
}

/// Settings of a server: some differ from those of a client where nobody gives them.
pub(super) fn settings(host: &OsHost, words: &[String]) -> Result<Settings, String> {
    let mut given = std::collections::BTreeMap::new();
    for setting in words {
        let (name, value) =
            setting.split_once('=').ok_or_else(|| format!("'{setting}' is not NAME=VALUE"))?;
        given.insert(name.to_owned(), value.to_owned());
    }
    let settings = Settings::with(host, given, "server");
    if settings.is_given("vardir") {
        return Ok(settings);
    }
    Ok(settings.and("vardir", SERVER_VARDIR))
}

fn start(args: &Args) -> Result<(), String> {
    crate::serve::give_back_at_once();
    let host = OsHost::new();
    let stop = fx_host::stop_on_signals();
    let settings = settings(&host, &args.settings)?;
    let certname = own_name(&settings);
    let conf = crate::serve::read_conf(&host, &settings, args.conf_dir.as_deref())?;
    let fleet = open_store(&host, args.store.as_deref(), &settings)?;
    let verbose = args.verbose;
    let log: Arc<dyn Fn(&str) + Send + Sync> = Arc::new(move |line: &str| {
        if verbose {
            terminal::complain(line);
        }
    });
    let chef = match &args.chef {
        Some(address) => {
            let wish = ChefWish {
                address,
                is_plain: args.chef_plain,
                dir: &Path::new(&settings.get("vardir")).join("chef"),
                organization: &args.chef_organization,
                web_key: args.chef_web_key.as_deref(),
            };
            Some(Chef::prepare(&host, &wish, &fleet, &log)?)
        }
        None => None,
    };
    let Grounds { authority, chain, key, certificate } =
        ensure(&host, &settings, &certname, &fleet)?;
    let trust = Trust::Authorities { certificates: chain.clone(), revocations: Vec::new() };
    let own = Identity { certificate: certificate.clone(), key: key.clone() };
    let puppetdb = PuppetDb::of_site(&host, &settings, &trust, &own, &log)?.map(Arc::new);
    let revoked = RevokedSerials::default();
    revoked.refresh(&fleet).map_err(|error| error.to_string())?;
    let autosign = AutosignSetting::new(&settings.get("autosign"), Arc::clone(&log));
    let options = SigningOptions {
        lifetime: crate::serve::lifetime(&settings),
        allow_alt_names: conf.authority.allow_alt_names,
        allow_authorization_extensions: conf.authority.allow_authorization_extensions,
        allow_duplicates: settings.get("allow_duplicate_certs") == "true",
        renewal_lifetime: conf.authority.renewal,
        autosign: Box::new(autosign),
    };
    let server = identity(&host, &certname);
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let compiling = Compiling {
        workers: args.workers.unwrap_or(cores),
        limit: Duration::from_secs(args.compile_limit),
        place: Place::Machine,
    };
    let reports = settings.get("reports");
    let exports = match &puppetdb {
        _ if !has_exports(&settings) => None,
        Some(puppetdb) => Some(Exports::PuppetDb(Arc::clone(puppetdb))),
        None => Some(Exports::Own(fleet.clone())),
    };
    let environments = Environments::new(settings);
    let code = SiteCode { versions: conf.versions, mounts: conf.mounts };
    let site = Site::start(environments, server, exports, &compiling, code, &log)
        .map_err(|error| error.to_string())?;
    let reports = reports.split(',').map(str::trim).filter(|name| !matches!(*name, "" | "none"));
    let chef_log = Arc::clone(&log);
    let app = App::new(Parts {
        fleet,
        puppetdb: puppetdb.map(|one| one as Arc<dyn fx_server::PuppetDb>),
        code: Arc::new(site),
        signing: Some(Signing { authority, options }),
        rules: conf.rules.map_or_else(|| Rules::new(Vec::new()), Rules::of_site),
        revoked: revoked.clone(),
        clock: Arc::new(|| {
            let now = OsHost::new().now();
            u64::try_from(now.secs).unwrap_or(0) * 1000 + u64::from(now.nanos / 1_000_000)
        }),
        name: certname,
        version: fx_puppet::VERSION,
        reports: reports.map(str::to_owned).collect(),
        log,
    });
    // Agents hold the root; the authority between it and us may be new to them.
    let mut shown = vec![certificate];
    shown.extend(chain.first().cloned().filter(|_| chain.len() > 1));
    let tls = Tls { chain: shown, key, authorities: chain, revoked };
    let listener = TcpListener::bind(&args.listen)
        .map_err(|error| format!("cannot listen on '{}': {error}", args.listen))?;
    let bound = listener.local_addr().map_err(|error| error.to_string())?;
    terminal::print(&format!("listening on {bound}\n"));
    let chef = chef.map(|chef| chef.start(&tls, &chef_log, &stop));
    // One is read and kept while another is compiled.
    let limits = Limits { catalogs: 2 * compiling.workers.max(1), ..Limits::default() };
    let served = fx_server::serve(listener, Arc::new(app), &tls, limits, stop)
        .map_err(|error| error.to_string());
    let chef = chef.map_or(Ok(Ok(())), std::thread::JoinHandle::join);
    served.and(chef.unwrap_or_else(|_| Err("the server for Chef ended badly".into())))
}

fn open_store(host: &OsHost, store: Option<&str>, settings: &Settings) -> Result<Fleet, String> {
    let fleet = match store {
        Some(url) if is_store_url(url) => return crate::serve::open_database(host, url),
        file => {
            let default = || Path::new(&settings.get("vardir")).join("fleet.db");
            let file = file.map_or_else(default, PathBuf::from);
            let dir = file.parent().unwrap_or(Path::new("/"));
            crate::serve::make_private_dirs(host, dir)?;
            Fleet::sqlite(&file)
        }
    };
    fleet.map_err(|error| error.to_string())
}

/// The name of a server with these settings.
pub(super) fn own_name(settings: &Settings) -> String {
    match settings.get("certname") {
        name if name.is_empty() => {
            let host = std::rc::Rc::new(OsHost::new());
            fx_puppet::node_name(&fx_puppet::Machine::new(host, Cancel::default()))
        }
        name => name,
    }
}

/// The server as catalogs see it.
pub(super) fn identity(host: &OsHost, name: &str) -> fx_puppet::Server {
    fx_puppet::Server { name: name.to_owned(), ip: address(host, name) }
}

/// Whether exported resources are kept. The setting's default is that of servers without a store.
pub(super) fn has_exports(settings: &Settings) -> bool {
    settings.values().get("storeconfigs").is_none_or(|given| given != "false")
}

/// The first address of the server's name.
fn address(host: &OsHost, name: &str) -> String {
    let found = fx_host::Net::resolve(host, name).unwrap_or_default();
    found.first().map_or_else(|| "127.0.0.1".into(), ToString::to_string)
}
