//! `gsh audit …` as typed, and as meant.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::audit::query::Filter;
use crate::commands::audit::export::{Format, Place};
use crate::commands::audit::{Call, Manner};

/// A call with what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditCall {
    /// What is wanted.
    pub call: Call,
    /// Of which records, and how.
    pub manner: Manner,
}

/// As typed.
#[derive(Debug, Args)]
pub(super) struct Audit {
    #[command(subcommand)]
    what: Option<Verb>,
    #[command(flatten)]
    which: Which,
    /// As JSON
    #[arg(long, global = true)]
    json: bool,
    /// Lists with each record's name, as `show` takes it
    #[arg(long, global = true)]
    names: bool,
}

/// Which records.
#[derive(Debug, Args)]
struct Which {
    /// Not older than this: 2h, 3d, 2026-11-30 (a day here) or a full time
    #[arg(long, global = true, value_name = "WHEN", value_parser = since)]
    since: Option<String>,
    /// Of this session
    #[arg(long, global = true, value_name = "NAME")]
    session: Option<String>,
    /// Of this agent
    #[arg(long, global = true, value_name = "NAME")]
    agent: Option<String>,
    /// allow, review, ask or deny
    #[arg(long, global = true, value_parser = ["allow", "review", "ask", "deny"])]
    verdict: Option<String>,
    /// With this program
    #[arg(long, global = true, value_name = "NAME")]
    program: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// The last records
    Tail {
        /// Go on as records come
        #[arg(short, long)]
        follow: bool,
        /// So many
        #[arg(short = 'n', default_value_t = 20)]
        count: usize,
    },
    /// All of one record, or the time line of a session
    Show {
        /// A record's name or its beginning, a session's, or job:NUMBER; without one, the newest record
        what: Option<String>,
    },
    /// Records with a text in command, directory, reason or rule
    Search {
        /// The text
        text: String,
        /// At most so many, the newest
        #[arg(short = 'n', default_value_t = 1000)]
        count: usize,
    },
    /// Counts, with bars
    Stats,
    /// Whether the chain of hashes holds; exit status 1 when it does not
    Verify {
        /// A hash, kept elsewhere, that must be in the chain
        #[arg(long, value_name = "HASH")]
        expect: Option<String>,
    },
    /// What another configuration would have said
    Replay {
        /// The configuration
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
    },
    /// For other programs, printed or sent to a collector
    Export {
        /// csv, json, ocsf, otlp, syslog or journal
        #[arg(long, value_name = "FORM", value_parser = format, default_value = "json")]
        format: Format,
        /// http://HOST:4318 for otlp; unix:PATH, udp:HOST:514 or tcp:HOST:601 for syslog; journal for this
        /// machine's own, or unix:PATH
        #[arg(long, value_name = "PLACE", value_parser = place)]
        to: Option<Place>,
    },
    /// A page with charts
    Report {
        /// Where it goes
        #[arg(long, value_name = "FILE")]
        html: PathBuf,
    },
}

fn format(word: &str) -> Result<Format, String> {
    Format::from_word(word)
        .ok_or_else(|| format!("{word}: not one of csv, json, ocsf, otlp, syslog, journal"))
}

fn place(word: &str) -> Result<Place, String> {
    let like = "not like http://HOST:PORT, unix:PATH, udp:HOST:PORT, tcp:HOST:PORT or journal";
    Place::from_word(word).ok_or_else(|| format!("{word}: {like}"))
}

/// A moment as records write it.
fn since(word: &str) -> Result<String, String> {
    let unit = |unit: &str| word.strip_suffix(unit).and_then(|number| number.parse::<i64>().ok());
    let seconds = [("m", 60), ("h", 3600), ("d", 86_400)]
        .into_iter()
        .find_map(|(name, seconds)| unit(name)?.checked_mul(seconds));
    if let Some(seconds) = seconds {
        let span = Span::new().try_seconds(seconds).map_err(|error| error.to_string())?;
        return Timestamp::now().checked_sub(span).map(as_recorded).map_err(|error| error.to_string());
    }
    if let Ok(moment) = word.parse::<Timestamp>() {
        return Ok(as_recorded(moment));
    }
    let midnight = |day: Date| TimeZone::system().to_timestamp(day.to_datetime(Time::midnight()));
    let day = word.parse::<Date>().and_then(midnight);
    day.map(as_recorded).map_err(|_| format!("{word}: not like 2h, 3d, 2026-11-30 or a full time"))
}

/// Without its end, so that as a text it comes before every part of its second.
fn as_recorded(moment: Timestamp) -> String {
    moment.to_string().trim_end_matches('Z').to_owned()
}

impl Audit {
    /// What it means.
    pub(super) fn into_call(self) -> AuditCall {
        let Which { since, session, agent, verdict, program } = self.which;
        let mut filter = Filter { since, session, agent, verdict, program, text: None, named: None };
        let call = match self.what.unwrap_or(Verb::Tail { follow: false, count: 20 }) {
            Verb::Tail { follow, count } => Call::Tail { follow, count },
            Verb::Show { what } => Call::Show { what },
            Verb::Search { text, count } => {
                filter.text = Some(text);
                Call::Search { count }
            }
            Verb::Stats => Call::Stats,
            Verb::Verify { expect } => Call::Verify { expect },
            Verb::Replay { config } => Call::Replay { config },
            Verb::Export { format, to } => Call::Export { format, to },
            Verb::Report { html } => Call::Report { html },
        };
        AuditCall { call, manner: Manner { filter, json: self.json, names: self.names } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        for (word, fits) in [
            ("2h", true),
            ("3d", true),
            ("2026-11-30", true),
            ("2026-11-30T01:02:03Z", true),
            ("soon", false),
            ("-", false),
        ] {
            assert_eq!(since(word).is_ok(), fits, "{word}");
        }
        assert!(since("1d").is_ok_and(|then| then < Timestamp::now().to_string()));
    }
}
