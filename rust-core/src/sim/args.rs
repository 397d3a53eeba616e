//! Command-line arguments: a table of flags per subcommand gives parsing, `--help` and error messages from one place.

use super::failure::{Failure, Outcome};
use std::collections::BTreeMap;
use std::str::FromStr;

/// One flag of a subcommand.
#[derive(Debug, Clone, Copy)]
pub struct Flag {
    /// Name with its dashes, such as `--cores`.
    pub name: &'static str,
    /// Placeholder of its value, or "" for a switch.
    pub value: &'static str,
    /// Value when it is not given; "" means none.
    pub default: &'static str,
    /// What it does, for `--help`.
    pub help: &'static str,
}

/// A subcommand: its name, one paragraph, its flags.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// As typed after `slaq`.
    pub name: &'static str,
    /// First lines of its help.
    pub about: &'static str,
    /// All flags it takes.
    pub flags: &'static [Flag],
}

/// The values given to a subcommand.
#[derive(Debug)]
pub struct Args {
    command: Command,
    given: BTreeMap<&'static str, Vec<String>>,
}

impl Command {
    /// Parses what follows the subcommand's name. `--flag value` and `--flag=value` are the same.
    ///
    /// # Errors
    /// An unknown flag, a flag without its value, a stray word.
    pub fn parse(self, words: &[String]) -> Outcome<Args> {
        let mut given: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (name, inline) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            let Some(flag) = self.flags.iter().find(|flag| flag.name == name) else {
                let known: Vec<_> = self.flags.iter().map(|flag| flag.name).collect();
                return Err(Failure::new(format!(
                    "slaq {}: unknown argument \"{name}\"; allowed: {}",
                    self.name,
                    known.join(", ")
                )));
            };
            let value = match (flag.value.is_empty(), inline) {
                (true, None) => String::new(),
                (true, Some(value)) => {
                    return Err(Failure::new(format!("{name} is a switch and takes no value, got \"{value}\"")));
                }
                (false, Some(value)) => value,
                (false, None) => words
                    .next()
                    .cloned()
                    .ok_or_else(|| Failure::new(format!("{name} needs a value: {name} {}", flag.value)))?,
            };
            given.entry(flag.name).or_default().push(value);
        }
        Ok(Args { command: self, given })
    }

    /// The text of `slaq NAME --help`.
    pub fn help(&self) -> String {
        let mut text = format!("slaq {}: {}\n\nFlags:\n", self.name, self.about);
        for flag in self.flags {
            let head = format!("{} {}", flag.name, flag.value);
            let default = if flag.default.is_empty() { String::new() } else { format!(" [default: {}]", flag.default) };
            text.push_str(&format!("  {head:<24} {}{default}\n", flag.help));
        }
        text
    }
}

impl Args {
    /// Whether the switch was given.
    pub fn switch(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// The last value given, else the default, else `None`.
    pub fn text(&self, name: &str) -> Option<&str> {
        let given = self.given.get(name).and_then(|values| values.last()).map(String::as_str);
        given
            .or_else(|| self.command.flags.iter().find(|flag| flag.name == name).map(|flag| flag.default))
            .filter(|value| !value.is_empty())
    }

    /// All values given to a repeatable flag, in order.
    pub fn all(&self, name: &str) -> &[String] {
        self.given.get(name).map_or(&[], Vec::as_slice)
    }

    /// The value as a number for which `allowed` holds; `None` when neither given nor defaulted.
    ///
    /// # Errors
    /// Not a number, or not allowed: the message names the flag, the value and `range`, the words for what is allowed.
    pub fn number<T: FromStr + Copy>(
        &self,
        name: &str,
        range: &str,
        allowed: impl Fn(T) -> bool,
    ) -> Outcome<Option<T>> {
        self.text(name).map(|text| number(name, text, range, allowed)).transpose()
    }

    /// As [`Args::number`] for a flag that has a default.
    ///
    /// # Errors
    /// As [`Args::number`].
    pub fn required<T: FromStr + Copy>(&self, name: &str, range: &str, allowed: impl Fn(T) -> bool) -> Outcome<T> {
        self.number(name, range, allowed)?
            .ok_or_else(|| Failure::new(format!("slaq {}: {name} is missing; allowed: {range}", self.command.name)))
    }

    /// The value split in two numbers at `:`.
    ///
    /// # Errors
    /// Not two numbers, or not allowed, as [`Args::number`].
    pub fn pair(&self, name: &str, range: &str, allowed: impl Fn(f64, f64) -> bool) -> Outcome<Option<(f64, f64)>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let parsed = text.split_once(':').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
        match parsed {
            Some((a, b)) if allowed(a, b) => Ok(Some((a, b))),
            _ => Err(not_allowed(name, text, range)),
        }
    }
}

/// Parses one number and checks it.
///
/// # Errors
/// As [`Args::number`].
pub fn number<T: FromStr + Copy>(name: &str, text: &str, range: &str, allowed: impl Fn(T) -> bool) -> Outcome<T> {
    text.trim().parse().ok().filter(|value| allowed(*value)).ok_or_else(|| not_allowed(name, text, range))
}

/// The message for a value outside its range.
pub fn not_allowed(name: &str, text: &str, range: &str) -> Failure {
    Failure::new(format!("{name}: \"{text}\" is not allowed; allowed: {range}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: Command = Command {
        name: "try",
        about: "for the tests",
        flags: &[
            Flag { name: "--cores", value: "N", default: "8", help: "cores" },
            Flag { name: "--grid", value: "", default: "", help: "grid" },
            Flag { name: "--pair", value: "A:B", default: "", help: "pair" },
        ],
    };

    fn parse(words: &[&str]) -> Outcome<Args> {
        COMMAND.parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn values_come_from_the_line_or_the_default() {
        let args = parse(&["--cores=4", "--grid"]).unwrap();
        assert_eq!(args.required("--cores", "whole number", |n: u32| n > 0).unwrap(), 4);
        assert!(args.switch("--grid"));
        assert_eq!(parse(&[]).unwrap().required("--cores", "whole number", |n: u32| n > 0).unwrap(), 8);
        assert_eq!(parse(&["--pair", "2:3.5"]).unwrap().pair("--pair", "a:b", |a, b| a < b).unwrap(), Some((2.0, 3.5)));
    }

    #[test]
    fn a_bad_value_is_named_with_its_flag_and_what_is_allowed() {
        let message = |words: &[&str]| {
            parse(words)
                .and_then(|args| args.required("--cores", "whole number >= 1", |n: u32| n > 0))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(message(&["--cores", "many"]), "--cores: \"many\" is not allowed; allowed: whole number >= 1");
        assert_eq!(message(&["--cores", "0"]), "--cores: \"0\" is not allowed; allowed: whole number >= 1");
        assert_eq!(message(&["--cores"]), "--cores needs a value: --cores N");
        assert_eq!(message(&["--grid=1"]), "--grid is a switch and takes no value, got \"1\"");
        assert_eq!(message(&["--colour"]), "slaq try: unknown argument \"--colour\"; allowed: --cores, --grid, --pair");
    }
}
