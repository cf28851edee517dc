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
        ("$r = $a and $b or $c", "(= $r (|| (&& $a $b) $c))"),
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
            "$r = { a => 1, 'b' => [2], default => 3, type => 4, }",
            "(= $r ({} (a 1) ('b' ([] 2)) (:default 3) ('type' 4)))",
        ),
        ("$r = /a\\/b/", "(= $r /a\\/b/)"),
        ("$r = 'a' =~ /(?x)\\A\n a\n \\z/", "(= $r (=~ 'a'/(?x)\\A\n a\n \\z/))"),
        ("$r = $a / $b / $c", "(= $r (/ (/ $a $b) $c))"),
        ("$r = undef", "(= $r :undef)"),
        ("$r = Foo::Bar[1, 2]", "(= $r (slice Foo::Bar (1 2)))"),
        ("$r = foo-bar", "(= $r 'foo-bar')"),
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
        (r#"$r = "${_b} ${_c[0]}""#, "(= $r (cat (str $_b) ' ' (str (slice $_c 0))))"),
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
        ("$r = @(END)\n  a $b\n  | END\n", "(= $r (@()\n  'a $b\n'\n))"),
        (
            "$r = @(\"END\":json/L)\n  a ${b} \\\n  c\n  |- END\n",
            "(= $r (@(json)\n  (cat 'a ' (str $b) ' c')\n))",
        ),
        (
            "$r = [@(A), @(B)]\na\nA\nb\nB\n$x = 1",
            "(block\n  (= $r ([] (@()\n    'a\n'\n  ) (@()\n    'b\n'\n  )))\n  (= $x 1)\n)",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(tree(text), expected, "{text}");
    }
}

#[test]
fn statements_resources_and_definitions() {
    let table = [
        ("notice 'a', 'b'", "(invoke notice 'a' 'b')"),
        ("notice('a')", "(invoke notice 'a')"),
        ("include foo, bar", "(invoke include foo bar)"),
        (
            "if $a { 1 } elsif $b { 2 } else { 3 }",
            "(if $a\n  (then 1)\n  (else (if $b\n      (then 2)\n      (else 3))))",
        ),
        ("unless $a { f() }", "(unless $a\n  (then (invoke f)))"),
        (
            "case $a { 1, 'x': { f() } default: { } }",
            "(case $a\n  (when (1 'x') (then (block\n    (invoke f)\n  )))\n  (when (:default) (then ())))",
        ),
        (
            "file { '/a': ensure => present, mode => '0644'; '/b': }",
            "(resource file\n  ('/a'\n    (ensure => present)\n    (mode => '0644'))\n  ('/b'))",
        ),
        (
            "@file { ['/a', '/b']: * => $h }",
            "(virtual-resource file\n  (([] '/a' '/b')\n    (* => $h)))",
        ),
        (
            "@@foo::bar { 'x': tag => 'y' }",
            "(exported-resource foo::bar\n  ('x'\n    (tag => 'y')))",
        ),
        ("File { owner => root }", "(resource-defaults File\n  (owner => root))"),
        ("File['/a'] { mode +> '1' }", "(override (slice File '/a')\n  (mode +> '1'))"),
        (
            "File <| tag == 'x' and title != y |> { mode => '1' }",
            "(collect File\n  (<| |> (&& (== tag 'x') (!= title y))))",
        ),
        ("Foo <<| |>>", "(collect Foo\n  (<<| |>>))"),
        (
            "File['/a'] -> service { 'x': } ~> Class['y']",
            "(~> (-> (slice File '/a') (resource service\n  ('x'))) (slice Class 'y'))",
        ),
        ("class { 'a': b => 1 }", "(resource class\n  ('a'\n    (b => 1)))"),
        (
            "class a(Integer $b = 1, $c) inherits d { class e { } }",
            "(class a (inherits d) (parameters (=t Integer b 1) c) (block\n  (class a::e ())\n))",
        ),
        (
            "define a::b(Optional[String] $x) { }",
            "(define a::b (parameters (t (slice Optional String) x)) ())",
        ),
        (
            "node 'a', /b/, c.d.example, default { }",
            "(node (matches 'a' /b/ 'c.d.example' :default) ())",
        ),
        (
            "function f(Integer *$x) >> String { $x }",
            "(function f (parameters (t Integer *x)) (return_type String) (block\n  $x\n))",
        ),
        (
            "type A::B = Variant[Integer, String]",
            "(type-alias A::B (slice Variant (Integer String)))",
        ),
        (
            "$a.each |$x, Integer $y| { f($x) }",
            "(call-method (. $a each) (lambda (parameters x (t Integer y)) (block\n  (invoke f $x)\n)))",
        ),
        (
            "each($a) |$x| { f($x) }",
            "(invoke each $a (lambda (parameters x) (block\n  (invoke f $x)\n)))",
        ),
        ("[$a, $b] = [1, 2]", "(= ([] $a $b) ([] 1 2))"),
        ("$x = if true { 1 } else { 2 }", "(= $x (if true\n  (then 1)\n  (else 2)))"),
        ("return()", "(invoke return)"),
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
        ("@user", "1:1 Virtual (@) can only be applied to a Resource Expression".to_owned()),
        ("user <| |>", "1:1 Illegal expression. A Name is unacceptable as type name in a Virtual Query".to_owned()),
        ("File['x'] <<| |>>", "1:1 Illegal expression. A '[]' expression is unacceptable as type name in an Exported Query".to_owned()),
        ("$x = { class => 1 }", "1:14 Syntax error at '=>'".to_owned()),
        ("$x = { attr => 1 }", "1:8 Use of reserved word: attr, must be quoted if intended to be a String value".to_owned()),
        ("$x = { in => 1 }", "1:8 Syntax error at 'in'".to_owned()),
        ("$x = { apply => 1, plan => 2 } $y = [plan, apply] apply { 'x': }", String::new()),
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
            "(lambda (epp (block\n  (render-s 'a ')\n  (render $x)\n  (render-s ' b\n')\n)))",
        ),
        (
            "<%- | Integer $n = 1 | -%>\n<% $n.each |$i| { -%>\n  x<%= $i %>\n<% } -%>\nend <%% %%>\n",
            "(lambda (parameters (=t Integer n 1)) (epp (block\n  (call-method (. $n each) (lambda (parameters i) (block\n    (render-s '  x')\n    (render $i)\n    (render-s '\n')\n  )))\n  (render-s 'end <% %>\n')\n)))",
        ),
        (
            "<% if $a { -%>\nx\n<% } -%>\n<% else { -%>\ny\n<% } -%>\n",
            "(lambda (epp (block\n  (if $a\n    (then (render-s 'x\n'))\n    (else (render-s 'y\n')))\n)))",
        ),
        (
            "<%- case $p { -%>\n<%- 'a': { %>b<% } } -%>",
            "(lambda (epp (block\n  (case $p\n    (when ('a') (then (block\n      (render-s 'b')\n    ))))\n)))",
        ),
        ("a  <%#- gone -%>  \nkept", "(lambda (epp (block\n  (render-s 'akept')\n)))"),
        ("<%# gone -%>\nkept", "(lambda (epp (block\n  (render-s 'kept')\n)))"),
        (
            "a\n<%- # gone\n-%>\nkept",
            "(lambda (epp (block\n  (render-s 'a\n')\n  (render-s 'kept')\n)))",
        ),
        ("<% # gone\n%>kept", "(lambda (epp (block\n  (render-s 'kept')\n)))"),
    ];
    for (text, expected) in table {
        let map = SourceMap::new();
        let (program, diagnostics) = parse_epp(text.as_bytes(), map.add("t.epp", text.as_bytes()));
        assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
        assert_eq!(dump(&program).trim_end(), expected, "{text}");
    }
}

#[test]
fn an_unclosed_tag_of_a_template_is_an_error_where_the_original_finds_it() {
    let table = [
        (
            "a\n<% # hides the tag -%>\nb\n",
            "4:1 Unbalanced epp tag, reached <eof> without closing tag.",
        ),
        ("a\n<%= 1 # hides the tag %>\nb\n", "3:1 Syntax error at 'b'"),
        ("a <%# b", "1:5 Reaching end after opening <%# without seeing %>"),
        ("a\nb <%", "2:5 Unbalanced embedded expression - opening <% and reaching end of input"),
    ];
    for (text, expected) in table {
        let map = SourceMap::new();
        let (_, found) = parse_epp(text.as_bytes(), map.add("t.epp", text.as_bytes()));
        let shown = found.iter().map(|one| {
            let at = one.primary().map(|span| map.location(span)).expect("a place");
            format!("{}:{} {}", at.line, at.column, one.message)
        });
        assert_eq!(shown.collect::<Vec<_>>(), [expected], "{text}");
    }
}

#[test]
fn a_hash_of_bare_words_may_follow_a_call_without_parentheses() {
    let table = [
        ("return {}", "(invoke return ({}))"),
        ("err { a => 1, b => [2], }", "(invoke err ({} (a 1) (b ([] 2))))"),
    ];
    for (text, expected) in table {
        assert_eq!(tree(text), expected, "{text}");
    }
}

#[test]
fn other_functions_need_their_parentheses() {
    let table = [
        (
            "create_resources 'notify', {}",
            "1:26 attempt to pass argument list to the function 'create_resources' which cannot be called without parentheses",
        ),
        ("foo { a +> 1 }", "1:5 Syntax error resource body without title or hash with +>"),
        ("1, 2", "1:2 illegal comma separated argument list"),
    ];
    for (text, expected) in table {
        assert_eq!(wrong(text), expected, "{text}");
    }
    assert!(wrong("alert 'x'").starts_with("1:1 This Name has no effect."));
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

#[test]
fn the_tree_has_another_notation() {
    let table = [
        (
            "if $a { 1 } elsif $b { } else { 2 3 }",
            r#"(if {:test (var "a") :then [1] :else [(if {:test (var "b") :else [2 3]})]})"#,
        ),
        (
            "case $a { 1, 2: { 3 } default: { } }",
            r#"(case (var "a") [{:when [1 2] :then [3]} {:when [(default)] :then [(nop)]}])"#,
        ),
        (
            r#"$x = ["a\tb\"", undef, 017, -1, /x/, Foo[1, a], "a${b}c"]"#,
            r#"(= (var "x") (array "a\tb\"" nil (int {:radix 8 :value 15}) -1 (regexp "x") (access (qr "Foo") 1 (qn "a")) (concat "a" (str (var "b")) "c")))"#,
        ),
        (
            "function f(Integer $a) >> String { 1 }",
            r#"(function {:name "f" :params {:a {:type (qr "Integer")}} :body [1] :returns (qr "String")})"#,
        ),
        (
            "@file { 'a': b => 1, c +> 2, * => $h; d: }",
            r#"(resource {:type (qn "file") :bodies [{:title "a" :ops [(=> "b" 1) (+> "c" 2) (splat-hash (var "h"))]} {:title (qn "d") :ops []}] :form "virtual"})"#,
        ),
        (
            "File <| a == 1 and b != 2 |> { c => 3 }",
            r#"(collect {:type (qr "File") :query (virtual-query (and (== (qn "a") 1) (!= (qn "b") 2))) :ops [(=> "c" 3)]})"#,
        ),
        (
            "$x.y(1) |$z| >> A { 3 }",
            r#"(call-method {:functor (. (var "x") (qn "y")) :args [1] :block (lambda {:params {:z {}} :returns (qr "A") :body [3]})})"#,
        ),
        ("(1 + 2) * 3", "(* (paren (+ 1 2)) 3)"),
        ("", "(nop)"),
    ];
    for (text, expected) in table {
        let map = SourceMap::new();
        let (program, _) = parse(text.as_bytes(), map.add("t.pp", text.as_bytes()));
        assert_eq!(crate::pn::tree(&program).text(false), expected, "{text}");
    }
    let map = SourceMap::new();
    let text = "$a = [{}, undef]".as_bytes();
    let (program, _) = parse(text, map.add("t.pp", text));
    let tree = crate::pn::tree(&program);
    let json = r#"{"^":["=",{"^":["var","a"]},{"^":["array",{"^":["hash"]},null]}]}"#;
    assert_eq!(tree.json(false), json);
    assert!(tree.json(true).starts_with("{\n  \"^\": [\n    \"=\",\n    {\n"));
    assert!(tree.text(true).starts_with("(=\n  (var\n    \"a\")\n"));
}
