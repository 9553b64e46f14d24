//! `cargo verify`: everything that must hold before a change lands, in one list.
//!
//! Every step is shown when it begins and when it ends. A failing step does not stop the others; the last line counts
//! tests, not steps, and the exit code is zero only when all of them passed.

use crate::cargo::{CHIPS, M0, M4, MICROPHONE, cargo, chip_image};
use crate::{cost, events, faults, gates, generate, parity, selftest, setup};
use anyhow::{Result, bail};
use std::io::{IsTerminal, Write};
use std::process::Command;
use std::time::Instant;

/// What a step found.
#[derive(Default)]
pub struct Tally {
    pub passed: usize,
    /// One text for each failed test.
    pub failures: Vec<String>,
    /// What a reader may want to know although all went well.
    pub notes: Vec<String>,
}

impl Tally {
    pub fn one() -> Self {
        Self { passed: 1, ..Self::default() }
    }

    pub fn check(&mut self, outcome: Result<()>) {
        match outcome {
            Ok(()) => self.passed += 1,
            Err(reason) => self.failures.push(format!("{reason:#}")),
        }
    }
}

pub struct Options {
    /// Only the steps whose names contain one of these words; all when there is none.
    pub words: Vec<String>,
    /// Write the measured costs to budget.toml instead of comparing them.
    pub record: bool,
}

pub fn run(options: &Options) -> Result<u8> {
    let begin = Instant::now();
    setup::everything()?;
    let mut total = Tally::default();
    let is_wanted = |name: &str| options.words.is_empty() || options.words.iter().any(|word| name.contains(word));
    for (name, step) in steps(options).into_iter().filter(|(name, _)| is_wanted(name)) {
        print!("{name:<58}");
        let _ = std::io::stdout().flush();
        let begin = Instant::now();
        let tally = step().unwrap_or_else(|reason| Tally { failures: vec![format!("{reason:#}")], ..Tally::default() });
        let verdict = match tally.failures.len() {
            0 => format!("{:>4} passed", tally.passed),
            failed => format!("{failed:>4} {}", paint("FAILED", "31")),
        };
        println!("{verdict} {:>7.1} s", begin.elapsed().as_secs_f32());
        for note in &tally.notes {
            println!("    {note}");
        }
        for failure in &tally.failures {
            println!("{}", indent(failure));
        }
        total.passed += tally.passed;
        total.failures.extend(tally.failures.into_iter().map(|_| name.clone()));
    }
    let failed = total.failures.len();
    // The last line stands alone: machines look for it.
    println!("\n{:.0} s\n{} passed, {failed} failed", begin.elapsed().as_secs_f32(), total.passed);
    Ok(u8::from(failed > 0))
}

type Step<'a> = (String, Box<dyn Fn() -> Result<Tally> + 'a>);

fn steps(options: &Options) -> Vec<Step<'_>> {
    let mut steps: Vec<Step> = vec![
        ("formatting".to_owned(), Box::new(|| succeeds(cargo(&["fmt", "--all", "--check"])))),
        ("clippy, laptop".to_owned(), Box::new(|| succeeds(clippy(&["--workspace", "--all-targets"], "host-tuple")))),
    ];
    for chip in CHIPS {
        // In release, like the images: what their macros and build scripts need is built once.
        let step = move || succeeds(clippy(&["--release", "--lib", "--bins"], chip.target));
        steps.push((format!("clippy, {}", chip.name), Box::new(step)));
    }
    steps.push(("tests on the laptop".to_owned(), Box::new(host_tests)));
    for chip in CHIPS {
        steps.push((format!("kernels against portable ones, {}", chip.name), Box::new(move || selftest::check(chip))));
    }
    for chip in CHIPS {
        steps.push((format!("layers against the laptop's, {}", chip.name), Box::new(move || parity::check(chip))));
    }
    steps.push(("layers against the laptop's, 16 KB micro:bit".to_owned(), Box::new(parity::check_microbit)));
    for chip in [M4, M0] {
        steps.push((format!("the same text as on the laptop, {}", chip.name), Box::new(move || generate::check(chip))));
    }
    for chip in [M0, M4] {
        steps.push((format!("events against the laptop's, {}", chip.name), Box::new(move || events::check(chip))));
    }
    steps.push(("the firmware with a microphone links".to_owned(), Box::new(microphone)));
    for chip in CHIPS {
        steps.push((format!("bad ends, {}", chip.name), Box::new(move || faults::check(chip))));
    }
    steps.push(("what every kernel costs, Cortex-M4".to_owned(), Box::new(|| cost::check(M4))));
    steps.push(("gate: no floating point in the firmware".to_owned(), Box::new(gates::float::check)));
    steps.push(("gate: no panic in a model's step".to_owned(), Box::new(gates::panic::check)));
    steps.push(("gate: the firmware tells its true cost".to_owned(), Box::new(gates::clock::check)));
    let record = options.record;
    steps.push((
        "gate: memory and instructions of each model".to_owned(),
        Box::new(move || gates::budget::check(record)),
    ));
    steps
}

fn clippy(arguments: &[&str], target: &str) -> Command {
    let mut command = cargo(&["clippy", "--quiet"]);
    command.args(arguments).args(["--target", target, "--", "--deny", "warnings"]);
    command
}

/// A command that says by its exit code whether all is well.
fn succeeds(mut command: Command) -> Result<Tally> {
    let output = command.output()?;
    if !output.status.success() {
        bail!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    }
    Ok(Tally::one())
}

/// No emulator has a microphone: that the image for the board links, within its memory, is all that can be seen here.
fn microphone() -> Result<Tally> {
    chip_image(MICROPHONE, "firmware", &["microphone"])?;
    Ok(Tally::one())
}

/// Unit, integration and documentation tests of all crates.
fn host_tests() -> Result<Tally> {
    let output = cargo(&["test", "--workspace", "--target", "host-tuple", "--no-fail-fast"]).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut tally = count_tests(&text);
    if tally.passed == 0 || (!output.status.success() && tally.failures.is_empty()) {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    if !tally.failures.is_empty() {
        tally.notes.push(failure_details(&text));
    }
    Ok(tally)
}

/// Reads what Rust's test harness prints.
fn count_tests(text: &str) -> Tally {
    let mut tally = Tally::default();
    for line in text.lines().filter_map(|line| line.strip_prefix("test ")) {
        match line.rsplit_once(" ... ") {
            Some((_, "ok")) => tally.passed += 1,
            Some((name, result)) if result.starts_with("FAILED") => tally.failures.push(name.to_owned()),
            _ => {}
        }
    }
    tally
}

/// What the failed tests printed.
fn failure_details(text: &str) -> String {
    let details = text.split("\nfailures:\n").skip(1).map(str::trim).filter(|part| part.starts_with("----"));
    details.collect::<Vec<_>>().join("\n")
}

fn paint(text: &str, colour: &str) -> String {
    match std::io::stdout().is_terminal() {
        true => format!("\u{1b}[{colour}m{text}\u{1b}[0m"),
        false => text.to_owned(),
    }
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_harness_is_read_line_by_line() {
        let text = "running 3 tests\ntest a ... ok\ntest b::c ... FAILED\ntest d ... ignored\n\
                    test src/lib.rs - f (line 3) ... ok\ntest result: FAILED. 2 passed; 1 failed";
        let tally = count_tests(text);
        assert_eq!(tally.passed, 2);
        assert_eq!(tally.failures, ["b::c"]);
    }
}
