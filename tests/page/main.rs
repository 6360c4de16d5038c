//! The page of `tilewright diff --html` in a real browser: every shader can be reached, and nothing overflows, at the widths of a
//! desk and of a telephone, light and dark. With `TILEWRIGHT_PICTURES=DIR` its pictures are kept to be looked at.

mod browser;

use browser::Browser;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A screen's width, height and colours, and of how many shaders one is clicked on. Overflow follows from the width and
/// contrast from the colours, so that two of them see all there is.
const SCREENS: [(u32, u32, &str, usize); 4] =
    [(1280, 900, "light", 1), (1280, 900, "dark", 8), (400, 800, "light", 8), (400, 800, "dark", 1)];

/// A browser, or a loud word that there is none.
fn browser() -> Option<Browser> {
    let found = browser::installed();
    if found.is_none() {
        let help = "install one (`apt-get install chromium`), or run `cargo xtask test`, which does";
        assert!(
            std::env::var_os("TILEWRIGHT_NO_SKIPS").is_none_or(|v| v != "1"),
            "no Chromium here, and no test may be skipped: {help}"
        );
        eprintln!("SKIPPED: no Chromium on the PATH, so nothing says how the page looks; {help}");
    }
    found.map(|program| Browser::start(&program))
}

fn tilewright(folder: &Path, args: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_tilewright")).args(args).current_dir(folder).output();
    let output = output.expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]).args(args);
    let output = command.current_dir(folder).output().expect("git starts");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A repository whose snapshots are older than the program: one is different, one is not there yet, one is gone.
fn older() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let from = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("snapshots");
    for kernel in ["linear", "softmax", "attention"] {
        let to = folder.path().join("snapshots").join(kernel);
        fs::create_dir_all(&to).expect("the folder can be written");
        for file in fs::read_dir(from.join(kernel)).expect("the snapshots are there").flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            let Ok(text) = fs::read_to_string(file.path()) else { continue };
            match name.split('.').next() {
                Some("subgroup") if kernel == "softmax" => continue,
                Some("row") if kernel == "softmax" => {
                    fs::write(to.join(name.replace("row", "older")), &text).expect("the folder can be written");
                }
                _ => {}
            }
            let text = if kernel == "linear" { text.replace("barriers: 5", "barriers: 6") } else { text };
            let text = text.replace("sum1 = ", "total <b> = ");
            fs::write(to.join(name), text).expect("the folder can be written");
        }
    }
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-q", "-m", "older"]);
    folder
}

/// What can be wrong with the page as it stands on the screen; empty if nothing is.
const FAULTS: &str = r##"(() => {
  const faults = [];
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) faults.push(`the page is ${root.scrollWidth} wide on ${innerWidth}`);
  for (const e of document.querySelectorAll("h1, h2, h3, p, nav, main, pre, .scroll, label")) {
    const r = e.getBoundingClientRect();
    if (r.width && (r.left < 0 || r.right > innerWidth + 0.5)) faults.push(`${e.tagName} ends at ${r.right}`);
  }
  const shown = [...document.querySelectorAll("section")].filter((s) => s.offsetHeight);
  if (shown.length !== 1) faults.push(`${shown.length} shaders are shown`);
  const current = document.querySelectorAll("nav a[aria-current]");
  if (current.length !== 1) faults.push(`${current.length} links are marked`);
  else if (shown[0] && current[0].hash !== "#" + shown[0].id) faults.push("another link is marked");
  else {
    const [list, link] = [document.querySelector("nav"), current[0]].map((e) => e.getBoundingClientRect());
    if (!link.height || link.top < list.top - 1 || link.bottom > list.bottom + 1) faults.push("the marked link is out of sight");
  }
  const part = (c) => { const x = c / 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; };
  const light = (c) => { const [r, g, b] = c.match(/[\d.]+/g).map(Number); return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b); };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (c !== "rgba(0, 0, 0, 0)") return c; } return "rgb(255, 255, 255)"; };
  const [kinds, seen] = [new Set(), new Set()];
  for (const e of document.querySelectorAll("h2, p, th, td, nav a, .tag, section:not([hidden]) pre span, .gap")) {
    // Colours follow from classes: one element of a kind says what all of its kind look like.
    const kind = [e, e.parentElement, e.parentElement.parentElement].map((x) => x.tagName + x.className + x.ariaCurrent).join();
    if (kinds.has(kind) || !e.offsetHeight) continue;
    kinds.add(kind);
    const [front, back] = [getComputedStyle(e).color, behind(e)];
    if (seen.has(front + back)) continue;
    seen.add(front + back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faults.push(`${e.className || e.tagName}: ${front} on ${back} is hard to read`);
  }
  return faults;
})()"##;

/// Opens the page on each screen and clicks on its shaders, on all or on as many as the screen says; gives how many there are.
fn click_through(browser: &mut Browser, page: &Path, name: &str) -> usize {
    let mut count = 0;
    for (width, height, scheme, step) in SCREENS {
        let screen = format!("{name} at {width}, {scheme}");
        browser.screen(width, height, scheme);
        browser.open(page);
        assert_eq!(browser.eval(FAULTS), serde_json::json!([]), "{screen}");
        let dark = browser.eval("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)";
        assert_eq!(dark, scheme == "dark", "{screen}");
        let equal = browser.eval("[...document.querySelectorAll('nav details')].some((d) => d.open)");
        assert_eq!(equal, false, "{screen}: what is equal is folded away");
        browser.eval("document.querySelectorAll('nav details').forEach((d) => { d.open = true; })");
        let links = browser.eval("[...document.querySelectorAll('nav a')].map((a) => a.hash)");
        let links: Vec<String> = serde_json::from_value(links).expect("a list");
        for link in links.iter().step_by(step) {
            browser.click(&format!("nav a[href='{link}']"));
            let title = browser.eval("[...document.querySelectorAll('section')].find((s) => s.offsetHeight).id");
            assert_eq!(format!("#{}", title.as_str().unwrap_or_default()), *link, "{screen}");
            assert_eq!(browser.eval(FAULTS), serde_json::json!([]), "{screen}, {link}");
        }
        let wide = "[...document.querySelectorAll('pre')].some((p) => p.scrollWidth > p.clientWidth)";
        assert!(width > 400 || browser.eval(wide) == true, "{screen}: long lines scroll in their block");
        browser::save(&format!("{name}-{width}-{scheme}.png"), &browser.picture());
        assert_eq!(browser.of("Runtime.exceptionThrown"), [&serde_json::Value::Null; 0], "{screen}");
        let asked: Vec<_> =
            browser.of("Network.requestWillBeSent").iter().map(|e| e["request"]["url"].clone()).collect();
        let others = asked.iter().filter(|url| !url.as_str().unwrap_or_default().starts_with("file://")).count();
        assert_eq!(others, 0, "{screen} asks other hosts: {asked:?}");
        count = links.len();
    }
    count
}

#[test]
fn every_shader_on_one_page() {
    let Some(mut browser) = browser() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    tilewright(folder.path(), &["diff", "--html", "all.html"]);
    let count = click_through(&mut browser, &folder.path().join("all.html"), "all");
    assert!(count > 40, "only {count} shaders");
}

#[test]
fn old_against_new() {
    let Some(mut browser) = browser() else { return };
    let folder = older();
    tilewright(folder.path(), &["diff", "--against", "HEAD", "--html", "review.html"]);
    let page = folder.path().join("review.html");
    let count = click_through(&mut browser, &page, "against");
    assert!(count > 40, "only {count} shaders");
    // The reader meets a change first, and equal lines are folded until they are asked for.
    browser.screen(1280, 900, "light");
    browser.open(&page);
    let tags = browser.eval("[...document.querySelectorAll('nav .tag')].map((t) => t.textContent)");
    let tags: Vec<String> = serde_json::from_value(tags).expect("a list");
    for tag in ["changed", "new", "gone"] {
        assert!(tags.iter().any(|t| t == tag), "no {tag} in {tags:?}");
    }
    assert!(browser.eval("document.querySelector('nav a[aria-current] .tag') !== null") == true);
    let link =
        browser.eval("[...document.querySelectorAll('nav a')].find((a) => a.textContent === 'coalescedchanged').hash");
    browser.click(&format!("nav a[href='{}']", link.as_str().expect("linear coalesced has changed")));
    let text = "document.querySelector('section:not([hidden])').innerText";
    let shown = browser.eval(text).as_str().expect("text").to_string();
    assert!(shown.contains("total <b> = ") && shown.contains("sum1 = "), "{shown}");
    assert!(shown.contains("equal lines") && !shown.contains("@group(0)"), "{shown}");
    let cost = browser.eval("document.querySelector('section:not([hidden]) td.changed').closest('tr').innerText");
    assert_eq!(
        cost.as_str().map(|t| t.split_whitespace().collect::<Vec<_>>().join(" ")).as_deref(),
        Some("barriers 6 5")
    );
    assert!(shown.contains("target") && shown.contains("webgpu-subgroups") && shown.contains("Loop IR"), "{shown}");
    // A link from elsewhere opens the fold that its shader is in.
    let folded = browser.eval("document.querySelector('nav details a').hash");
    browser.eval(&format!("location.hash = {folded}"));
    browser.eval("new Promise((done) => setTimeout(() => done(1), 100))");
    assert_eq!(browser.eval(FAULTS), serde_json::json!([]));
    assert!(browser.eval("document.querySelector('nav a[aria-current]').closest('details').open") == true);
    browser.eval("history.back()");
    browser.eval("new Promise((done) => setTimeout(() => done(1), 100))");
    browser.click("#near");
    let shown = browser.eval(text).as_str().expect("text").to_string();
    assert!(shown.contains("@group(0)") && !shown.contains("equal lines"), "{shown}");
}

#[test]
fn one_tier_against_another() {
    let Some(mut browser) = browser() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    tilewright(folder.path(), &["diff", "--tiers", "3..4", "--html", "tiers.html"]);
    let page = folder.path().join("tiers.html");
    let count = click_through(&mut browser, &page, "tiers");
    assert!(count >= 3, "only {count} shaders");
    let head = browser.eval("document.querySelector('header').innerText").as_str().expect("text").to_string();
    assert!(head.contains("dispatches of a decode step") && head.contains("attention: one pass"), "{head}");
}
