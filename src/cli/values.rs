//! The values that flags take. Whoever writes something else is told what was expected, with an
//! example that would have worked.

use loop_core::workflow::resolve::parse_length;

/// How many of something: at least one.
pub(super) fn count(text: &str) -> Result<u32, String> {
    whole(text).and_then(|it| u32::try_from(it).map_err(|_| format!("write at most {}", u32::MAX)))
}

/// The number of an event or a call.
pub(super) fn number(text: &str) -> Result<i64, String> {
    whole(text).and_then(|it| i64::try_from(it).map_err(|_| "write a smaller number".to_owned()))
}

/// The same for what is counted in millions.
pub(super) fn large_count(text: &str) -> Result<u64, String> {
    whole(text)
}

/// A number that random events come from.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "write a whole number, such as 7".to_owned())
}

fn whole(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("write a whole number from 1, such as 5".to_owned()),
        Ok(number) => Ok(number),
    }
}

/// A length of time, in milliseconds.
pub(super) fn length(text: &str) -> Result<u64, String> {
    parse_length(text).map_err(|why| match text.trim().parse::<u32>() {
        Ok(number @ 1..) => format!("write {number}m, 90s or 1h30m"),
        Ok(0) => "write more than 0: 2m, 90s or 1h30m".to_owned(),
        Err(_) => format!("{why}; write 2m, 90s or 1h30m"),
    })
}

/// An amount of dollars.
pub(super) fn dollars(text: &str) -> Result<f64, String> {
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(amount) if amount.is_finite() && 0.01 <= amount => Ok(amount),
        Ok(amount) if 0.0 < amount && amount < 0.01 => {
            Err("less than a cent buys no call; write dollars such as 5 or 2.50".to_owned())
        }
        Ok(_) | Err(_) => Err("write dollars above 0, such as 5 or 2.50".to_owned()),
    }
}

/// Words that must say something.
pub(super) fn name(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("it must not be empty".to_owned()) } else { Ok(text.to_owned()) }
}

/// A program with its words, or the command of a check. What we print has a mark in the place of each secret, and a
/// command line that is pasted with it would give that word for the secret.
pub(super) fn command(text: &str) -> Result<String, String> {
    if loop_base::secret::has_mark(text) {
        return Err("write the secret itself in place of the mark, or name a script that reads it".to_owned());
    }
    name(text)
}

/// A pattern for paths.
pub(super) fn glob(text: &str) -> Result<String, String> {
    match globset::Glob::new(text) {
        Ok(_) if !text.is_empty() => Ok(text.to_owned()),
        Ok(_) | Err(_) => Err("not a path pattern; write one such as tests/old_*.py".to_owned()),
    }
}

/// A number of seconds that somebody waits for.
pub(super) fn seconds(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(number @ 1..=3600) => Ok(number),
        Ok(_) | Err(_) => Err("write whole seconds from 1 to 3600, such as 300".to_owned()),
    }
}
