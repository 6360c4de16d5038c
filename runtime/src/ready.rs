//! Waits for wgpu's futures.
//!
//! Outside a browser they are ready at the first poll, so no executor is needed; a browser is not a target of this crate.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

pub(crate) fn ready<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}
