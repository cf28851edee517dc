//! What recipes mark with `sensitive true`, and what comes out of encrypted data bags.

use super::Case;

/// Errors that carry the value, declared in one cookbook each so that every one stops a run.
const WRONG: &[&str] = &[
    "file '/srv/target/w' do\n  sensitive true\n  content 'CANARYw01'\n  nosuch 'CANARYw02'\nend",
    "file '/srv/target/w' do\n  sensitive true\n  mode({ 'a' => 'CANARYw03' })\nend",
    "file '/srv/target/none/w' do\n  sensitive true\n  content 'CANARYw04'\nend",
    "execute 'x' do\n  command 'echo CANARYw05; false'\n  sensitive true\nend",
    "template '/srv/target/w' do\n  sensitive true\n  source 'none.erb'\n  variables(x: 'CANARYw06')\nend",
    "template '/srv/target/w' do\n  sensitive true\n  source 'bad.erb'\n  variables(x: 'CANARYw07')\nend",
    "shop 'x' do\n  sensitive true\n  token 'CANARYw08'\nend",
    "shop 'x' do\n  token 'CANARYw09'\nend",
    "shop 'x' do\n  sensitive true\n  count 'CANARYw10'\nend",
    "file '/srv/target/w' do\n  sensitive true\n  content 'CANARYw11'\n  notifies :run, 'execute[nosuch]'\nend",
    "item = data_bag_item('bag', 'sealed', 'the secret of the bag')\nfile '/srv/target/w' do\n  sensitive true\n  content item['password']\nend\nlog \"#{item.keys}\"",
    "log data_bag_item('bag', 'sealed', 'not the secret')['password']",
    "ruby_block 'x' do\n  sensitive true\n  block { raise 'refused' }\nend",
    "user 'canbad' do\n  sensitive true\n  password 'CANARYw12'\n  gid 'nosuch'\nend",
    "user 'can:bad' do\n  password 'CANARYw13'\nend",
];

const RESOURCE: &str = "
provides :shop
unified_mode true
property :token, String, sensitive: true
property :count, Integer
action :create do
  file '/srv/target/shop' do
    content new_resource.token.to_s
    sensitive true
  end
end
";

const SET_UP: &str = "
rm -rf /srv/target /srv/c; mkdir -p /srv/target /srv/c; echo CANARYx1 > /srv/c/f2; echo CANARYx2 > /srv/c/f3
echo '<%= @x %>' > /srv/c/t.erb; userdel canuser 2>/dev/null; userdel canbad 2>/dev/null
";

pub(super) fn case() -> Case {
    let mut files: Vec<(String, String)> = [
        ("good.rb", "file '/srv/target/good' do\n  content 'CANARYw16'\n  sensitive true\nend\nuser 'canbad' do\n  password 'CANARYw17'\nend\n"),
        ("secrets.rb", include_str!("recipe.rb")),
        ("repo/cookbooks/t/metadata.rb", "name 't'\n"),
        ("repo/cookbooks/t/recipes/default.rb", include_str!("recipe.rb")),
        ("repo/cookbooks/t/templates/bad.erb", "<%= @x.nosuch %>\n"),
        ("repo/cookbooks/t/resources/shop.rb", RESOURCE),
        ("repo/data_bags/bag/sealed.json", include_str!("sealed.json")),
    ]
    .into_iter()
    .map(|(name, text)| (name.to_owned(), text.to_owned()))
    .collect();
    let mut commands: Vec<String> = Vec::new();
    for (number, text) in WRONG.iter().enumerate() {
        files.push((format!("repo/cookbooks/t/recipes/w{number}.rb"), format!("{text}\n")));
        for verb in [
            "chef-client -z -l debug -o",
            "chef-client -z --why-run -o",
            "run . -o",
            "plan --format json . -o",
            "check --format sarif . -o",
        ] {
            commands.push(format!("fresh; cd repo; $F {verb} 't::w{number}'"));
        }
    }
    for options in ["", "-l debug", "-W", "-l trace"] {
        commands.push(format!("fresh; timeout 60 $F chef-apply {options} secrets.rb"));
    }
    for options in [
        "",
        "-l trace -L /srv/logs/chef.log",
        "-W",
        "-F min -l debug",
        "-l info --fx-report /srv/logs/report.json",
    ] {
        commands.push(format!("fresh; cd repo; timeout 60 $F chef-client -z -o t {options}"));
    }
    for verb in [
        "run",
        "run -v --format json",
        "run --format trace",
        "plan",
        "plan -v --format json",
        "try --timeout 60",
        "try --timeout 60 --format json",
        "explain",
        "explain --format json",
        "explain --format html",
        "explain --why srv",
        "check",
        "check --format json",
        "check --format sarif",
    ] {
        commands.push(format!("fresh; $F {verb} secrets.rb"));
    }
    for verb in ["history", "history show 1", "history show 2 --format json", "facts"] {
        commands.push(format!("$F {verb}"));
    }
    commands.push("fresh; $F plan --out /srv/out/saved.plan good.rb".to_owned());
    commands.push("$F run --plan /srv/out/saved.plan good.rb".to_owned());
    Case {
        name: "chef",
        files,
        set_up: SET_UP,
        commands,
        targets: &[
            "/srv/c",
            "/var/chef/backup",
            "/etc/cron.d",
            "/etc/systemd/system",
            "/etc/sudoers.d",
            "/etc/yum.repos.d",
            "/etc/sysctl.d",
        ],
        written: ("/srv/target/good", "CANARYw16"),
        witness: &["suppressed sensitive resource", "[redacted]"],
        least: 60,
    }
}
