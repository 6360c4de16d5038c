//! The runtime on this machine's adapter. Without one these tests fail: CI installs a software driver.

#[path = "../at_hand/mod.rs"]
mod at_hand;
mod errors;
mod graphs;
mod hlsl;
mod measures;
mod once;
mod saxpy;

use std::sync::OnceLock;
use tilewright_runtime::{AdapterChoice, Device};

/// The default adapter, opened once.
fn device() -> &'static Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    DEVICE.get_or_init(|| match Device::open(&AdapterChoice::Best, None) {
        Ok(device) => device,
        Err(error) => panic!("{error}"),
    })
}
