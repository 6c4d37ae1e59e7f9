//! Counts over many records.

use std::collections::{BTreeMap, HashMap};

use jiff::tz::TimeZone;
use serde::Serialize;

use super::look::Look;
use crate::audit::query::Entry;
use crate::commands::moment;

/// So many of a kind are listed.
const TOP: usize = 10;

/// Counts, the largest first where they are ranked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All records.
    pub records: usize,
    /// By verdict.
    pub verdicts: Vec<(String, usize)>,
    /// By who made it final.
    pub decided_by: Vec<(String, usize)>,
    /// Questions that were granted, denied, and left without an answer.
    pub answers: Vec<(String, usize)>,
    /// By program, those that were asked about.
    pub asked_programs: Vec<(String, usize)>,
    /// By rule, those that asked or refused; rules of files and builtin ones.
    pub rules: Vec<(String, usize)>,
    /// By agent.
    pub agents: Vec<(String, usize)>,
    /// By session.
    pub sessions: Vec<(String, usize)>,
    /// Records and questions by day.
    pub days: Vec<(String, usize, usize)>,
    /// Questions by hour of the day, in the order of the clock.
    pub hours: Vec<usize>,
}

/// Counts, while records come.
#[derive(Debug)]
pub struct Counting {
    zone: TimeZone,
    records: usize,
    /// By verdict, by who made it final, answers, programs, rules, agents, sessions.
    counts: [HashMap<String, usize>; 7],
    days: BTreeMap<String, (usize, usize)>,
    hours: Vec<usize>,
}

impl Counting {
    /// Nothing yet; by the days and hours of a zone.
    #[must_use]
    pub fn by(zone: &TimeZone) -> Self {
        Self {
            zone: zone.clone(),
            records: 0,
            counts: Default::default(),
            days: BTreeMap::new(),
            hours: vec![0; 24],
        }
    }

    /// One more record.
    pub fn add(&mut self, entry: &Entry) {
        let asked = entry.asked();
        let [verdicts, by, _, _, rules, agents, sessions] = &mut self.counts;
        self.records += 1;
        count(verdicts, &entry.verdict);
        count(by, &entry.by());
        count(agents, entry.agent.as_deref().unwrap_or("unknown"));
        count(sessions, entry.session.as_deref().unwrap_or("unknown"));
        if entry.verdict != "allow" {
            count(rules, &entry.decided_by_rule());
        }
        let time = moment::of_text(&entry.time, &self.zone);
        let day = self.days.entry(time.get(..10).unwrap_or_default().to_owned()).or_default();
        day.0 += 1;
        if asked {
            day.1 += 1;
            self.add_question(entry, &time);
        }
    }

    fn add_question(&mut self, entry: &Entry, time: &str) {
        let [_, _, answers, programs, ..] = &mut self.counts;
        let hour = time.get(11..13).and_then(|hour| hour.parse::<usize>().ok());
        if let Some(hour) = hour.and_then(|hour| self.hours.get_mut(hour)) {
            *hour += 1;
        }
        let nobody = entry.by() == "nobody";
        let answer = match entry.ran() {
            Some(true) => "granted",
            Some(false) if nobody => "nobody to ask",
            Some(false) => "denied",
            None => "open",
        };
        count(answers, answer);
        entry.facts.programs.iter().for_each(|program| count(programs, program));
    }

    /// All of them.
    #[must_use]
    pub fn end(self) -> Tally {
        let [verdicts, decided_by, answers, programs, rules, agents, sessions] = self.counts.map(ranked);
        Tally {
            records: self.records,
            verdicts,
            decided_by,
            answers,
            asked_programs: top(programs),
            rules: top(rules),
            agents: top(agents),
            sessions: top(sessions),
            days: self.days.into_iter().map(|(day, (all, asked))| (day, all, asked)).collect(),
            hours: self.hours,
        }
    }
}

impl Tally {
    /// How many questions there were.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.days.iter().map(|(_, _, asked)| asked).sum()
    }

    /// For a person, with bars.
    #[must_use]
    pub fn text(&self, look: Look) -> String {
        let asked = self.asked();
        let rate = rate(asked, self.records);
        let mut text = format!("{} records, {asked} asked ({rate})\n", self.records);
        let parts = [
            ("verdicts", &self.verdicts),
            ("decided by", &self.decided_by),
            ("answers", &self.answers),
            ("programs that were asked about", &self.asked_programs),
            ("rules that asked or refused", &self.rules),
            ("agents", &self.agents),
            ("sessions", &self.sessions),
        ];
        for (name, rows) in parts.into_iter().filter(|(_, rows)| !rows.is_empty()) {
            text.push_str(&format!("\n{}\n{}", look.heading(name), look.bars(rows)));
        }
        if asked > 0 {
            let days: Vec<usize> = self.days.iter().map(|(_, _, asked)| *asked).collect();
            let shown = days.get(days.len().saturating_sub(look.width / 2)..).unwrap_or_default();
            let first = self
                .days
                .get(self.days.len() - shown.len())
                .map(|(day, ..)| day.as_str())
                .unwrap_or_default();
            let last = self.days.last().map(|(day, ..)| day.as_str()).unwrap_or_default();
            let most = |counts: &[usize]| counts.iter().copied().max().unwrap_or(0);
            let title = "questions by day, and by hour";
            text.push_str(&format!("\n{}\n", look.heading(title)));
            let highest = format!("  highest: {} a day, {} an hour\n", most(&days), most(&self.hours));
            text.push_str(&look.faint(&highest));
            text.push_str(&format!("  {first} │{}│ {last}\n", look.time_line(shown)));
            text.push_str(&format!("      00:00 │{}│ 23:59\n", look.time_line(&self.hours)));
        }
        text
    }
}

/// A share in hundredths.
pub(crate) fn rate(part: usize, all: usize) -> String {
    format!("{:.1} %", if all == 0 { 0.0 } else { part as f64 * 100.0 / all as f64 })
}

fn count(counts: &mut HashMap<String, usize>, name: &str) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => drop(counts.insert(name.to_owned(), 1)),
    }
}

fn ranked(counts: HashMap<String, usize>) -> Vec<(String, usize)> {
    let mut rows: Vec<_> = counts.into_iter().collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    rows
}

fn top(mut rows: Vec<(String, usize)>) -> Vec<(String, usize)> {
    rows.truncate(TOP);
    rows
}
