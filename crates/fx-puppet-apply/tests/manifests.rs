//! Manifests on a machine in memory: what is reported and what is done.

use std::cell::RefCell;
use std::rc::Rc;

use fx_engine::{Cancel, Event, Level, Sink};
use fx_host::{Files, MemoryHost};

use fx_puppet::Machine;
use fx_puppet_apply::{Request, run};

#[derive(Default)]
struct Told(RefCell<Vec<String>>);

impl Sink for Told {
    fn event(&self, event: &Event<'_>) {
        if let Event::Note { code: "puppet.line", fields, .. } = event
            && fields[0].1 == "notice".into()
        {
            let text = fields[1].1.to_string();
            if !text.starts_with("Compiled catalog") && !text.starts_with("Applied catalog") {
                self.0.borrow_mut().push(text);
            }
        }
        if let Event::Message { level, text, .. } = event
            && *level <= Level::Notice
            && !text.starts_with("Compiled catalog")
            && !text.starts_with("Applied catalog")
        {
            let word = match level {
                Level::Error => "Error: ",
                Level::Warning => "Warning: ",
                _ => "",
            };
            self.0.borrow_mut().push(format!("{word}{text}"));
        }
    }
}

fn code(text: &str) -> Request {
    Request {
        manifests: vec![(String::new(), text.as_bytes().to_vec())],
        detailed_exitcodes: true,
        ..Request::default()
    }
}

fn told(host: &Rc<MemoryHost>, text: &str) -> (Vec<String>, u8) {
    told_with(host, code(text))
}

fn told_with(host: &Rc<MemoryHost>, request: Request) -> (Vec<String>, u8) {
    let machine = Machine::new(Rc::<MemoryHost>::clone(host), Cancel::default());
    let sink = Rc::new(Told::default());
    machine.run().ledger.watch(Rc::<Told>::clone(&sink));
    let summary = run(&machine, &request);
    let lines = sink.0.borrow().clone();
    (lines, summary.code)
}

fn check(code: &str, expected: &[&str]) {
    let (lines, _) = told(&Rc::new(MemoryHost::new()), code);
    let lines: Vec<String> = lines
        .iter()
        .map(|line| line.replacen("Scope(Class[main]): ", "", 1))
        .map(|line| line.split(" on node ").next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(lines, expected, "{code}");
}

#[test]
fn values_are_computed_as_the_original_does() {
    let table: &[(&str, &str)] = &[
        ("7 / -2", "-4"),
        ("-7 % 3", "2"),
        ("'a' == 'A'", "true"),
        ("'eat' in 'Eaten'", "true"),
        ("[1, 2, 3, 2] - [2]", "[1, 3]"),
        ("{'a' => 1} + {'a' => 2}", "{'a' => 2}"),
        ("'hello'[-3, 2]", "'ll'"),
        ("[1, [2, undef]]", "[1, [2, undef]]"),
        ("5 =~ Integer[1, 10]", "true"),
        ("type([1, 'a'], 'reduced')", "Array[ScalarData, 2, 2]"),
        ("Integer('0x1F')", "31"),
        ("String(255, '%#x')", "'0xff'"),
        ("String({'a' => [1]}, '%#h')", "\"{\\n  'a' => [1]\\n}\""),
        ("[3, 1, 2].sort.map |$x| { $x * 2 }", "[2, 4, 6]"),
        ("regsubst('hello', '(l+)', '<\\1>')", "'he<ll>o'"),
        ("split('a,b,,', ',')", "['a', 'b']"),
        ("versioncmp('1.10', '1.9')", "1"),
        ("sprintf('%05.1f|%-4s|%x', 2.5, 'a', 255)", "'002.5|a   |ff'"),
        ("SemVer('1.5.0') =~ SemVerRange('1.x')", "true"),
        ("Sensitive('x')", "#<Sensitive [value redacted]>"),
        ("'ab' ? { /(a)(b)/ => \"${2}${1}\", default => 'no' }", "'ba'"),
        ("inline_epp('<%= $x %>!', { 'x' => 5 })", "'5!'"),
    ];
    for (code, expected) in table {
        check(&format!("$r = {code}\nnotice(String($r, '%p'))"), &[*expected]);
    }
}

#[test]
fn failures_are_told_in_the_originals_words() {
    let table: &[(&str, &str)] = &[
        (
            "$r = 'a' + 1",
            "Error: Evaluation Error: The value 'a' cannot be converted to Numeric. (line: 1, column: 6)",
        ),
        (
            "$r = join('a')",
            "Error: Evaluation Error: Error while evaluating a Function Call, 'join' parameter 'arg' expects an Array value, got String (line: 1, column: 6)",
        ),
        (
            "$r = nosuch(1)",
            "Error: Evaluation Error: Unknown function: 'nosuch'. (line: 1, column: 6)",
        ),
        (
            "$a = 1\n$a = 2",
            "Error: Evaluation Error: Cannot reassign variable '$a' (line: 2, column: 4)",
        ),
        // Widths share one limit: each of these is below it.
        (
            "$r = sprintf('%9000000d%9000000d', 1, 2)",
            "Error: Evaluation Error: Error while evaluating a Function Call, failed to allocate memory (line: 1, column: 6)",
        ),
        ("break()", "Error: break() from context where this is illegal (line: 1)"),
        (
            "class c(Array[Integer] $s) { }\nclass { 'c': s => [1, 'a'] }",
            "Error: Evaluation Error: Error while evaluating a Resource Statement, Class[C]: parameter 's' index 1 expects an Integer value, got String (line: 2, column: 1)",
        ),
        (
            "class c(Optional[Enum['b', 'a']] $s) { }\nclass { 'c': s => 'z' }",
            "Error: Evaluation Error: Error while evaluating a Resource Statement, Class[C]: parameter 's' expects an undef value or a match for Enum['a', 'b'], got 'z' (line: 2, column: 1)",
        ),
        (
            "class c(String[1] $s) { }\nclass { 'c': s => 1 }",
            "Error: Evaluation Error: Error while evaluating a Resource Statement, Class[C]: parameter 's' expects a String value, got Integer (line: 2, column: 1)",
        ),
        (
            "type P = Integer[1, 9]\nclass c(Array[P] $s) { }\nclass { 'c': s => [0] }",
            "Error: Evaluation Error: Error while evaluating a Resource Statement, Class[C]: parameter 's' index 0 expects a P = Integer[1, 9] value, got Integer[0, 0] (line: 3, column: 1)",
        ),
        (
            "define d { fail('x') }\nd { 'q': }",
            "Error: Evaluation Error: Error while evaluating a Resource Statement, Evaluation Error: Error while evaluating a Function Call, x (line: 1, column: 12) (line: 2)",
        ),
        (
            "define d(Integer $n) { }\nd { 'q': n => 'a' }",
            "Error: Evaluation Error: Error while evaluating a Resource Statement, D[q]: parameter 'n' expects an Integer value, got String (line: 2)",
        ),
        (
            "define d { break() }\nd { 'q': }",
            "Error: Evaluation Error: Error while evaluating an Object, break() from context where this is illegal (line: 1)",
        ),
        (
            "notify { 'a': }\nnotify { 'a': }",
            "Error: Evaluation Error: Error while evaluating a Resource Statement, Duplicate declaration: Notify[a] is already declared at (line: 1); cannot redeclare (line: 2) (line: 2, column: 1)",
        ),
    ];
    for (code, expected) in table {
        check(code, &[*expected]);
    }
}

#[test]
fn variables_that_are_not_there_are_told_as_strictly_as_asked() {
    let table: &[(&str, &str, &[&str])] = &[
        ("strict", "warning", &["Warning: Unknown variable: 'a::x'. (line: 1, column: 8)", ""]),
        ("strict", "off", &[""]),
        (
            "strict",
            "error",
            &["Error: Evaluation Error: Unknown variable: 'a::x'. (line: 1, column: 8)"],
        ),
        (
            "strict_variables",
            "true",
            &["Error: Evaluation Error: Unknown variable: 'a::x'. (line: 1, column: 8)"],
        ),
    ];
    for (name, value, expected) in table {
        let given = [((*name).to_owned(), (*value).to_owned())].into();
        let host = Rc::new(MemoryHost::new());
        let (lines, _) = told_with(&host, Request { given, ..code("notice($a::x)") });
        let lines: Vec<String> = lines
            .iter()
            .map(|line| line.replacen("Scope(Class[main]): ", "", 1))
            .map(|line| line.split(" on node ").next().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(lines, *expected, "{name} = {value}");
    }
}

#[test]
fn settings_are_variables() {
    check("notice($settings::server, $settings::runinterval)", &["puppet 1800"]);
}

#[test]
fn endless_recursion_is_a_failure() {
    let deep = || told(&Rc::new(MemoryHost::new()), "function f() { f() }\nf()");
    let thread = std::thread::Builder::new().stack_size(fx_puppet::STACK).spawn(deep);
    let (lines, code) = thread.expect("a thread starts").join().expect("it ends");
    assert_eq!(code, 1);
    assert!(lines[0].contains("stack level too deep"), "{lines:?}");
}

#[test]
fn order_follows_relationships_and_then_the_manifest() {
    check(
        "notify { 'b': }\nnotify { 'a': before => Notify['b'] }\nnotify { 'c': }",
        &[
            "a",
            "/Stage[main]/Main/Notify[a]/message: defined 'message' as 'a'",
            "b",
            "/Stage[main]/Main/Notify[b]/message: defined 'message' as 'b'",
            "c",
            "/Stage[main]/Main/Notify[c]/message: defined 'message' as 'c'",
        ],
    );
}

#[test]
fn a_second_run_finds_nothing_to_do() {
    let host = Rc::new(MemoryHost::new());
    let code = "file { '/x': content => 'v' }";
    let (lines, exit) = told(&host, code);
    assert_eq!(exit, 2, "{lines:?}");
    assert!(
        lines[0].starts_with("/Stage[main]/Main/File[/x]/ensure: defined content as '{sha256}"),
        "{lines:?}"
    );
    assert_eq!(host.read("/x".as_ref()).ok().as_deref(), Some(b"v".as_slice()));
    assert_eq!(told(&host, code), (Vec::new(), 0));
}

#[test]
fn secrets_are_not_told() {
    let (lines, _) = told(&Rc::new(MemoryHost::new()), "file { '/x': content => Sensitive('v') }");
    assert_eq!(lines, ["/Stage[main]/Main/File[/x]/ensure: changed [redacted] to [redacted]"]);
    let (lines, _) = told(&Rc::new(MemoryHost::new()), "notify { 'n': message => Sensitive('v') }");
    assert_eq!(
        lines,
        [
            "Sensitive [value redacted]",
            "/Stage[main]/Main/Notify[n]/message: changed [redacted] to [redacted]"
        ]
    );
}

#[test]
fn deferred_values_are_made_before_anything_is_applied() {
    check(
        "notify { 'a': message => Deferred('join', [['x', Deferred('upcase', ['y'])], '-']) }",
        &["x-Y", "/Stage[main]/Main/Notify[a]/message: defined 'message' as 'x-Y'"],
    );
    check(
        "notify { 'a': message => Deferred('Sensitive', ['x']) }",
        &["Error: Unknown function 'Sensitive'"],
    );
}

#[test]
fn what_one_resource_withholds_would_have_notified_its_class() {
    let (lines, _) = told(&Rc::new(MemoryHost::new()), "notify { 'n': noop => true }");
    assert_eq!(
        lines,
        [
            "/Stage[main]/Main/Notify[n]/message: current_value 'absent', should be 'n' (noop)",
            "Class[Main]: Would have triggered 'refresh' from 1 event",
            "Stage[main]: Would have triggered 'refresh' from 1 event",
        ]
    );
}

#[test]
fn a_file_that_is_only_to_be_present_would_be_present() {
    for (attributes, word) in [
        ("ensure => present, content => 'x'", "present"),
        ("ensure => present", "present"),
        ("ensure => file", "file"),
        ("content => 'x'", "file"),
    ] {
        let host = Rc::new(MemoryHost::new());
        let (lines, _) = told(&host, &format!("file {{ '/f': noop => true, {attributes} }}"));
        let path = "/Stage[main]/Main/File[/f]/ensure";
        let line = format!("{path}: current_value 'absent', should be '{word}' (noop)");
        assert_eq!(lines[0], line, "{attributes}");
    }
}

#[test]
fn a_variable_of_the_top_scope_may_not_have_the_name_of_a_fact() {
    let refused = |code: &str| {
        let (lines, _) = told(&Rc::new(MemoryHost::linux()), code);
        lines.iter().any(|line| line.contains("Cannot reassign variable '$kernel'"))
    };
    assert!(refused("$kernel = 1"));
    assert!(!refused("$kernels = 1"));
    assert!(!refused("class a { $kernel = 1 }\ninclude a"));
}

#[test]
fn what_is_not_supported_is_named() {
    let (lines, exit) = told(&Rc::new(MemoryHost::new()), "package { 'p': command => '/bin/x' }");
    assert_eq!(exit, 4);
    assert_eq!(
        lines,
        [
            "Error: /Stage[main]/Main/Package[p]: Could not evaluate: attribute 'command' of package is not supported"
        ]
    );
}

#[test]
fn an_alias_that_names_itself_is_checked_all_the_way() {
    let tree = "type Tree = Array[Variant[Integer, Tree]]\n";
    check(
        &format!("{tree}notice([1, [2, [3]]] =~ Tree, [1, [2, ['x']]] =~ Tree)"),
        &["true false"],
    );
    check(
        "type A = B\ntype B = A\nnotice(1 =~ A)",
        &[
            "Error: Evaluation Error: Error while evaluating a Type-Name, Type alias 'A' cannot be resolved to a real type (line: 3, column: 13)",
        ],
    );
}

#[test]
fn a_number_of_the_node_is_drawn_with_its_name_though_no_fact_is_named() {
    let drawn = |code: &str| {
        let host = Rc::new(MemoryHost::new());
        told(&host, code).0
    };
    let plain = drawn("notice(fqdn_rand(1000000, 'a'))");
    let named = drawn("$x = $facts['fqdn']\nnotice(fqdn_rand(1000000, 'a'))");
    assert_eq!(plain, named);
}
