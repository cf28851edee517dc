//! The page that `explain --format html` writes, opened in a real browser without a window:
//! every item is clicked, the search is used, and it is looked at in both colour schemes.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

const POLICY: &str = r#"bundle agent main
{
  classes:
    "wanted" expression => "any";
  files:
    wanted::
      "/srv/fx-page/a" create => "true";
    unwanted::
      "/srv/fx-page/b" create => "true";
  reports:
    "done </script><script>alert(1)</script>";
}
"#;

/// Clicks everything, searches, and leaves what was seen in the document.
const PROBE: &str = r##"<script>
const seen = [];
for (const bar of document.querySelectorAll(".bar")) {
  bar.click();
  const pairs = [...document.querySelectorAll("#details dt")].map((dt, i) => dt.textContent + "=" + document.querySelectorAll("#details dd")[i].textContent);
  seen.push({ title: document.querySelector("#details h3").textContent, on: bar.classList.contains("on"), pairs, source: (document.querySelector("#details pre") || {}).textContent });
}
const search = document.getElementById("search");
search.value = "fx-page/a";
search.dispatchEvent(new Event("input"));
const left = [...document.querySelectorAll(".bar")].filter(bar => bar.style.display !== "none").map(bar => bar.textContent);
search.value = "";
search.dispatchEvent(new Event("input"));
const probe = document.createElement("pre");
probe.id = "probe";
probe.textContent = JSON.stringify({ seen, left, lanes: document.querySelectorAll("#lanes section").length, arrows: document.querySelectorAll("#arrows g path").length });
document.body.append(probe);
</script></body>"##;

fn browser() -> Option<PathBuf> {
    ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|name| {
        std::env::split_paths(&std::env::var_os("PATH")?)
            .map(|dir| dir.join(name))
            .find(|path| path.exists())
    })
}

fn browse(browser: &Path, page: &Path, more: &[String]) -> String {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--hide-scrollbars", "--virtual-time-budget=3000", "--window-size=1200,800"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(more)
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn every_item_of_the_page_can_be_opened_and_found() {
    let Some(browser) = browser() else {
        eprintln!("SKIPPED: no Chromium on this machine; the page was not opened");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let policy = dir.path().join("site.cf");
    std::fs::write(&policy, POLICY).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(["explain", "--format", "html"])
        .arg(&policy)
        .output()
        .unwrap();
    let html = String::from_utf8(output.stdout).unwrap();
    assert!(html.starts_with("<!doctype html>"), "{}", String::from_utf8_lossy(&output.stderr));
    let page = dir.path().join("page.html");
    std::fs::write(&page, html.replace("</body>", PROBE)).unwrap();

    let document = browse(&browser, &page, &["--dump-dom".into()]);
    let probe =
        document.split("<pre id=\"probe\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    let probe = probe.unwrap_or_else(|| panic!("the page did not run: {document}"));
    let probe = probe.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let probe: serde_json::Value = serde_json::from_str(&probe).unwrap();
    let seen = probe["seen"].as_array().unwrap();
    assert!(seen.len() >= 3 && seen.iter().all(|one| one["on"] == true), "{probe}");
    let item = |name: &str| {
        seen.iter()
            .find(|one| one["title"].as_str().unwrap().contains(name))
            .unwrap_or_else(|| panic!("no {name}: {probe}"))
    };
    let file = item("files[/srv/fx-page/a]");
    assert!(file["pairs"].to_string().contains("its turn=bundle main wanted::"), "{file}");
    assert!(file["source"].as_str().unwrap().contains("create => \"true\""), "{file}");
    item("reports[done </script><script>alert(1)</script>]");
    assert!(probe["arrows"].as_u64() >= Some(1), "the class leads to the file: {probe}");
    let left = probe["left"].to_string();
    assert!(left.contains("fx-page/a") && !left.contains("fx-page/b"), "{left}");

    // The two schemes are not the same picture, and neither is empty.
    let pictures = ["0", "1"].map(|scheme| {
        let file = dir.path().join(format!("{scheme}.png"));
        browse(
            &browser,
            &page,
            &[
                format!("--blink-settings=preferredColorScheme={scheme}"),
                format!("--screenshot={}", file.display()),
            ],
        );
        std::fs::read(file).unwrap_or_default()
    });
    assert!(pictures.iter().all(|picture| picture.len() > 5_000), "a picture is empty");
    assert_ne!(pictures[0], pictures[1]);
}
