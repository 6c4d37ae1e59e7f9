//! What the tests share.
pub(crate) mod cases;
pub(crate) mod fixture;
pub(crate) mod machine;
pub(crate) mod policy;

pub(crate) use policy::builtin_policy;
