//! The policies that are measured. They write below a scratch directory only.

use std::fmt::Write as _;
use std::path::Path;

/// A policy, and how often it is run in the same place: the second time finds nothing to do.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) policy: fn(&Path) -> String,
    pub(super) twice: bool,
}

pub(super) const CFENGINE: &[Row] = &[
    Row { name: "hello", policy: |_| cf_main("reports:\n \"hello\";"), twice: false },
    Row { name: "files_1k", policy: |dir| cf_files(dir, 1_000), twice: true },
    Row { name: "iterate_10k", policy: |_| cf_iterate(100), twice: false },
    Row { name: "lines_1k", policy: |dir| cf_lines(dir, 1_000), twice: true },
];

pub(super) const PUPPET: &[Row] = &[
    Row { name: "hello", policy: |_| "notice('hello')\n".to_owned(), twice: false },
    Row { name: "files_1k", policy: |dir| pp_files(dir, 1_000), twice: true },
    Row { name: "chain_500", policy: |_| pp_chain(500), twice: false },
    Row { name: "loops_10k", policy: |_| pp_loops(), twice: false },
];

pub(super) const CHEF: &[Row] = &[
    Row { name: "empty", policy: |_| String::new(), twice: false },
    Row { name: "files_1k", policy: |dir| rb_files(dir, 1_000), twice: true },
    Row { name: "templates_500", policy: |dir| rb_templates(dir, 500), twice: true },
    Row { name: "custom_200", policy: |dir| rb_custom(dir, 200), twice: true },
    Row {
        name: "log_1k",
        policy: |_| "1000.times { |i| log \"m#{i}\" }\n".to_owned(),
        twice: false,
    },
    Row { name: "attributes_20k", policy: |_| rb_attributes(), twice: false },
];

/// Files of the cookbook that is measured, beside its recipe.
pub(super) const COOKBOOK: &[(&str, &str)] = &[
    ("metadata.rb", "name 'bench'\nversion '1.0.0'\n"),
    (
        "templates/t.erb",
        "# file <%= @i %> on <%= node['platform'] %>\n<% @list.each do |x| -%>\nitem <%= x.upcase %>\n<% end -%>\n",
    ),
    (
        "resources/part.rb",
        "unified_mode true\nproperty :at, String\naction :go do\n  directory new_resource.at\n  file \"#{new_resource.at}/f\" do\n    content new_resource.name\n  end\nend\n",
    ),
];

fn cf_main(body: &str) -> String {
    format!(
        "body common control {{ bundlesequence => {{ \"main\" }}; }}\nbundle agent main\n{{\n{body}\n}}\n"
    )
}

fn cf_files(dir: &Path, count: u32) -> String {
    let mut body = "files:\n".to_owned();
    for number in 0..count {
        let _ = writeln!(
            body,
            " \"{}/out/f{number:05}\" create => \"true\", perms => m(\"640\"), content => \"file {number}\";",
            dir.display()
        );
    }
    cf_main(&body) + "body perms m(mode) { mode => \"$(mode)\"; }\n"
}

fn cf_iterate(count: u32) -> String {
    let list: Vec<String> = (0..count).map(|number| format!("\"i{number}\"")).collect();
    let list = list.join(",");
    cf_main(&format!(
        "vars: \"a\" slist => {{ {list} }}; \"b\" slist => {{ {list} }};\nclasses: \"c_$(a)_$(b)\" expression => \"any\";"
    ))
}

fn cf_lines(dir: &Path, count: u32) -> String {
    let lines: Vec<String> = (0..count).map(|number| format!("\"line {number}\"")).collect();
    let edit = format!(
        "bundle edit_line lines\n{{\nvars: \"l\" slist => {{ {} }};\ninsert_lines: \"$(l)\";\n}}\n",
        lines.join(",")
    );
    cf_main(&format!("files: \"{}/out/f\" create => \"true\", edit_line => lines;", dir.display()))
        + &edit
}

fn pp_files(dir: &Path, count: u32) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        let _ = writeln!(
            text,
            "file {{ '{}/out/f{number:05}': content => 'file {number}', mode => '0640' }}",
            dir.display()
        );
        text
    })
}

fn pp_chain(count: u32) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        let after = if number == 0 {
            String::new()
        } else {
            format!(" require => Notify['n{}']", number - 1)
        };
        let _ = writeln!(text, "notify {{ 'n{number}':{after} }}");
        text
    })
}

fn pp_loops() -> String {
    "$n = Integer[1, 10000].map |$i| { $i * 2 }\n$m = $n.filter |$i| { $i % 3 == 0 }\nnotice($m.reduce |$a, $b| { $a + $b })\n".to_owned()
}

fn rb_files(dir: &Path, count: u32) -> String {
    format!(
        "{count}.times do |i|\n  file \"{}/out/f#{{i}}\" do\n    content \"file #{{i}}\"\n    mode '0640'\n  end\nend\n",
        dir.display()
    )
}

fn rb_templates(dir: &Path, count: u32) -> String {
    format!(
        "{count}.times do |i|\n  template \"{}/out/t#{{i}}\" do\n    source 't.erb'\n    variables i: i, list: %w(a b c)\n  end\nend\n",
        dir.display()
    )
}

fn rb_custom(dir: &Path, count: u32) -> String {
    format!(
        "{count}.times do |i|\n  bench_part \"c#{{i}}\" do\n    at \"{}/out/c#{{i}}\"\n  end\nend\n",
        dir.display()
    )
}

fn rb_attributes() -> String {
    "20000.times { |i| node.default['a'][\"k#{i % 500}\"]['v'] = i }\ns = 0\n20000.times { |i| s += node['a'][\"k#{i % 500}\"]['v'] }\nlog \"sum #{s}\"\n".to_owned()
}
