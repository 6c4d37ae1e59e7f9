//! Lengths of time as people write them: `90`, `90s`, `1.5m`, `2h`, `250ms`.

use std::time::Duration;

/// The units, in milliseconds.
const UNITS: [(&str, f64); 5] = [("ms", 1.0), ("s", 1e3), ("m", 60e3), ("h", 3_600e3), ("d", 86_400e3)];

/// The length that a text means; seconds without a unit. None for anything else, and for what is longer
/// than a century.
#[must_use]
pub fn parse(text: &str) -> Option<Duration> {
    let text = text.trim();
    let number = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = text.strip_prefix(number)?;
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let scale = if unit.is_empty() { 1e3 } else { UNITS.iter().find(|(name, _)| *name == unit)?.1 };
    let milliseconds = number.parse::<f64>().ok().filter(|_| plain)? * scale;
    (milliseconds < 36_525.0 * 86_400e3).then(|| Duration::from_secs_f64(milliseconds / 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time() {
        let table = [
            ("90", Some(90_000)),
            ("1.5m", Some(90_000)),
            ("250ms", Some(250)),
            (" 2h ", Some(7_200_000)),
            ("1d", Some(86_400_000)),
            ("0", Some(0)),
            ("", None),
            ("s", None),
            ("-1", None),
            ("1e9", None),
            ("1 week", None),
            ("inf", None),
            ("99999999999d", None),
        ];
        for (text, milliseconds) in table {
            assert_eq!(parse(text), milliseconds.map(Duration::from_millis), "{text:?}");
        }
    }
}
