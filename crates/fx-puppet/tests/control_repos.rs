//! What whole control repositories brought to light: each case is one rule of the original,
//! in words of its own. Only what is reported and the catalog's resources are looked at.

#![allow(clippy::needless_raw_string_hashes, reason = "snapshots are rewritten by a tool")]

#[path = "recorder/environment.rs"]
mod environment;
#[path = "recorder/phases.rs"]
mod phases;

use expect_test::{Expect, expect};

fn check(files: &[(&str, &str)], expected: &Expect) {
    environment::check(files, false, expected);
}

#[test]
fn a_scope_calls_the_older_of_two_functions_of_one_name() {
    check(
        &[
            ("manifests/1.pp", "notice(twice('a'))\nnotice(twice_too('b'))"),
            (
                "modules/m/lib/puppet/functions/twice.rb",
                r#"Puppet::Functions.create_function(:twice) do
                  dispatch(:run) do
                    param 'Any', :scope
                    repeated_param 'Any', :args
                  end
                  def call(scope, *args)
                    self.class.dispatcher.dispatch(self, scope, [scope] + args)
                  end
                  def run(scope, *args)
                    "new over " + scope.send('function_twice', args)
                  end
                end"#,
            ),
            (
                "modules/m/lib/puppet/parser/functions/twice.rb",
                r#"module Puppet::Parser::Functions
                  newfunction(:twice, type: :rvalue, arity: 1) { |args| "old #{args[0]}" }
                end"#,
            ),
            (
                "modules/m/lib/puppet/parser/functions/twice_too.rb",
                r#"module Puppet::Parser::Functions
                  newfunction(:twice_too, type: :rvalue) do |args|
                    begin
                      function_twice([])
                    rescue ArgumentError => e
                      e.message + "; " + function_twice(args) + File.exists?("/nowhere").to_s
                    end
                  end
                end"#,
            ),
        ],
        &expect![[r#"
            Scope(Class[main]): new over old a
            Scope(Class[main]): twice(): Wrong number of arguments given (0 for 1); old bfalse
        "#]],
    );
}

#[test]
fn an_unknown_type_is_told_as_it_was_written() {
    check(
        &[("manifests/1.pp", "::no::such { 'x': }")],
        &expect![[r#"
        error: Evaluation Error: Error while evaluating a Resource Statement, Unknown resource type: '::no::such' (file: /env/manifests/1.pp, line: 1, column: 1) on node web.example.com
    "#]],
    );
    check(
        &[("manifests/1.pp", "no::such { 'x': }")],
        &expect![[r#"
        error: Evaluation Error: Error while evaluating a Resource Statement, Unknown resource type: 'no::such' (file: /env/manifests/1.pp, line: 1, column: 1) on node web.example.com
    "#]],
    );
}

#[test]
fn a_back_end_that_is_no_function_is_an_error_of_the_configuration() {
    check(
        &[
            ("manifests/1.pp", "notice(lookup('k'))"),
            (
                "hiera.yaml",
                "version: 5\nhierarchy:\n- name: a\n  data_hash: nowhere::data\n  uri: http://x/\n",
            ),
        ],
        &expect![[r#"
            error: Unable to find 'data_hash' function named 'nowhere::data' (file: /env/hiera.yaml) on node web.example.com
        "#]],
    );
}

#[test]
fn hiera_3_takes_sections_of_its_back_ends_only() {
    let manifest = ("manifests/1.pp", "notice(lookup('k'))");
    let data = ("data/common.yml", "k: found");
    check(
        &[
            manifest,
            data,
            (
                "global.yaml",
                ":backends: yaml\n:yaml:\n  :datadir: /env/data\n  :extension: yml\n:hierarchy: common\n",
            ),
        ],
        &expect![[r#"
            Scope(Class[main]): found
        "#]],
    );
    check(
        &[manifest, data, ("global.yaml", ":backends: yaml\n:eyaml:\n  :datadir: /env/data\n")],
        &expect![[r#"
            error: Evaluation Error: Error while evaluating a Function Call, The Lookup Configuration at '/env/global.yaml' has wrong type, unrecognized key 'eyaml' (file: /env/manifests/1.pp, line: 1, column: 8) on node web.example.com
        "#]],
    );
}

#[test]
fn a_back_end_without_the_key_leaves_past_its_own_rescues() {
    check(
        &[
            ("manifests/1.pp", "notice(lookup('k', { merge => hash }))"),
            (
                "hiera.yaml",
                "version: 5\nhierarchy:\n- name: a\n  lookup_key: m::none\n  uri: x\n- name: b\n  path: b.yaml\n",
            ),
            ("data/b.yaml", "k: { a: 1 }"),
            (
                "modules/m/lib/puppet/functions/m/none.rb",
                r#"Puppet::Functions.create_function(:'m::none') do
                  dispatch :none do
                    param 'String', :key
                    param 'Hash', :options
                    param 'Puppet::LookupContext', :context
                  end
                  def none(key, options, context)
                    return context.not_found
                  rescue => e
                    nil
                  end
                end"#,
            ),
        ],
        &expect![[r#"
            Scope(Class[main]): {a => 1}
        "#]],
    );
}

#[test]
fn attributes_may_begin_with_the_comma_that_follows_none() {
    check(
        &[
            (
                "manifests/1.pp",
                "notify { 'a':, message => 'x' }\nnotify { 'b':, }\nNotify['b'] { , message => 'y' }\nnotice(getparam(Notify['b'], 'message'))",
            ),
            (
                "modules/m/lib/puppet/parser/functions/getparam.rb",
                r#"module Puppet::Parser::Functions
              newfunction(:getparam, type: :rvalue) { |args| findresource(args[0].to_s)[args[1]] }
            end"#,
            ),
        ],
        &expect![[r#"
            Scope(Class[main]): y
        "#]],
    );
}

#[test]
fn a_function_sees_the_parameters_of_the_resource_around() {
    check(
        &[
            (
                "manifests/1.pp",
                "class c($a = 1, $b = undef) { notice(own()) }\ninclude c\ndefine d($z, $y = 2) { notice(own()) }\nd { 't': z => 3 }",
            ),
            (
                "modules/m/lib/puppet/functions/own.rb",
                r#"Puppet::Functions.create_function(:own, Puppet::Functions::InternalFunction) do
                  dispatch(:own) { scope_param }
                  def own(scope) = scope.resource.to_hash.map { |k, v| [k.to_s, v] }.to_h
                end"#,
            ),
        ],
        &expect![[r#"
            Scope(Class[C]): {name => C, a => 1}
            Scope(D[t]): {name => t, z => 3, y => 2}
        "#]],
    );
}

#[test]
fn a_template_that_fails_names_its_line() {
    check(
        &[
            ("manifests/1.pp", "notice(template('m/x.erb'))"),
            ("modules/m/templates/x.erb", "one\n<%= nil + 1 %>\n"),
        ],
        &expect![[r#"
            error: Evaluation Error: Error while evaluating a Function Call, Failed to parse template m/x.erb:
              Filepath: /env/modules/m/templates/x.erb
              Line: 2
              Detail: undefined method `+' for nil:NilClass
             (file: /env/manifests/1.pp, line: 1, column: 8) on node web.example.com
        "#]],
    );
    check(
        &[("manifests/1.pp", "notice(inline_template('<%= raise \"no\" %>'))")],
        &expect![[r#"
            error: Evaluation Error: Error while evaluating a Function Call, Failed to parse inline template: no (file: /env/manifests/1.pp, line: 1, column: 8) on node web.example.com
        "#]],
    );
}

#[test]
fn a_function_in_ruby_calls_others_in_the_top_scope() {
    check(
        &[
            (
                "manifests/1.pp",
                "node /^web/ { $x = 1\n via('c') }\nclass c { tag('t')\n notice(defined('$x')) }",
            ),
            (
                "modules/m/lib/puppet/functions/via.rb",
                r#"Puppet::Functions.create_function(:via) do
                  def via(name) = call_function('include', name)
                end"#,
            ),
        ],
        &expect![[r#"
            Scope(Class[C]): false
        "#]],
    );
}

#[test]
fn what_follows_a_selector_is_of_its_value() {
    check(
        &[(
            "manifests/1.pp",
            "$a = 'x'\nnotice($a ? { 'x' => 'a b', default => 'c' }.split(' ').join('-'))\nnotice($a ? { 'x' => [1, 2] }[1])",
        )],
        &expect![[r#"
            Scope(Class[main]): a-b
            Scope(Class[main]): 2
        "#]],
    );
}

#[test]
fn letters_of_types_may_be_of_any_case() {
    check(
        &[(
            "manifests/1.pp",
            "notice('x' =~ ENUM['x', 'y'], 1 =~ INTEGER, [1] =~ Array[SCALARDATA])",
        )],
        &expect![[r#"
            Scope(Class[main]): true true true
        "#]],
    );
}

#[test]
fn templates_go_over_types_that_have_members() {
    check(
        &[(
            "manifests/1.pp",
            "type E = Enum['b', 'a']\n$e = E\n$n = Integer[1, 3]\nnotice(inline_template('<% @e.each do |x| %><%= x %>;<% end %><% @n.each { |x| %><%= x %><% } %>'))",
        )],
        &expect![[r#"
            Scope(Class[main]): a;b;123
        "#]],
    );
}

#[test]
fn a_generator_that_is_not_there_ends_with_one() {
    check(
        &[("manifests/1.pp", "notice(generate('/no/such', 'x'))")],
        &expect![[r#"
        error: Evaluation Error: Error while evaluating a Function Call, Failed to execute generator /no/such: Execution of '/no/such x' returned 1:  (file: /env/manifests/1.pp, line: 1, column: 8) on node web.example.com
    "#]],
    );
}

#[test]
fn a_class_that_is_not_there_is_told_as_it_was_written() {
    check(
        &[("manifests/1.pp", "class { '::no::such': }")],
        &expect![[r#"
        error: Evaluation Error: Error while evaluating a Resource Statement, Could not find declared class ::no::such (file: /env/manifests/1.pp, line: 1, column: 1) on node web.example.com
    "#]],
    );
}

#[test]
fn a_pattern_of_titles_may_span_lines_and_set_one_of_two_names() {
    check(
        &[
            (
                "manifests/1.pp",
                "pair { 'one': a => 'x', b => 'y' }\npair { 'two': a => 'x', b => 'y' }",
            ),
            (
                "modules/m/lib/puppet/type/pair.rb",
                r#"Puppet::Type.newtype(:pair) do
                  newparam(:a, namevar: true)
                  newparam(:b, namevar: true)
                  def self.title_patterns = [[%r{(.*)}m, [[:b]]]]
                end"#,
            ),
        ],
        &expect![[r#"
            error: Evaluation Error: Error while evaluating a Resource Statement, Cannot alias Pair[two] to ["x", "y"] at (file: /env/manifests/1.pp, line: 2); resource ["Pair", "x", "y"] already declared (file: /env/manifests/1.pp, line: 1) (file: /env/manifests/1.pp, line: 2, column: 1) on node web.example.com
        "#]],
    );
}

#[test]
fn of_two_functions_of_one_name_that_of_a_declared_dependency_is_called() {
    let metadata = |name: &str, needs: &str| {
        format!(r#"{{"name":"x-{name}","version":"1.0.0","dependencies":[{needs}]}}"#)
    };
    let function = |module: &str| {
        format!("Puppet::Functions.create_function(:foo) do\n def foo\n 'of {module}'\n end\nend")
    };
    let needs = metadata("a", r#"{"name":"x/c"}"#);
    check(
        &[
            ("manifests/1.pp", "include a\ninclude c\ninclude d\nnotice(foo())"),
            ("modules/a/manifests/init.pp", "class a { notice(foo()) }"),
            ("modules/a/metadata.json", &needs),
            ("modules/b/lib/puppet/functions/foo.rb", &function("b")),
            ("modules/c/lib/puppet/functions/foo.rb", &function("c")),
            ("modules/c/manifests/init.pp", "class c { notice(foo()) }"),
            ("modules/d/manifests/init.pp", "class d { notice(foo()) }"),
        ],
        &expect![[r#"
            Scope(Class[A]): of c
            Scope(Class[C]): of c
            Scope(Class[D]): of b
            Scope(Class[main]): of b
        "#]],
    );
}

#[test]
fn a_resource_without_titles_still_needs_its_type() {
    check(
        &[("manifests/1.pp", "nosuchtype { []: ensure => present }")],
        &expect![[r#"
            error: Evaluation Error: Error while evaluating a Resource Statement, Unknown resource type: 'nosuchtype' (file: /env/manifests/1.pp, line: 1, column: 1) on node web.example.com
        "#]],
    );
}

#[test]
fn ruby_knows_the_calls_that_led_to_it() {
    check(
        &[
            ("manifests/1.pp", "\n[1].each |$x| {\n  notice(calls())\n}"),
            (
                "modules/m/lib/puppet/functions/calls.rb",
                r##"Puppet::Functions.create_function(:calls) do
                  def calls = (defined? Puppet::Pops::PuppetStack.stacktrace) ? Puppet::Pops::PuppetStack.stacktrace.map { |f, l| "#{File.basename(f)}:#{l}" }.join(" ") : "none"
                end"##,
            ),
        ],
        &expect![[r#"
            Scope(Class[main]): 1.pp:3 1.pp:2 1.pp:0
        "#]],
    );
}

#[test]
fn a_symbol_that_goes_through_the_language_comes_back_as_one() {
    check(
        &[
            ("manifests/1.pp", "notice(named('b'))"),
            (
                "modules/m/lib/puppet/parser/functions/named.rb",
                r#"module Puppet::Parser::Functions
                  newfunction(:named, type: :rvalue) do |args|
                    found = call_function('lookup', ['nowhere', { 'default_value' => :none }])
                    found == :none ? "not found" : found.inspect
                  end
                end"#,
            ),
        ],
        &expect![[r#"
            Scope(Class[main]): not found
        "#]],
    );
}

#[test]
fn one_list_in_two_places_is_one_object_in_ruby() {
    check(
        &[
            ("manifests/1.pp", "$a = [1]\nnotice(shown({ 'x' => $a, 'y' => $a, 'z' => [1] }))"),
            (
                "modules/m/lib/puppet/functions/shown.rb",
                r#"require 'yaml'
                Puppet::Functions.create_function(:shown) do
                  def shown(value) = value.to_yaml.split.join(" ")
                end"#,
            ),
        ],
        &expect![[r#"
            Scope(Class[main]): --- x: &1 - 1 "y": *1 z: - 1
        "#]],
    );
}

#[test]
fn a_resource_without_a_type_is_a_class() {
    check(
        &[
            ("manifests/1.pp", "class a { }\ninclude a\nnotice(there('a'), there('b'))"),
            (
                "modules/m/lib/puppet/parser/functions/there.rb",
                r#"module Puppet::Parser::Functions
                  newfunction(:there, type: :rvalue) { |args| findresource(nil, args[0]).to_s }
                end"#,
            ),
        ],
        &expect![[r#"
            Scope(Class[main]): Class[A] 
        "#]],
    );
}

#[test]
fn a_resource_stands_where_its_statement_begins() {
    check(
        &[(
            "manifests/1.pp",
            "notify {\n  'a':\n    message => 'x';\n  'b':\n    message => 'y',\n}\n\nnotify {\n\n  'b':\n}\n",
        )],
        &expect![[r#"
            error: Evaluation Error: Error while evaluating a Resource Statement, Duplicate declaration: Notify[b] is already declared at (file: /env/manifests/1.pp, line: 1); cannot redeclare (file: /env/manifests/1.pp, line: 8) (file: /env/manifests/1.pp, line: 8, column: 1) on node web.example.com
        "#]],
    );
}
