//! Moments as people read them: in the zone of this machine (`TZ`, or what the system says). Data stays in UTC.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A moment to the second.
#[must_use]
pub fn shown(time: Timestamp, zone: &TimeZone) -> String {
    zone.to_datetime(time).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// The same of a text from a record; what is no moment stays as it is.
#[must_use]
pub fn of_text(text: &str, zone: &TimeZone) -> String {
    text.parse().map_or_else(|_| text.to_owned(), |time| shown(time, zone))
}

/// How the zone is called, for a heading.
#[must_use]
pub fn name(zone: &TimeZone) -> String {
    match zone.iana_name() {
        Some(name) => name.to_owned(),
        None => zone.to_offset(Timestamp::now()).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_zone_is_another_day() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let table = [
            ("2026-01-01T00:00:00Z", "2026-01-01 02:00:00"),
            ("2025-12-31T22:30:59.123Z", "2026-01-01 00:30:59"),
            ("soon", "soon"),
        ];
        for (text, expected) in table {
            assert_eq!(of_text(text, &zone), expected);
        }
        assert_eq!(name(&zone), "+02");
        assert_eq!(name(&TimeZone::UTC), "UTC");
    }
}
