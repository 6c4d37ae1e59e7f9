//! The fuzz target: any bytes are a text and a machine (see `input.rs`), on which the invariants hold.
#![no_main]

use std::sync::LazyLock;

use gsh::policy::Policy;
use libfuzzer_sys::{Corpus, fuzz_target};

#[path = "../common/fixture.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod fixture;
mod input;
mod invariants;
#[path = "../common/policy.rs"]
mod policy;

static POLICY: LazyLock<Policy> = LazyLock::new(policy::builtin_policy);

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let input = input::Input::read(bytes);
    if input.request.text.len() > 64 * 1024 {
        return Corpus::Reject;
    }
    invariants::hold(&input, &POLICY);
    Corpus::Keep
});
