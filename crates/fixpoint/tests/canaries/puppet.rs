//! What Puppet marks as `Sensitive`, and every way to run, preview, look up and report it.

use super::Case;

/// Manifests that do not compile, or whose resources are wrong, because of a secret value.
const WRONG: &[&str] = &[
    "class a(Integer $n) {}\nclass { 'a': n => Sensitive('CANARYq01') }",
    "function f(String $s) { $s }\nf(Sensitive('CANARYq02'))",
    "$x = Sensitive('CANARYq03') + 1",
    "$x = Integer(Sensitive('CANARYq04'))",
    "class a(Sensitive[Integer] $n) {}\nclass { 'a': n => Sensitive('CANARYq05') }",
    "class a(Enum['x'] $n) {}\nclass { 'a': n => Sensitive('CANARYq06') }",
    "class a(Sensitive[Enum['x','y']] $n) {}\nclass { 'a': n => Sensitive('CANARYq07') }",
    "define d(Struct[{ 'k' => Integer }] $h) {}\nd { 'x': h => { 'k' => Sensitive('CANARYq08') } }",
    "fail(\"no ${Sensitive('CANARYq09')}\")",
    "fail(Sensitive('CANARYq10'))",
    "$s = Sensitive('CANARYq11')\n$s['a']",
    "$s = Sensitive('CANARYq12')\n$s.each |$x| { }",
    "file { '/srv/target/w': mode => Sensitive('CANARYq13') }",
    "file { '/srv/target/w': ensure => Sensitive('CANARYq14') }",
    "file { Sensitive('CANARYq15'): ensure => present }",
    "file { '/srv/target/w': nosuch => Sensitive('CANARYq16') }",
    "nosuch { 'x': pw => Sensitive('CANARYq17') }",
    "exec { 'x': command => Sensitive('CANARYq18') }",
    "user { 'x': uid => Sensitive('CANARYq19') }",
    "user { 'x': password => Sensitive('CANARYq20:y') }",
    "create_resources('user', { 'x' => { 'password' => Sensitive('CANARYq21'), 'nosuch' => 1 } })",
    "class a(Sensitive $n) { fail('inside') }\nclass { 'a': n => Sensitive('CANARYq22') }",
    "$x = Sensitive('CANARYq23') ? { 'a' => 1 }",
    "include Sensitive('CANARYq24')",
    "assert_type(Integer, Sensitive('CANARYq25'))",
    "$x = sprintf('%d', Sensitive('CANARYq26'))",
    "file { '/srv/target/w': content => Sensitive(['CANARYq27']) }",
    "exec { 'x': command => '/bin/true', environment => Sensitive('CANARYq28') }",
    "cron { 'x': command => '/bin/true', minute => Sensitive('CANARYq29') }",
    "inline_epp('<% | Integer $n | %><%= $n %>', { 'n' => Sensitive('CANARYq30') })",
    "notify { 'x': message => Sensitive('CANARYq31'), loglevel => Sensitive('CANARYq32') }",
    "thing { 'x': kind => Sensitive('CANARYq33') }",
    "shop::refuse(Sensitive('CANARYq34'))",
    "$x = Sensitive('CANARYq35'",
    "group { 'x': gid => Sensitive('CANARYq37') }",
    "exec { 'x': command => '/bin/true', environment => [Sensitive('B=CANARYq38')] }",
    "host { 'x': ip => Sensitive('CANARYq39') }",
    "tidy { '/srv/target/x': age => Sensitive('CANARYq40') }",
    "class a { fail('inside') }\nnotify { 'x': message => Sensitive('CANARYq36') } include a",
];

const TYPE: &str = r#"
Puppet::Type.newtype(:thing) do
  newparam(:name)
  newparam(:token)
  newparam(:kind) { newvalues(:one, :two) }
  newproperty(:secret) do
    def retrieve; 'none'; end
    def insync?(is); false; end
    def set(value)
      raise Puppet::Error, 'refused' if value.to_s.include?('refuse')
    end
  end
end
"#;

const REFUSE: &str = "Puppet::Functions.create_function(:'shop::refuse') do
  dispatch(:go) { param 'String', :x }
  def go(x); x; end
end
";

/// Ruby that takes secrets out of their cover and runs commands with them.
const UNWRAP: &str = r#"Puppet::Functions.create_function(:'shop::log_in') do
  dispatch(:go) { param 'Sensitive', :x }
  def go(x)
    Puppet::Util::Execution.execute(['/bin/echo', "--password=#{x.unwrap}"])
    Puppet::Util::Execution.execute("/bin/echo -p#{x.unwrap}; exit 3", failonfail: false)
    Puppet.notice("logged in as #{x.unwrap}")
    system('/bin/true', x.unwrap)
    'done'
  end
end
"#;

const ACCOUNT: &str = r#"Puppet::Type.newtype(:account) do
  ensurable
  newparam(:name, namevar: true)
  newparam(:token)
  newproperty(:level)
end
"#;

const ACCOUNT_PROVIDER: &str = r#"Puppet::Type.type(:account).provide(:ruby) do
  commands echo: 'echo', refuse: 'false'
  def exists?
    echo('--exists', resource[:token])
    false
  end
  def create
    Puppet.info("creates with #{resource[:token]}")
    echo('--create', resource[:token].to_s)
    refuse('--create', resource[:token].to_s)
  end
  def level = 'none'
  def level=(value)
    echo(value)
  end
end
"#;

const SET_UP: &str = "
mkdir -p /srv/target && echo old > /srv/target/open && echo CANARYp61 > /srv/target/old && echo CANARYp62 > /srv/target/diffed
rm -f /srv/target/p* /srv/target/l* /srv/target/e*
userdel canfresh 2>/dev/null; userdel canplain 2>/dev/null; userdel canold 2>/dev/null; useradd canold; echo canold:CANARYp63 | chpasswd -e
";

pub(super) fn case() -> Case {
    let mut files: Vec<(String, String)> = [
        ("site.pp", include_str!("site.pp")),
        ("good.pp", "file { '/srv/target/good': content => Sensitive('CANARYp64') }\nuser { 'canplain': password => Sensitive('CANARYp65') }\n"),
        ("modules/shop/hiera.yaml", HIERA),
        ("modules/shop/data/data.yaml", include_str!("data.yaml")),
        ("key.pem", include_str!("eyaml_key.pem")),
        ("modules/shop/manifests/bound.pp", "class shop::bound($pw) {\n  file { '/srv/target/bound': content => $pw }\n  notify { \"bound ${pw}\": }\n}\n"),
        ("modules/shop/templates/a.epp", "<%= $v.unwrap %>\n"),
        ("modules/shop/templates/a.erb", "<%= @secret.unwrap %>\n"),
        ("modules/shop/lib/puppet/type/thing.rb", TYPE),
        ("modules/shop/lib/puppet/functions/shop/refuse.rb", REFUSE),
        ("modules/shop/lib/puppet/functions/shop/log_in.rb", UNWRAP),
        ("modules/shop/lib/puppet/type/account.rb", ACCOUNT),
        ("modules/shop/lib/puppet/provider/account/ruby.rb", ACCOUNT_PROVIDER),
        ("unwrapped.pp", include_str!("unwrapped.pp")),
    ]
    .into_iter()
    .map(|(name, text)| (name.to_owned(), text.to_owned()))
    .collect();
    for (number, text) in WRONG.iter().enumerate() {
        files.push((format!("wrong/{number:02}.pp"), format!("{text}\n")));
    }
    let mut commands: Vec<String> = Vec::new();
    for options in [
        "--noop",
        "--noop --debug --show_diff",
        "",
        "--debug --trace",
        "--show_diff --verbose",
        "--test --logdest console --logdest /srv/logs/puppet.json",
        "--logdest /srv/logs/puppet.log --debug --evaltrace",
    ] {
        commands.push(format!("fresh; $F puppet apply --modulepath modules {options} site.pp"));
    }
    for verb in [
        "run",
        "run -v --format json",
        "run --format trace",
        "plan",
        "plan -v --format json",
        "try",
        "try --format json",
        "explain",
        "explain --format json",
        "explain --format html",
        "explain --why target",
        "check",
        "check --format json",
        "check --format sarif",
    ] {
        commands.push(format!("fresh; $F {verb} --modulepath modules site.pp"));
    }
    for command in [
        "puppet apply --noop --debug",
        "puppet apply --debug --trace --show_diff --vardir /srv/state/puppet",
        "puppet apply --test --logdest console --logdest /srv/logs/unwrapped.json",
        "run -v --format json",
        "run --format trace",
        "plan -v --format json",
        "try --format json",
        "explain --format json",
        "explain --format html",
    ] {
        commands.push(format!("fresh; $F {command} --modulepath modules unwrapped.pp"));
    }
    commands.push("$F history".to_owned());
    for key in [
        "shop::converted",
        "shop::nested",
        "shop::nested.password",
        "shop::bound::pw",
        "shop::sealed",
    ] {
        for options in ["", "--render-as json", "--explain", "--debug"] {
            commands.push(format!("$F puppet lookup --modulepath modules {options} {key}"));
        }
    }
    for number in 0..WRONG.len() {
        for verb in [
            "puppet apply --modulepath modules --debug --trace",
            "run --modulepath modules",
            "check --modulepath modules",
            "check --format sarif --modulepath modules",
            "plan --format json --modulepath modules",
        ] {
            commands.push(format!("$F {verb} wrong/{number:02}.pp"));
        }
    }
    // A catalog is there to be applied, so it holds what it sets; what is said of it does not.
    commands.push(
        "$F compile --node n --modulepath modules -o /srv/target/catalog.json site.pp".to_owned(),
    );
    commands.push("fresh; $F plan --out /srv/out/saved.plan good.pp".to_owned());
    commands.push("$F run --plan /srv/out/saved.plan good.pp".to_owned());
    Case {
        name: "puppet",
        files,
        set_up: SET_UP,
        commands,
        targets: &[],
        written: ("/srv/target/good", "CANARYp64"),
        witness: &["[redacted]", "Sensitive [value redacted]", "executed successfully"],
        least: 95,
    }
}

const HIERA: &str = "version: 5
hierarchy:
  - name: all
    lookup_key: eyaml_lookup_key
    path: data.yaml
    datadir: data
    options: { pkcs7_private_key: /srv/policy/key.pem, pkcs7_public_key: /srv/policy/key.pem }
";
