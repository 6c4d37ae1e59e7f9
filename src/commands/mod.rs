//! What the verbs print.

pub mod approvals;
pub mod audit;
pub mod brief;
pub mod check;
pub mod doctor;
pub mod doors;
pub mod explain;
pub mod grants;
pub mod hook;
pub mod init;
pub mod jobs;
pub mod moment;
pub mod rules;
pub mod simulate;
pub mod status;
pub mod trust;
pub mod wrap;
