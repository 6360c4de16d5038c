//! A real browser without a window, driven over a pair of pipes (Chrome DevTools Protocol).

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Names under which it is installed.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A browser with one page.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: String,
    next: u64,
    /// Events that came while an answer was waited for.
    events: Vec<Value>,
    _profile: TempDir,
}

/// The program, if it is installed.
pub fn installed() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).flat_map(|folder| NAMES.map(|name| folder.join(name))).find(|file| file.is_file())
}

impl Browser {
    /// Starts it with an empty profile.
    pub fn start(program: &Path) -> Browser {
        let profile = tempfile::tempdir().expect("a temporary folder");
        // The protocol is spoken over the descriptors 3 and 4.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null", "sh"]).arg(program);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe"]);
        command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the browser starts");
        let (to, from) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let (from, session) = (BufReader::new(from), String::new());
        let mut browser = Browser { child, to, from, session, next: 0, events: Vec::new(), _profile: profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached =
            browser.call("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].as_str().expect("a session").into();
        for domain in ["Page", "Runtime", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Plays a screen of this size and colour scheme.
    pub fn screen(&mut self, width: u32, height: u32, scheme: &str) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.call("Emulation.setEmulatedMedia", json!({ "features": [feature] }));
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&mut self, file: &Path) {
        self.events.clear();
        self.call("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        let end = Instant::now() + Duration::from_secs(60);
        while self.of("Page.loadEventFired").is_empty() {
            assert!(Instant::now() < end, "{} is not loaded", file.display());
            let event = self.read();
            self.events.push(event);
        }
    }

    /// The value of an expression.
    pub fn eval(&mut self, script: &str) -> Value {
        let asked = json!({ "expression": script, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{script}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Clicks with the mouse into the middle of what a selector finds.
    pub fn click(&mut self, selector: &str) {
        let selector = json!(selector);
        let at = self.eval(&format!(
            "(() => {{ const e = document.querySelector({selector}); e.scrollIntoView({{ block: 'center' }}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
        // Navigation within the page and a frame's layout come after the click.
        self.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))");
    }

    /// Events of a kind since the page was opened.
    pub fn of(&self, method: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["method"] == method).map(|event| &event["params"]).collect()
    }

    /// A picture of the page, in base64.
    pub fn picture(&mut self) -> String {
        self.call("Page.captureScreenshot", json!({}))["data"].as_str().unwrap_or_default().into()
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        let text = message.to_string() + "\0";
        self.to.write_all(text.as_bytes()).expect("the browser listens");
        loop {
            let answer = self.read();
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).expect("the browser answers");
        assert_eq!(bytes.pop(), Some(0), "the browser is gone");
        serde_json::from_slice(&bytes).expect("it speaks JSON")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Puts pictures where a person can look at them.
pub fn save(name: &str, base64: &str) {
    let Some(folder) = std::env::var_os("TILEWRIGHT_PICTURES") else { return };
    let path = PathBuf::from(folder).join(name);
    let digits = base64.bytes().filter_map(|b| {
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".iter().position(|c| *c == b)
    });
    let mut bytes = Vec::new();
    let (mut held, mut bits) = (0u32, 0);
    for digit in digits {
        (held, bits) = (held << 6 | digit as u32, bits + 6);
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
        }
    }
    fs::write(&path, bytes).unwrap_or_else(|e| panic!("cannot write {}: {e}", path.display()));
}
