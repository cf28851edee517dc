//! What crypt(3) of libxcrypt 4.4 gives, through Ruby 3.1.

use super::*;

const EIGHTY: &str =
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

#[test]
fn hashes_are_those_of_the_system() {
    let table = [
        (
            "a",
            "$6$Vez2dtxN",
            "$6$Vez2dtxN$W1Q3NBNtu9pLB9dbtJCvaUp0XJw06lnPlx6CPyXW312HmGjQBpY1foT8i9U4ZbKHeoyYvtr8pJJdsPkGgMQQ9.",
        ),
        (
            "0123456789abcdefX",
            "$6$C5oxizUQAiNMeW/h$",
            "$6$C5oxizUQAiNMeW/h$O2onjIvzV0rHLllJSOp9wQNyzBnn35ovIBLMdbIQ2D6fM3.GU7VR/Ott3wD/U0gO4jKv5MPjKRzyHOBLlRewi1",
        ),
        ("password", "$5$Sal3", "$5$Sal3$wPsyOMp0TrQGsiYnxPJsrn8R25VhtS4dmWk76XnKYq9"),
        ("", "$1$6gt8S/f4$", "$1$6gt8S/f4$30BW7FuPOsOP/ICUkQyak."),
        (EIGHTY, "$1$y31", "$1$y31$OkX5If5bBeW8iSV6JV76H/"),
        ("eight888", "W7", "W7PkqDDGYb.rI"),
        ("eight888", "9aI4joMeUjxJd", "9aCws9V4Gxy.E"),
        (
            "password",
            "$6$itWbaq2F",
            "$6$itWbaq2F$Utv/oItdpDfh0JiHF2wOaG4Px0F2TGC/27vl5mMPcLKUX1reaNUZPh0lXuKQYPwOIu0pFQRVnq8fWldv3xhcX.",
        ),
        (
            EIGHTY,
            "$6$DSC8hxkPJa9hxC3G$",
            "$6$DSC8hxkPJa9hxC3G$dybmCFcOYnULA2E/aPgRpYmisQUAkiXQkIEsiHslNLRhntjcIH3IAlcsiXU95WB4klcqu/Vxr3hWkfZ3iXXOH.",
        ),
        ("eight888", "$5$vKJH", "$5$vKJH$yOlALfud5sp3mmixrKPKsGKb6clmYPy8v/TgOx9a5h0"),
        ("", "$1$d7BHtBet$", "$1$d7BHtBet$qDuKdQtRYVpJEioQPUn071"),
        ("password", "$1$H7E", "$1$H7E$ceAK/p9MhEoBQSrJA3GDO."),
        ("geheim äöü", "5L", "5LTUa.26i4lJg"),
        ("password", "jDr/FctYsv3dl", "jDPhFt6d3XPgo"),
        (
            "eight888",
            "$6$6VqmDRPj",
            "$6$6VqmDRPj$nAI9LrW3jDHXK/tTrd44VHCnhs.Y.stAKqOTRJwXoyepgS0a9PHWjDXpH.eFERVfztVzj6jqkZfTyGVRubjWg0",
        ),
        (
            EIGHTY,
            "$6$mdUo8u18p7JWeRiA$",
            "$6$mdUo8u18p7JWeRiA$Rzqmf3ldL0cy.0B90ox/g/liI2sKwfBm04msvztJLPPgXnUgwQKL/9nT8WHavPQxQg0zLviMQ1e/U8wuhNP/l.",
        ),
        ("a", "$5$62RV", "$5$62RV$01ffcE8Yd2KbbbWiu3aat94DvxwgfEJdabfR2PTDXn8"),
        ("0123456789abcdefX", "$1$xnYNdDmm$", "$1$xnYNdDmm$ljRnUIeP1VdmQ2Mrp.L7H1"),
        ("eight888", "$1$pDi", "$1$pDi$reGduAU2LWO6JIYznzUpu/"),
        ("password", "2M", "2MJ6ZviUO5vCo"),
        ("a", "1gvSBhrQVfK0P", "1gy.tiDYBQk.s"),
        (
            "0123456789abcdefX",
            "$6$",
            "$6$$/VBffTncgTLjDIDReSq.0AiQk0hwXkazP6kAh2qqKL3VpgE4Dm6jOZAJCJ/r876Y3/vg693LLy5ps6dJaJ7./1",
        ),
        (
            "a\x01b",
            "$6$rounds=1000$abc",
            "$6$rounds=1000$abc$RLZu415UHK/7Q1/wvMyZRdEDWbZRXwEEkoV5hxI5hHRTjHOXbhhTxGfj0cZbqdgfDc7itEvwJWDnEkXv0A5xn0",
        ),
        ("a", "$6$rounds=999$abc", "*0"),
        ("eight888", "$6$rounds=01000$abc", "*0"),
        (
            EIGHTY,
            "$6$rounds=1500$abcdefghijklmnopqrst$rest",
            "$6$rounds=1500$abcdefghijklmnop$iT0PSSixwDjlxPg0yPJmoxXnQo/J4LoehcIB4z5wey2JMnR2i43PsrJ8LH0ELOyyIpEiFKun9y.uxandpwfa1/",
        ),
        ("a", "$5$rounds=1234$x$", "$5$rounds=1234$x$DPY7HY6vlx4yFmAVtDzeUmDvD0NXJt22/Va9uPqQeU3"),
        ("", "$6$rounds=x$abc", "*0"),
        (EIGHTY, "$6$rounds=1000", "*0"),
        ("eight888", "$1$", "$1$$0jImg1sWK8evFMXFJAtTn."),
        ("a\x01b", "$1$waytoolongsalt$x", "$1$waytoolo$ztYI38740TTKxOa6d7286/"),
        (
            "0123456789abcdefX",
            "$2a$04$abcdefghijklmnopqrstuu",
            "$2a$04$abcdefghijklmnopqrstuuSnC5V3xPpt3keSimT3O5lkxKfLFKLwu",
        ),
        (
            "a",
            "$2y$05$.....................e",
            "$2y$05$.....................eg5Uw/DPmucLVjcpTlDQPzZYWIQpkh1W",
        ),
        (
            "a\x01b",
            "$2b$04$abcdefghijklmnopqrstuvxyz",
            "$2b$04$abcdefghijklmnopqrstuuC/zjbgdncLsiJoNbZ8bqdLFy94z9Tb6",
        ),
        ("0123456789abcdefX", "$2b$03$abcdefghijklmnopqrstuu", "*0"),
        ("geheim äöü", "$2b$04$short", "*0"),
        ("a", "$y$j75$abcd$", "$y$j75$abcd$n9K3MJBOK7rb5ZnDPVRaLq0Z1x8.y.eGWQknIyYN/.8"),
        (
            "geheim äöü",
            "$y$j9T$F5Jx5fExrKuPp53xLKQ..1$1S9vs83NA8xEf9w4vZ4mM3VAC770cVTPDZcj4CWyLU9",
            "$y$j9T$F5Jx5fExrKuPp53xLKQ..1$RhWloBjxVcB5Cs1830aw6P0SWCK45uKukwhiRmbW1qD",
        ),
        ("eight888", "$y$", "*0"),
        ("a", "$9$abc", "*0"),
        ("0123456789abcdefX", "a:", "*0"),
        ("0123456789abcdefX", "a!", "*0"),
        ("eight888", "*0", "*1"),
        ("geheim äöü", "*1", "*0"),
        (EIGHTY, "??", "*0"),
        ("", "..", "..X8NBuQ4l6uQ"),
        ("geheim äöü", "zz", "zz4.NGW.yMEM2"),
        ("a\x01b", "$6$a b", "*0"),
        ("a\x01b", "$6$a!b", "*0"),
        ("a", "$6$ab:c", "*0"),
        (EIGHTY, "$6$ab\\c", "*0"),
        (EIGHTY, "!6$a", "*0"),
        ("0123456789abcdefX", "$6$aäb", "*0"),
        (EIGHTY, "$y$j9T$abc!$", "*0"),
    ];
    for (password, setting, expected) in table {
        let found = crypt(password.as_bytes(), setting.as_bytes());
        let expected =
            if expected.starts_with('*') { Err(Refused::Setting) } else { Ok(expected.to_owned()) };
        assert_eq!(found, expected, "{password:?} {setting:?}");
    }
}

#[test]
fn a_hash_is_a_setting_for_its_password() {
    for setting in
        ["ab", "$1$salt", "$5$salt", "$6$salt", "$2b$04$abcdefghijklmnopqrstuu", "$y$j75$abcd"]
    {
        let hash = crypt(b"secret", setting.as_bytes()).expect("a hash");
        assert_eq!(crypt(b"secret", hash.as_bytes()), Ok(hash.clone()));
        assert_ne!(crypt(b"Secret", hash.as_bytes()), Ok(hash));
    }
}

#[test]
fn what_is_not_here_is_named_and_what_costs_too_much_refused() {
    assert_eq!(crypt(b"a", b"$7$CU..../....x"), Err(Refused::Method("$7$")));
    assert_eq!(crypt(b"a", b"_J9..salt"), Err(Refused::Method("_")));
    for params in ["jTT", "jHT.uzzz", ".9T.wzzzz", "/9T.xzzzz"] {
        let found = crypt(b"a", format!("$y${params}$abcd$").as_bytes());
        assert_eq!(found, Err(Refused::Setting), "{params}");
    }
    assert_eq!(crypt(b"a\0b", b"ab"), crypt(b"a", b"ab"));
}
