//! Times, sizes and counts as people write and read them: `500ms`, `4GiB`, `1,000,000`.
//!
//! Invariant: what is shown can be given back (`4 GiB` without the blank), and parsing never panics or wraps.

use std::time::Duration;

const KIB: f64 = 1024.0;

/// The units of time, each with its length in seconds.
const TIMES: &[(&str, f64)] = &[("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("min", 60.0), ("h", 3600.0)];

/// The units of size, each with its length in bytes.
const SIZES: &[(&str, f64)] = &[
    ("B", 1.0),
    ("KiB", KIB),
    ("MiB", KIB * KIB),
    ("GiB", KIB * KIB * KIB),
    ("TiB", KIB * KIB * KIB * KIB),
    ("K", KIB),
    ("M", KIB * KIB),
    ("G", KIB * KIB * KIB),
    ("T", KIB * KIB * KIB * KIB),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
];

/// A limit of time: `500ms`, `60s`, `5m`, `1.5h`; `none` for no limit.
pub fn time(text: &str) -> Result<Option<Duration>, String> {
    if text == "none" {
        return Ok(None);
    }
    let seconds = quantity(text, TIMES, "a time such as 500ms, 60s, 5m or 1h, or none")?;
    Duration::try_from_secs_f64(seconds).map(Some).map_err(|_| "the time is too long; none means no limit".to_owned())
}

/// A size in bytes: `512MiB`, `4GiB`, `1.5G`.
pub fn size(text: &str) -> Result<u64, String> {
    let bytes = quantity(text, SIZES, "a size such as 512MiB or 4GiB")?;
    if bytes < 1.0 {
        return Err("the size must be at least one byte".to_owned());
    }
    // The cast saturates: more than 2⁶⁴ bytes is as good as no limit.
    Ok(bytes as u64)
}

fn quantity(text: &str, units: &[(&str, f64)], expected: &str) -> Result<f64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim_start();
    let number: f64 = number.parse().map_err(|_| format!("expected {expected}"))?;
    if number == 0.0 {
        return Err("the limit must be more than zero".to_owned());
    }
    if unit.is_empty() {
        return Err(format!("a unit is missing: expected {expected}"));
    }
    let known = units.iter().find(|(name, _)| unit.eq_ignore_ascii_case(name) && unambiguous(unit, name));
    let (_, factor) = known.ok_or_else(|| format!("the unit `{unit}` is not known: expected {expected}"))?;
    Ok(number * factor)
}

/// Case does not matter, except that a lone capital `M` is not a minute.
fn unambiguous(unit: &str, name: &str) -> bool {
    unit == name || unit != "M"
}

/// A time as people read it.
pub fn show_time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds > 0.0 && seconds < 1.0 {
        format!("{} ms", trim(seconds * 1e3))
    } else if seconds < 120.0 {
        format!("{} s", trim(seconds))
    } else if seconds < 7200.0 {
        format!("{} m", trim(seconds / 60.0))
    } else {
        format!("{} h", trim(seconds / 3600.0))
    }
}

/// A size as people read it.
pub fn show_size(bytes: u64) -> String {
    let mut number = bytes as f64;
    let mut unit = "B";
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if number < KIB {
            break;
        }
        (number, unit) = (number / KIB, next);
    }
    format!("{} {unit}", trim(number))
}

/// One decimal at most, and none that is zero.
fn trim(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A count with separators: `1,000,000`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 part`, `2 parts`.
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let ms = |ms| Ok(Some(Duration::from_millis(ms)));
        for (text, expected) in [
            ("500ms", ms(500)),
            ("60s", ms(60_000)),
            ("5m", ms(300_000)),
            ("5min", ms(300_000)),
            ("1.5h", ms(5_400_000)),
            ("0.25s", ms(250)),
            ("2 s", ms(2_000)),
            ("none", Ok(None)),
        ] {
            assert_eq!(time(text), expected, "{text}");
        }
    }

    #[test]
    fn sizes_are_read() {
        for (text, expected) in
            [("4GiB", 4 << 30), ("512MiB", 512 << 20), ("1.5G", 3 << 29), ("2GB", 2_000_000_000), ("64kib", 64 << 10)]
        {
            assert_eq!(size(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_limit_is_refused() {
        for text in ["", "60", "s", "-1s", "1.2.3s", "0s", "10 parsecs", "5M", "NaNs", "infs", "1e3s", "½s"] {
            assert!(time(text).is_err(), "{text}");
        }
        for text in ["", "4", "GiB", "-1GiB", "0B", "0.5B", "4 gigs"] {
            assert!(size(text).is_err(), "{text}");
        }
        assert_eq!(size(&format!("{}TiB", "9".repeat(400))), Ok(u64::MAX));
        assert!(time(&format!("{}h", "9".repeat(400))).is_err());
    }

    #[test]
    fn errors_say_what_was_expected() {
        assert_eq!(time("60").unwrap_err(), "a unit is missing: expected a time such as 500ms, 60s, 5m or 1h, or none");
        assert_eq!(size("4 gigs").unwrap_err(), "the unit `gigs` is not known: expected a size such as 512MiB or 4GiB");
    }

    #[test]
    fn quantities_are_shown() {
        assert_eq!(show_size(4 << 30), "4 GiB");
        assert_eq!(show_size(1536 << 20), "1.5 GiB");
        assert_eq!(show_size(17), "17 B");
        assert_eq!(show_time(Duration::from_secs(60)), "60 s");
        assert_eq!(show_time(Duration::from_millis(500)), "500 ms");
        assert_eq!(show_time(Duration::ZERO), "0 s");
        assert_eq!(show_time(Duration::from_secs(600)), "10 m");
        assert_eq!([0, 999, 1000, 1234567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([counted(1, "part"), counted(1000, "part")], ["1 part", "1,000 parts"]);
    }
}
