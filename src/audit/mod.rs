//! What was decided and what became of it: one JSON object per line, opened before anything runs
//! and closed after. Every line goes through the one `append` of `log`.

mod log;
mod record;
pub mod redact;

pub use self::log::{LogError, Opened, Place, enough, open};
pub use self::record::{Closing, DecidedBy, Opening, Record};
