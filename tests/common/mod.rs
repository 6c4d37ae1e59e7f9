//! What the tests share.
pub(crate) mod cases;
pub(crate) mod fixture;
pub(crate) mod machine;
pub(crate) mod policy;
pub(crate) mod secrets;
pub(crate) mod terminal;

pub(crate) use policy::builtin_policy;
