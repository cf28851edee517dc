//! The order of an evaluation, sentence by sentence: what is loaded, defined, queued,
//! evaluated and completed, and when. Each case shows the phases of one rule.

#![allow(clippy::needless_raw_string_hashes, reason = "snapshots are rewritten by a tool")]

#[path = "recorder/environment.rs"]
mod environment;
#[path = "recorder/phases.rs"]
mod phases;

use expect_test::{Expect, expect};

fn check(files: &[(&str, &str)], expected: &Expect) {
    environment::check(files, true, expected);
}

#[test]
fn manifests_of_a_directory_are_one_program_in_the_order_of_their_paths() {
    check(
        &[
            ("manifests/b.pp", "notice('b')"),
            ("manifests/a/z.pp", "notice('z')"),
            ("manifests/B.pp", "notice('B')"),
        ],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/B.pp
            load /env/manifests/a/z.pp
            load /env/manifests/b.pp
            evaluate main
            Scope(Class[main]): B
            Scope(Class[main]): z
            Scope(Class[main]): b
            select the empty node
            complete
            relate
            finish
            done
        "#]],
    );
}

#[test]
fn definitions_are_known_before_any_body_is_evaluated() {
    check(
        &[
            ("manifests/1.pp", "include later"),
            ("manifests/2.pp", "class later { notice('later') }"),
        ],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/1.pp
            load /env/manifests/2.pp
            define class later
            evaluate main
            evaluate Class[Later]
            Scope(Class[Later]): later
            select the empty node
            complete
            relate
            finish
            done
        "#]],
    );
}

#[test]
fn what_a_manifest_defines_is_known_whatever_its_name() {
    check(
        &[("manifests/site.pp", "class any::where { notify { 'n': } }\ninclude any::where")],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            define class any::where
            evaluate main
            evaluate Class[Any::Where]
            declare Notify[n]
            select the empty node
            complete
            relate
            finish
            done
        "#]],
    );
}

#[test]
fn a_redefinition_is_an_error() {
    check(
        &[("manifests/1.pp", "define d { }"), ("manifests/2.pp", "define d { }")],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/1.pp
            load /env/manifests/2.pp
            define define d
            define define d
            error: Attempt to redefine entity 'http://puppet.com/2016.1/runtime/type/d'. Originally set at file:///env/manifests/1.pp?line=1&pos=1. on node web.example.com
        "#]],
    );
}

#[test]
fn a_known_definition_is_used_and_nothing_is_loaded() {
    check(
        &[
            ("manifests/site.pp", "class m { notice('mine') }\ninclude m"),
            ("modules/m/manifests/init.pp", "class m { notice('of the module') }"),
        ],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            define class m
            evaluate main
            evaluate Class[M]
            Scope(Class[M]): mine
            select the empty node
            complete
            relate
            finish
            done
        "#]],
    );
}

#[test]
fn a_name_that_is_required_triggers_loading_and_evaluation_recurses() {
    check(
        &[
            ("manifests/site.pp", "include m"),
            ("modules/m/manifests/init.pp", "class m { include m::sub\n notice(m::f()) }"),
            ("modules/m/manifests/sub.pp", "class m::sub { }"),
            ("modules/m/functions/f.pp", "function m::f() { 'called' }"),
        ],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            evaluate main
            load /env/modules/m/manifests/init.pp
            define class m
            evaluate Class[M]
            load /env/modules/m/manifests/sub.pp
            define class m::sub
            evaluate Class[M::Sub]
            load /env/modules/m/functions/f.pp
            define function m::f
            Scope(Class[M]): called
            select the empty node
            complete
            relate
            finish
            done
        "#]],
    );
}

#[test]
fn a_class_that_was_evaluated_is_not_evaluated_again() {
    check(
        &[("manifests/site.pp", "class c { notice('once') }\ninclude c\ninclude c")],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            define class c
            evaluate main
            evaluate Class[C]
            Scope(Class[C]): once
            select the empty node
            complete
            relate
            finish
            done
        "#]],
    );
}

#[test]
fn instantiations_are_queued_and_evaluated_when_the_code_around_is_done() {
    check(
        &[(
            "manifests/site.pp",
            "define d { notify { \"in ${title}\": } }\nd { 'one': }\nnotice('after')",
        )],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            define define d
            evaluate main
            queue D[one]
            Scope(Class[main]): after
            select the empty node
            complete
            evaluate D[one]
            declare Notify[in one]
            relate
            finish
            done
        "#]],
    );
}

#[test]
fn evaluating_the_queue_may_queue_more_until_it_is_empty() {
    check(
        &[(
            "manifests/site.pp",
            "define inner { }\ndefine outer { inner { \"${title}-i\": } }\nouter { ['a', 'b']: }",
        )],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            define define inner
            define define outer
            evaluate main
            queue Outer[a]
            queue Outer[b]
            select the empty node
            complete
            evaluate Outer[a]
            queue Inner[a-i]
            evaluate Outer[b]
            queue Inner[b-i]
            evaluate Inner[a-i]
            evaluate Inner[b-i]
            relate
            finish
            done
        "#]],
    );
}

#[test]
fn without_node_definitions_the_empty_one_is_selected() {
    check(
        &[("manifests/site.pp", "notice('top')")],
        &expect![[r#"
        boot web.example.com in production
        load /env/manifests/site.pp
        evaluate main
        Scope(Class[main]): top
        select the empty node
        complete
        relate
        finish
        done
    "#]],
    );
}

#[test]
fn an_exact_node_comes_before_a_regular_expression_and_default() {
    check(
        &[(
            "manifests/site.pp",
            "node default { notice('d') }\nnode /web/ { notice('r') }\nnode 'web.example.com' { notice('e') }\nnotice('top')",
        )],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            define node
            define node
            define node
            evaluate main
            Scope(Class[main]): top
            select node web.example.com
            Scope(Node[web.example.com]): e
            complete
            relate
            finish
            done
        "#]],
    );
}

#[test]
fn the_first_regular_expression_comes_before_default() {
    check(
        &[(
            "manifests/site.pp",
            "node default { notice('d') }\nnode /web/ { notice('first') }\nnode /example/ { notice('second') }",
        )],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            define node
            define node
            define node
            evaluate main
            select node __node_regexp__web
            Scope(Node[__node_regexp__web]): first
            complete
            relate
            finish
            done
        "#]],
    );
}

#[test]
fn node_definitions_of_which_none_matches_are_an_error() {
    check(
        &[("manifests/site.pp", "node 'other' { }")],
        &expect![[r#"
        boot web.example.com in production
        load /env/manifests/site.pp
        define node
        evaluate main
        error: Could not find node statement with name 'default' or 'web.example.com' on node web.example.com
    "#]],
    );
}

#[test]
fn queries_are_evaluated_at_completion_and_may_queue_more() {
    check(
        &[(
            "manifests/site.pp",
            "define d { @notify { \"v ${title}\": } }\n@d { 'one': }\nD <| |>\nNotify <| |>\nnotice('main ends')",
        )],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            define define d
            evaluate main
            queue D[one]
            Scope(Class[main]): main ends
            select the empty node
            complete
            collect D[one]
            evaluate D[one]
            declare Notify[v one]
            collect Notify[v one]
            relate
            finish
            done
        "#]],
    );
}

#[test]
fn overrides_of_a_query_come_with_it_and_relationships_after_all() {
    check(
        &[(
            "manifests/site.pp",
            "Notify <| title == 'a' |> { message => 'changed' }\nNotify['a'] -> Notify['b']\nnotify { 'a': }\nnotify { 'b': }",
        )],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            evaluate main
            declare Notify[a]
            declare Notify[b]
            select the empty node
            complete
            collect Notify[a]
            override Notify[a]
            relate
            finish
            done
        "#]],
    );
}

#[test]
fn a_relationship_to_nothing_fails_at_completion() {
    check(
        &[("manifests/site.pp", "notify { 'a': } -> Notify['gone']\nnotice('main ends')")],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            evaluate main
            declare Notify[a]
            Scope(Class[main]): main ends
            select the empty node
            complete
            relate
            error: Could not find resource 'Notify[gone]' for relationship from 'Notify[a]' on node web.example.com
        "#]],
    );
}

#[test]
fn a_file_that_does_not_parse_aborts_the_whole() {
    check(
        &[
            ("manifests/site.pp", "include m"),
            ("modules/m/manifests/init.pp", "class m { notify { }"),
        ],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            evaluate main
            load /env/modules/m/manifests/init.pp
            error: Evaluation Error: Error while evaluating a Function Call, Syntax error at end of input (file: /env/modules/m/manifests/init.pp) (file: /env/manifests/site.pp, line: 1, column: 1) on node web.example.com
        "#]],
    );
}

#[test]
fn warnings_are_told_and_evaluation_goes_on() {
    check(
        &[("manifests/site.pp", "notice(\"${nothing}.\")")],
        &expect![[r#"
        boot web.example.com in production
        load /env/manifests/site.pp
        evaluate main
        Unknown variable: 'nothing'. (file: /env/manifests/site.pp, line: 1, column: 11)
        Scope(Class[main]): .
        select the empty node
        complete
        relate
        finish
        done
    "#]],
    );
}

#[test]
fn a_manifest_is_searched_for_by_the_most_specific_path_first() {
    check(
        &[
            ("manifests/site.pp", "include m::hidden"),
            ("modules/m/manifests/init.pp", "class m { }\nclass m::hidden { }"),
        ],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            evaluate main
            load /env/modules/m/manifests/init.pp
            define class m
            define class m::hidden
            evaluate Class[M::Hidden]
            select the empty node
            complete
            relate
            finish
            done
        "#]],
    );
}

#[test]
fn a_function_is_loaded_when_it_is_called() {
    check(
        &[
            ("manifests/site.pp", "notice('before')\nnotice(m::f(1))\nnotice(m::f(2))"),
            ("modules/m/functions/f.pp", "function m::f($x) { $x + 1 }"),
        ],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            evaluate main
            Scope(Class[main]): before
            load /env/modules/m/functions/f.pp
            define function m::f
            Scope(Class[main]): 2
            Scope(Class[main]): 3
            select the empty node
            complete
            relate
            finish
            done
        "#]],
    );
}

#[test]
fn a_function_is_searched_for_at_its_one_path_alone() {
    check(
        &[
            ("manifests/site.pp", "notice(m::f(1))"),
            ("modules/m/functions/other.pp", "function m::f($x) { $x }"),
            ("modules/m/manifests/init.pp", "class m { }\nfunction m::f($x) { $x }"),
        ],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            evaluate main
            error: Evaluation Error: Unknown function: 'm::f'. (file: /env/manifests/site.pp, line: 1, column: 8) on node web.example.com
        "#]],
    );
}

#[test]
fn a_type_is_loaded_when_it_is_named() {
    check(
        &[
            (
                "manifests/site.pp",
                "class c(M::Port $port) { notice($port) }\nclass { 'c': port => 80 }",
            ),
            ("modules/m/types/port.pp", "type M::Port = Integer[1, 65535]"),
        ],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            define class c
            load /env/modules/m/types/port.pp
            define typealias m::port
            evaluate main
            evaluate Class[C]
            Scope(Class[C]): 80
            select the empty node
            complete
            relate
            finish
            done
        "#]],
    );
}

#[test]
fn a_define_is_loaded_when_the_queue_needs_it() {
    check(
        &[
            ("manifests/site.pp", "m::d { 'x': }\nnotice('main ends')"),
            ("modules/m/manifests/d.pp", "define m::d { notice('in d') }"),
        ],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            evaluate main
            load /env/modules/m/manifests/d.pp
            define define m::d
            queue M::D[x]
            Scope(Class[main]): main ends
            select the empty node
            complete
            evaluate M::D[x]
            Scope(M::D[x]): in d
            relate
            finish
            done
        "#]],
    );
}

#[test]
fn what_is_nested_is_not_searched_for_in_files_of_other_names() {
    check(
        &[
            ("manifests/site.pp", "include m::inner"),
            ("modules/m/manifests/other.pp", "class m::other { }\nclass m::inner { }"),
        ],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            evaluate main
            error: Evaluation Error: Error while evaluating a Function Call, Could not find class ::m::inner for web.example.com (file: /env/manifests/site.pp, line: 1, column: 1) on node web.example.com
        "#]],
    );
}

#[test]
fn a_name_that_breaks_the_rule_loads_nothing() {
    check(
        &[
            ("manifests/site.pp", "include 'm::no-name'"),
            ("modules/m/manifests/no-name.pp", "class m::noname { }"),
        ],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            evaluate main
            error: Evaluation Error: Error while evaluating a Function Call, Could not find class ::m::no-name for web.example.com (file: /env/manifests/site.pp, line: 1, column: 1) on node web.example.com
        "#]],
    );
}

#[test]
fn the_first_module_of_a_name_on_the_path_counts() {
    check(
        &[
            ("manifests/site.pp", "include m"),
            ("modules/m/manifests/init.pp", "class m { notice('first') }"),
            ("more/m/manifests/init.pp", "class m { notice('second') }"),
        ],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            evaluate main
            load /env/modules/m/manifests/init.pp
            define class m
            evaluate Class[M]
            Scope(Class[M]): first
            select the empty node
            complete
            relate
            finish
            done
        "#]],
    );
}

/// D-008.
#[test]
fn a_module_sees_functions_of_modules_it_does_not_depend_on_too() {
    for dependencies in [r#"[{"name":"x/b"}]"#, "[]"] {
        let metadata =
            format!(r#"{{"name":"x-a","version":"1.0.0","dependencies":{dependencies}}}"#);
        check(
            &[
                ("manifests/site.pp", "include a"),
                ("modules/a/manifests/init.pp", "class a { notice(b::f()) }"),
                ("modules/a/metadata.json", &metadata),
                ("modules/b/functions/f.pp", "function b::f() { 'of b' }"),
            ],
            &expect![[r#"
                boot web.example.com in production
                load /env/manifests/site.pp
                evaluate main
                load /env/modules/a/manifests/init.pp
                define class a
                evaluate Class[A]
                load /env/modules/b/functions/f.pp
                define function b::f
                Scope(Class[A]): of b
                select the empty node
                complete
                relate
                finish
                done
            "#]],
        );
    }
}

#[test]
fn classes_of_other_modules_are_seen_whatever_is_declared() {
    check(
        &[
            ("manifests/site.pp", "include a"),
            ("modules/a/manifests/init.pp", "class a { include b }"),
            ("modules/a/metadata.json", r#"{"name":"x-a","version":"1.0.0","dependencies":[]}"#),
            ("modules/b/manifests/init.pp", "class b { notice('of b') }"),
        ],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            evaluate main
            load /env/modules/a/manifests/init.pp
            define class a
            evaluate Class[A]
            load /env/modules/b/manifests/init.pp
            define class b
            evaluate Class[B]
            Scope(Class[B]): of b
            select the empty node
            complete
            relate
            finish
            done
        "#]],
    );
}

#[test]
fn errors_of_a_check_are_all_told_and_end_the_run() {
    check(
        &[("manifests/site.pp", "$a += 1\n$b = { 'k' => 1 }\n1 = 2\nnotice('never')")],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            The operator '+=' is no longer supported. See http://links.puppet.com/remove-plus-equals (file: /env/manifests/site.pp, line: 1, column: 4)
            Illegal attempt to assign to 'a Literal Integer'. Not an assignable reference (file: /env/manifests/site.pp, line: 3, column: 1)
            error: Language validation logged 2 errors. Giving up
        "#]],
    );
}

#[test]
fn recursion_without_end_is_an_error() {
    check(
        &[("manifests/site.pp", "function r($x) { r($x + 1) }\nnotice('before')\nr(0)")],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            define function r
            evaluate main
            Scope(Class[main]): before
            error: Evaluation Error: stack level too deep (file: /env/manifests/site.pp, line: 1, column: 20) on node web.example.com
        "#]],
    );
}

#[test]
fn a_duplicate_declaration_names_both_places() {
    check(
        &[("manifests/site.pp", "notify { 'a': }\nnotify { 'a': }")],
        &expect![[r#"
        boot web.example.com in production
        load /env/manifests/site.pp
        evaluate main
        declare Notify[a]
        declare Notify[a]
        error: Evaluation Error: Error while evaluating a Resource Statement, Duplicate declaration: Notify[a] is already declared at (file: /env/manifests/site.pp, line: 1); cannot redeclare (file: /env/manifests/site.pp, line: 2) (file: /env/manifests/site.pp, line: 2, column: 1) on node web.example.com
    "#]],
    );
}

#[test]
fn a_module_file_outside_of_the_module_is_not_read() {
    check(
        &[
            ("manifests/site.pp", "notice(file('m/../../../secret'))"),
            ("modules/m/files/x", "x"),
            ("secret", "secret"),
        ],
        &expect![[r#"
            boot web.example.com in production
            load /env/manifests/site.pp
            evaluate main
            error: Evaluation Error: Error while evaluating a Function Call, Could not find any files from m/../../../secret (file: /env/manifests/site.pp, line: 1, column: 8) on node web.example.com
        "#]],
    );
}

#[test]
fn nesting_too_deep_is_an_error() {
    let deep = format!("notice({}1{})", "[".repeat(3000), "]".repeat(3000));
    check(
        &[("manifests/site.pp", &deep)],
        &expect![[r#"
        boot web.example.com in production
        load /env/manifests/site.pp
        error: Could not parse for environment production: nesting is too deep (file: /env/manifests/site.pp, line: 1, column: 82) on node web.example.com
    "#]],
    );
}
