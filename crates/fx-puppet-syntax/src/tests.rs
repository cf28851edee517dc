//! Tables of texts and their trees, and of texts and what is wrong with them.

use fx_source::{Severity, SourceMap};

use crate::{Strictness, dump, parse, parse_epp, validate};

fn tree(text: &str) -> String {
    let map = SourceMap::new();
    let (program, diagnostics) = parse(text.as_bytes(), map.add("t.pp", text.as_bytes()));
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let errors: Vec<&str> = errors.map(|diagnostic| diagnostic.message.as_str()).collect();
    assert!(errors.is_empty(), "{text}: {errors:?}");
    dump(&program).trim_end().to_owned()
}

fn wrong(text: &str) -> String {
    let map = SourceMap::new();
    let (program, mut found) = parse(text.as_bytes(), map.add("t.pp", text.as_bytes()));
    found.retain(|diagnostic| diagnostic.severity == Severity::Error);
    if found.is_empty() {
        found = validate(&program, Strictness::Warning);
    }
    let lines = found.iter().map(|diagnostic| {
        let at = diagnostic.primary().map(|span| map.location(span));
        let at = at.map(|at| format!("{}:{}", at.line, at.column)).unwrap_or_default();
        format!("{at} {}", diagnostic.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn precedence_is_the_originals() {
    let table = [
        ("$r = 1 + 2 * 3", "(= $r (+ 1 (* 2 3)))"),
        ("$r = 1 == 2 < 3", "(= $r (< (== 1 2) 3))"),
        ("$r = -5.abs", "(= $r (- (call-method (. 5 abs))))"),
        ("$r = !$a == $b", "(= $r (== (! $a) $b))"),
        ("$r = $a and $b or $c", "(= $r (or (and $a $b) $c))"),
        ("$r = 'a' in $b =~ $c", "(= $r (=~ (in 'a' $b) $c))"),
        ("$r = 1 - 2 - 3", "(= $r (- (- 1 2) 3))"),
        ("$r = $a ? { 1 => 2, default => 3 } + 1", "(= $r (+ (? $a (1 => 2) (:default => 3)) 1))"),
        ("$a = $b = 1", "(= $a (= $b 1))"),
        ("$r = 2 << 1 + 1", "(= $r (<< 2 (+ 1 1)))"),
    ];
    for (text, expected) in table {
        assert_eq!(tree(text), expected, "{text}");
    }
}

#[test]
fn literals() {
    let table = [
        ("$r = [1, 0x1F, 0755, 1.5e-3]", "(= $r ([] 1 0x1F 0755 0.0015))"),
        (r"$r = 'a\'b\\c\d'", r"(= $r 'a'b\c\d')"),
        (r#"$r = "a\tb\u00e9\u{1F600}\$x""#, "(= $r 'a\tb\u{e9}\u{1F600}$x')"),
        (
            "$r = { a => 1, 'b' => [2], default => 3, class => 4, }",
            "(= $r ({} (a 1) ('b' ([] 2)) (:default 3) (class 4)))",
        ),
        ("$r = /a\\/b/", "(= $r /a/b/)"),
        ("$r = $a / $b / $c", "(= $r (/ (/ $a $b) $c))"),
        ("$r = undef", "(= $r :undef)"),
        ("$r = Foo::Bar[1, 2]", "(= $r (slice Foo::Bar 1 2))"),
        ("$r = foo-bar", "(= $r foo-bar)"),
        ("$r = [a => 1, b => 2]", "(= $r ([] ({} (a 1) (b 2))))"),
    ];
    for (text, expected) in table {
        assert_eq!(tree(text), expected, "{text}");
    }
}

#[test]
fn interpolation() {
    let table = [
        (r#"$r = "a $b c""#, "(= $r (cat 'a ' (str $b) ' c'))"),
        (
            r#"$r = "${b}${c[0]}${d.e}""#,
            "(= $r (cat (str $b) (str (slice $c 0)) (str (call-method (. $d e)))))",
        ),
        (r#"$r = "${$b + 1} ${f(1)}""#, "(= $r (cat (str (+ $b 1)) ' ' (str (call f 1))))"),
        (r#"$r = "$a::b:: $1 $$""#, "(= $r (cat (str $a::b) ':: ' (str $1) ' $$'))"),
        (
            r#"$r = "${x["y"]} ${ { a => 1 } }""#,
            "(= $r (cat (str (slice $x 'y')) ' ' (str ({} (a 1)))))",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(tree(text), expected, "{text}");
    }
}

#[test]
fn heredocs() {
    let table = [
        ("$r = @(END)\n  a $b\n  | END\n", "(= $r (@() 'a $b\n'))"),
        (
            "$r = @(\"END\":json/L)\n  a ${b} \\\n  c\n  |- END\n",
            "(= $r (@(json) (cat 'a ' (str $b) ' c')))",
        ),
        ("$r = [@(A), @(B)]\na\nA\nb\nB\n$x = 1", "(= $r ([] (@() 'a\n') (@() 'b\n')))\n(= $x 1)"),
    ];
    for (text, expected) in table {
        assert_eq!(tree(text), expected, "{text}");
    }
}

#[test]
fn statements_resources_and_definitions() {
    let table = [
        ("notice 'a', 'b'", "(invoke notice 'a' 'b')"),
        ("notice('a')", "(call notice 'a')"),
        ("include foo, bar", "(invoke include foo bar)"),
        (
            "if $a { 1 } elsif $b { 2 } else { 3 }",
            "(if $a (then (block 1)) (else (if $b (then (block 2)) (else (block 3)))))",
        ),
        ("unless $a { f() }", "(unless $a (then (block (call f))))"),
        (
            "case $a { 1, 'x': { f() } default: { } }",
            "(case $a (when (1 'x') (then (block (call f)))) (when (:default) (then (block))))",
        ),
        (
            "file { '/a': ensure => present, mode => '0644'; '/b': }",
            "(resource file ('/a' (ensure => present) (mode => '0644')) ('/b'))",
        ),
        ("@file { ['/a', '/b']: * => $h }", "(virtual-resource file (([] '/a' '/b') (* => $h)))"),
        ("@@foo::bar { 'x': tag => 'y' }", "(exported-resource foo::bar ('x' (tag => 'y')))"),
        ("File { owner => root }", "(resource-defaults File (owner => root))"),
        ("File['/a'] { mode +> '1' }", "(override (slice File '/a') (mode +> '1'))"),
        (
            "File <| tag == 'x' and title != y |> { mode => '1' }",
            "(collect File (<| (and (== tag 'x') (!= title y)) |>) (mode => '1'))",
        ),
        ("Foo <<| |>>", "(collect Foo (<<||>>))"),
        (
            "File['/a'] -> service { 'x': } ~> Class['y']",
            "(~> (-> (slice File '/a') (resource service ('x'))) (slice Class 'y'))",
        ),
        ("class { 'a': b => 1 }", "(resource class ('a' (b => 1)))"),
        (
            "class a(Integer $b = 1, $c) inherits d { class e { } }",
            "(class a (inherits d) (parameters (= Integer $b 1) $c) (block (class a::e (block))))",
        ),
        (
            "define a::b(Optional[String] $x) { }",
            "(define a::b (parameters (slice Optional String) $x) (block))",
        ),
        (
            "node 'a', /b/, c.d.example, default { }",
            "(node (matches 'a' /b/ 'c.d.example' :default) (block))",
        ),
        (
            "function f(Integer *$x) >> String { $x }",
            "(function f (parameters Integer *$x) (return_type String) (block $x))",
        ),
        (
            "type A::B = Variant[Integer, String]",
            "(type-alias A::B (slice Variant Integer String))",
        ),
        (
            "$a.each |$x, Integer $y| { f($x) }",
            "(call-method (. $a each) (lambda (parameters $x Integer $y) (block (call f $x))))",
        ),
        ("each($a) |$x| { f($x) }", "(call each $a (lambda (parameters $x) (block (call f $x))))"),
        ("[$a, $b] = [1, 2]", "(= ([] $a $b) ([] 1 2))"),
        ("$x = if true { 1 } else { 2 }", "(= $x (if true (then (block 1)) (else (block 2))))"),
        ("return()", "(call return)"),
    ];
    for (text, expected) in table {
        assert_eq!(tree(text), expected, "{text}");
    }
}

#[test]
fn what_is_wrong_is_said_in_the_originals_words() {
    let nothing = "has no effect. A value was produced and then forgotten (one or more preceding expressions may have the wrong form)";
    let toplevel =
        "Classes, definitions, and nodes may only appear at toplevel or inside other classes";
    let table = [
        ("$r = 0b101", "1:6 Not a valid octal number 0b101".to_owned()),
        ("$r = 9223372036854775808", "1:6 A Literal Integer resulted in a value outside of Puppet Integer max range, got '+0x8000000000000000'".to_owned()),
        ("if true { f()", "1:14 Syntax error at end of input".to_owned()),
        ("$x = = 1", "1:6 Syntax error at '='".to_owned()),
        ("$x = 'abc\n", "1:7 Unclosed quote after \"'\" followed by 'abc\\n...'".to_owned()),
        ("file { '/a': Mode => 1 }", "1:14 Syntax error at 'Mode'".to_owned()),
        ("$f = |$x| { $x }", "1:6 Syntax error at '|'".to_owned()),
        ("$r = Enum[]", "1:11 Syntax error at ']'".to_owned()),
        ("1 + 1\nf()", format!("1:3 This '+' expression {nothing}")),
        ("'a' 'b'", format!("1:1 This String {nothing}")),
        ("$foo::bar = 1", "1:1 Illegal attempt to assign to 'foo::bar'. Cannot assign to variables in other namespaces".to_owned()),
        ("$1 = 2", "1:1 Illegal attempt to assign to the numeric match result variable '$1'. Numeric variables are not assignable".to_owned()),
        ("$Foo = 1", "1:1 Illegal variable name, The given name 'Foo' does not conform to the naming rule /^((::)?[a-z]\\w*)*((::)?[a-z_]\\w*)$/".to_owned()),
        ("define d { class inner { } }", format!("1:12 {toplevel}")),
        ("if true { class inner { } }", format!("1:11 {toplevel}")),
        ("file { '/a': * => {}, * => {} }", "1:23 Unfolding of attributes from Hash can only be used once per resource body".to_owned()),
        ("@class { 'x': }", "1:1 Classes are not virtualizable".to_owned()),
        ("$x = [1]\n$x += [2]", "2:4 The operator '+=' is no longer supported. See http://links.puppet.com/remove-plus-equals".to_owned()),
        ("$r = \"${1e20}\"", "1:9 Illegal numeric variable name, The given name '1e20' must be a decimal value if it starts with a digit 0-9".to_owned()),
    ];
    for (text, expected) in table {
        assert_eq!(wrong(text), expected, "{text}");
    }
}

#[test]
fn templates() {
    let table = [
        (
            "a <%= $x %> b\n",
            "(epp (parameters ) (block (render-s 'a ') (render $x) (render-s ' b\n')))",
        ),
        (
            "<%- | Integer $n = 1 | -%>\n<% $n.each |$i| { -%>\n  x<%= $i %>\n<% } -%>\nend <%% %%>\n",
            "(epp (parameters (= Integer $n 1)) (block (call-method (. $n each) (lambda (parameters $i) (block (render-s '  x') (render $i) (render-s '\n')))) (render-s 'end <% %>\n')))",
        ),
        (
            "<% if $a { -%>\nx\n<% } -%>\n<% else { -%>\ny\n<% } -%>\n",
            "(epp (parameters ) (block (if $a (then (block (render-s 'x\n'))) (else (block (render-s 'y\n'))))))",
        ),
        (
            "<%- case $p { -%>\n<%- 'a': { %>b<% } } -%>",
            "(epp (parameters ) (block (case $p (when ('a') (then (block (render-s 'b')))))))",
        ),
        ("a  <%#- gone -%>  \nkept", "(epp (parameters ) (block (render-s 'akept')))"),
        ("<%# gone -%>\nkept", "(epp (parameters ) (block (render-s 'kept')))"),
    ];
    for (text, expected) in table {
        let map = SourceMap::new();
        let (program, diagnostics) = parse_epp(text.as_bytes(), map.add("t.epp", text.as_bytes()));
        assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
        assert_eq!(dump(&program).trim_end(), expected, "{text}");
    }
}

#[test]
fn deep_nesting_is_an_error_not_a_crash() {
    for text in [
        "[".repeat(1_000_000),
        "(".repeat(1_000_000),
        "$x = -".to_owned() + &"-".repeat(1_000_000),
        "if ".repeat(100_000),
        "\"${".repeat(50_000),
        "{ a => ".repeat(100_000),
    ] {
        assert!(!wrong(&text).is_empty());
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in r#"[ \n$"'{}()\[\]|<>=~@%/,.:;a-zA-Z0-9_\\*+!?#-]{0,80}"#) {
        let map = SourceMap::new();
        let file = map.add("t.pp", text.as_bytes());
        let (program, _) = parse(text.as_bytes(), file);
        let _ = validate(&program, Strictness::Error);
        let _ = dump(&program);
        let _ = parse_epp(text.as_bytes(), file);
    }
}
