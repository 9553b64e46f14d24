//! Gate: memory and instructions of every model are those of budget.toml, to the byte and to the instruction.
//!
//! More is a regression. Less is good news that must be recorded, or it could be lost again unseen:
//! `cargo verify --record` writes the file.

use crate::cargo::{Chip, M0, M4, root};
use crate::model::{self, Measurement};
use crate::verify::Tally;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;

const FILE: &str = "budget.toml";
const HEAD: &str = "# What each model costs: recorded by `cargo verify --record`, compared by `cargo verify`.\n\
                    # Bytes; instructions of one token with full rings, counted in QEMU.\n\n";

/// The chips that are recorded: the fastest kernels and the smallest instruction set.
const CHIPS: [Chip; 2] = [M4, M0];

/// Model, then chip.
type Budgets = BTreeMap<String, BTreeMap<String, Budget>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Budget {
    flash: u64,
    state: u64,
    stack: u64,
    instructions: u64,
}

pub fn check(record: bool) -> Result<Tally> {
    let measured = measure()?;
    let path = root().join(FILE);
    if record {
        fs::write(&path, format!("{HEAD}{}", toml::to_string(&measured)?))
            .with_context(|| format!("{FILE} cannot be written"))?;
        return Ok(Tally { notes: vec![format!("recorded {} models in {FILE}", measured.len())], ..Tally::one() });
    }
    let text = fs::read_to_string(&path).with_context(|| format!("{FILE} is missing: cargo verify --record"))?;
    let recorded: Budgets = toml::from_str(&text).with_context(|| format!("{FILE} cannot be read"))?;
    Ok(compare(&recorded, &measured))
}

fn measure() -> Result<Budgets> {
    let mut budgets = Budgets::new();
    for chip in CHIPS {
        for name in model::names()? {
            let Measurement { flash, state, stack, step, .. } = model::measure(chip, &name)?;
            let budget = Budget { flash, state, stack, instructions: step.instructions };
            budgets.entry(name).or_default().insert(chip.name.to_lowercase(), budget);
        }
    }
    if budgets.is_empty() {
        bail!("there is no model in models/");
    }
    Ok(budgets)
}

fn compare(recorded: &Budgets, measured: &Budgets) -> Tally {
    let mut tally = Tally::default();
    for name in recorded.keys().filter(|name| !measured.contains_key(*name)) {
        tally.failures.push(format!("{name} is recorded in {FILE}, but is no longer baked: cargo verify --record"));
    }
    for (name, chips) in measured {
        for (chip, budget) in chips {
            let Some(known) = recorded.get(name).and_then(|chips| chips.get(chip)) else {
                tally.failures.push(format!("{name} on {chip} is not in {FILE}: cargo verify --record"));
                continue;
            };
            for (figure, known, now) in [
                ("flash", known.flash, budget.flash),
                ("state", known.state, budget.state),
                ("stack", known.stack, budget.stack),
                ("instructions", known.instructions, budget.instructions),
            ] {
                let moved = if now > known { "grew" } else { "shrank" };
                match now == known {
                    true => tally.passed += 1,
                    false => tally.failures.push(format!(
                        "{name} on {chip}: {figure} {moved} from {known} to {now}; where that is meant: \
                         cargo verify --record"
                    )),
                }
            }
        }
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budgets(instructions: u64) -> Budgets {
        let budget = Budget { flash: 1, state: 2, stack: 3, instructions };
        BTreeMap::from([("a".to_owned(), BTreeMap::from([("cortex-m4".to_owned(), budget)]))])
    }

    #[test]
    fn equal_figures_pass() {
        let tally = compare(&budgets(4), &budgets(4));
        assert_eq!((tally.passed, tally.failures.len()), (4, 0));
    }

    #[test]
    fn growth_and_unrecorded_savings_fail() {
        assert!(compare(&budgets(4), &budgets(5)).failures[0].contains("grew from 4 to 5"));
        assert!(compare(&budgets(4), &budgets(3)).failures[0].contains("shrank from 4 to 3"));
    }

    #[test]
    fn a_model_that_is_not_recorded_fails() {
        assert_eq!(compare(&Budgets::new(), &budgets(4)).failures.len(), 1);
        assert_eq!(compare(&budgets(4), &Budgets::new()).failures.len(), 1);
    }

    #[test]
    fn the_file_can_be_read_back() {
        let text = format!("{HEAD}{}", toml::to_string(&budgets(4)).expect("plain numbers"));
        assert_eq!(toml::from_str::<Budgets>(&text).expect("what was written"), budgets(4));
    }
}
