//! The DXC of a test: what `cargo xtask test` set up, or nothing with a loud word.

use std::path::Path;
use tilewright_runtime::{DXC_FILE, DXC_VARIABLE, Dxc};

/// DXC, if it is here. Without it a test that needs it says so and ends; it fails where nothing may be skipped.
pub fn dxc() -> Option<Dxc> {
    let fetched = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../dxc").join(DXC_FILE);
    let named = std::env::var_os(DXC_VARIABLE).is_some();
    let found = if named || !fetched.is_file() { Dxc::find(None) } else { Dxc::open(&fetched) };
    match found {
        Ok(dxc) => Some(dxc),
        Err(error) if named || std::env::var_os("TILEWRIGHT_NO_SKIPS").is_some_and(|v| v == "1") => panic!("{error}"),
        Err(error) => {
            eprintln!("SKIPPED: nothing says whether the HLSL is right: {error}");
            None
        }
    }
}
