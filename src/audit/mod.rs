//! What was decided and what became of it: one JSON object per line, opened before anything runs and
//! closed after, with what a person said in between. Every line goes through the one `append` of `chain`.

pub mod chain;
mod debug;
pub mod keep;
mod log;
pub mod query;
mod record;
pub mod redact;
pub mod replay;

pub use self::log::{LogError, Opened, Place, begin, open};
pub use self::record::{
    Closing, Context, DecidedBy, Event, Hooked, Lasting, Opening, Ran, Record, Supervised, content_of, new_id,
};
