//! Documents against what Psych of Ruby 3.1 writes, and back through a reader.

use proptest::prelude::*;
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value as Json, json};

use super::{document, is_other};

fn check(json: &str, expected: &str) {
    let value: Json = serde_json::from_str(json).unwrap();
    assert_eq!(document(&value), expected, "{json}");
}

#[test]
fn documents_look_as_psych_writes_them() {
    check("\"a\"", "--- a\n");
    check("null", "---\n");
    check("[]", "--- []\n");
    check(
        r#"{"a":[1,{"b":null,"c":true}],"d":{"e":"x"}}"#,
        "---\na:\n- 1\n- b:\n  c: true\nd:\n  e: x\n",
    );
    check(r"[[1,2],[3]]", "---\n- - 1\n  - 2\n- - 3\n");
    check(
        r#"["/tmp","{sha256}x","yes","12","1.5","2026-01-01","a: b","a b","~","n","","don't"]"#,
        "---\n- \"/tmp\"\n- \"{sha256}x\"\n- 'yes'\n- '12'\n- '1.5'\n- '2026-01-01'\n- 'a: b'\n- a b\n- \"~\"\n- \"n\"\n- ''\n- don't\n",
    );
    check(r#"{"t":"one\ntwo\n"}"#, "---\nt: |\n  one\n  two\n");
    check(r#"{"t":"one\ntwo"}"#, "---\nt: |-\n  one\n  two\n");
    check("7.501e-5", "--- 7.501e-05\n");
    check("[1.0,1e20,0.1,-2.5]", "---\n- 1.0\n- 1.0e+20\n- 0.1\n- -2.5\n");
}

#[test]
fn texts_of_any_alphabet_look_as_psych_writes_them() {
    for (text, expected) in [
        ("→ hello", "\"→ hello\""),
        ("€5 off", "\"€5 off\""),
        ("x😀", "\"x\\U0001F600\""),
        ("a\u{85}b", "\"a\\Nb\""),
        ("\u{feff}a", "\"\\uFEFFa\""),
        ("a\nb\u{7}", "\"a\\nb\\a\""),
        ("a\nb ", "\"a\\nb \""),
        ("a\n", "'a\n\n  '"),
        ("\n", "\"\\n\""),
        ("a\n\n", "\"a\\n\\n\""),
        ("a\r\nb", "\"a\\r\\nb\""),
        ("é", "é"),
        ("→\"q", "→\"q"),
        ("\"", "\"\\\"\""),
        ("\"→", "\"\\\"→\""),
        ("\u{a0}x", "\"\u{a0}x\""),
        ("a\n b", "|-\n  a\n   b"),
    ] {
        assert_eq!(document(&Json::from(text)), format!("--- {expected}\n"), "{text:?}");
    }
}

/// Reads what the emitter writes: bare words that are no text become what they are.
fn read(text: &str) -> Json {
    let mut stack: Vec<(Json, Option<String>)> = vec![(json!([]), None)];
    for event in Parser::new_from_str(text) {
        let (event, _) = event.unwrap();
        let value = match event {
            Event::Scalar(text, style, ..) => match (&*text, style) {
                ("", ScalarStyle::Plain) => Json::Null,
                (word @ ("true" | "false"), ScalarStyle::Plain) => Json::from(word == "true"),
                (word, ScalarStyle::Plain) if is_other(word) => serde_json::from_str(word).unwrap(),
                (text, _) => Json::from(text),
            },
            Event::SequenceStart(..) => {
                stack.push((json!([]), None));
                continue;
            }
            Event::MappingStart(..) => {
                stack.push((Json::Object(Map::new()), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => stack.pop().unwrap().0,
            _ => continue,
        };
        let (into, key) = stack.last_mut().unwrap();
        match into {
            Json::Array(items) => items.push(value),
            Json::Object(map) => match key.take() {
                None => *key = Some(value.as_str().unwrap_or_default().to_owned()),
                Some(name) => drop(map.insert(name, value)),
            },
            _ => unreachable!("only lists and maps are on the stack"),
        }
    }
    stack.remove(0).0[0].take()
}

/// Pieces that YAML has a meaning for, and any other text.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[\\PC\\n\\t ]{0,6}",
        any::<char>().prop_map(String::from),
        prop::sample::select(vec![
            "- ",
            ": ",
            " #",
            "'",
            "\"",
            "\\",
            "{",
            "[",
            "|",
            ">",
            "%",
            "@",
            "`",
            "&",
            "*",
            "!",
            "?",
            "~",
            "null",
            "yes",
            "0x1",
            "1e5",
            "2026-01-01",
            "12:30",
            "...",
            "---",
            "\r",
            "\n",
            "\u{85}",
            "\u{2028}",
            "\u{feff}",
            "\u{9b}",
            "word word word word word word word ",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn any_data() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        any_text().prop_map(Json::from),
        any::<i32>().prop_map(Json::from),
        any::<bool>().prop_map(Json::from),
        Just(Json::Null),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::vec((any_text(), inner), 0..4)
                .prop_map(|pairs| Json::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back_the_same(value in any_data()) {
        let written = document(&value);
        prop_assert_eq!(read(&written), value, "{}", written);
    }
}
