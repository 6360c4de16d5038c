//! The program as people and scripts meet it: arguments and folders in; exit code, stdout and stderr out.
//!
//! Every test runs the built binary. What needs no GPU runs on the interpreter, so that a failure here is the command line's own.
//! The rule: an error is one message that names the file or flag, what was found and what was expected; its exit code is 2 where
//! the command line is wrong, and 1 elsewhere; nothing panics and nothing hangs.

#[path = "../../runtime/tests/at_hand/mod.rs"]
mod at_hand;
mod bench;
mod devices;
mod diff;
mod draft;
mod explain;
mod files;
mod generate;
mod hlsl;
mod lab;
mod prompts;
mod quality;
mod readme;
mod report;
mod run;
mod schedules;
mod shaders;
mod streams;
mod tune;
mod usage;
mod variants;
