//! The `slaq` command: forecasts, simulations and plans of the scheduler's engine, without a JVM.

use slaq_core::sim::args::Command;
use slaq_core::sim::failure::{Failure, Outcome};
use slaq_core::sim::{args::Args, evaluate, plan_bench, seconds, simulate};
use std::io::Write;
use std::process::ExitCode;

/// A subcommand and what carries it out.
type Entry = (Command, fn(&Args) -> Outcome<String>);

const ENTRIES: [Entry; 4] = [
    (evaluate::COMMAND, evaluate::run),
    (seconds::COMMAND, seconds::run),
    (simulate::COMMAND, simulate::run),
    (plan_bench::COMMAND, plan_bench::run),
];

fn main() -> ExitCode {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("warn")).init();
    let words: Vec<String> = std::env::args().skip(1).collect();
    match answer(&words) {
        Ok(text) => {
            // A reader that closes early, as `head` does, has seen what it wanted.
            let _ = std::io::stdout().write_all(text.as_bytes());
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("slaq: {failure}");
            ExitCode::from(2)
        }
    }
}

fn answer(words: &[String]) -> Outcome<String> {
    let Some((name, rest)) = words.split_first() else {
        return Err(Failure::new(usage()));
    };
    if matches!(name.as_str(), "--help" | "-h" | "help") {
        return Ok(usage());
    }
    if matches!(name.as_str(), "--version" | "-V") {
        return Ok(format!("slaq {}\n", env!("CARGO_PKG_VERSION")));
    }
    let Some((command, run)) = ENTRIES.iter().find(|(command, _)| command.name == name) else {
        let known: Vec<_> = ENTRIES.iter().map(|(command, _)| command.name).collect();
        return Err(Failure::new(format!("unknown subcommand \"{name}\"; allowed: {}", known.join(", "))));
    };
    if rest.iter().any(|word| word == "--help" || word == "-h") {
        return Ok(command.help());
    }
    run(&command.parse(rest)?)
}

fn usage() -> String {
    let mut text = "slaq SUBCOMMAND [FLAGS], with --help for each:\n".to_owned();
    for (command, _) in &ENTRIES {
        text.push_str(&format!("  {:<12} {}\n", command.name, command.about.lines().next().unwrap_or_default()));
    }
    text
}
