//! Counts what is executed inside the marked regions. Regions nest; an inner one counts for the outer one too.

use crate::instruction::{Instruction, Kind, Mark};

/// Pipeline refill after a taken branch: 1 to 3 cycles in the manual; 2 is usual with aligned targets.
const TAKEN_BRANCH_CYCLES: u64 = 2;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub instructions: u64,
    pub cycles: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// How many regions were open around it.
    pub depth: usize,
    pub count: Count,
}

#[derive(Default)]
pub struct Meter {
    /// What was counted while any region was open.
    now: Count,
    /// The count at the begin of every open region.
    open: Vec<Count>,
    /// Where execution goes on without a branch, and the register that the last instruction loaded.
    next: Option<u32>,
    pending_load: Option<Instruction>,
}

impl Meter {
    /// Takes one executed instruction; a region that it ends is returned.
    pub fn execute(&mut self, instruction: &Instruction) -> Option<Region> {
        if let Kind::Mark(mark) = instruction.kind {
            return self.pass(mark, instruction);
        }
        if self.open.is_empty() {
            return None;
        }
        self.now.instructions += 1;
        let is_jump = self.next.is_some_and(|next| next != instruction.address);
        if is_jump {
            self.now.cycles += TAKEN_BRANCH_CYCLES;
        }
        self.now.cycles += match self.pending_load {
            Some(load) if !is_jump && follows_in_pipeline(&load, instruction) => 1,
            _ => u64::from(instruction.cycles),
        };
        self.next = Some(instruction.address + instruction.bytes);
        self.pending_load = (instruction.kind == Kind::Load).then_some(*instruction);
        None
    }

    fn pass(&mut self, mark: Mark, instruction: &Instruction) -> Option<Region> {
        self.pending_load = None;
        self.next = Some(instruction.address + instruction.bytes);
        match mark {
            Mark::Begin => {
                self.open.push(self.now);
                None
            }
            Mark::End => {
                let begin = self.open.pop()?;
                let count = Count {
                    instructions: self.now.instructions - begin.instructions,
                    cycles: self.now.cycles - begin.cycles,
                };
                Some(Region { depth: self.open.len(), count })
            }
        }
    }
}

fn follows_in_pipeline(load: &Instruction, instruction: &Instruction) -> bool {
    let is_access = matches!(instruction.kind, Kind::Load | Kind::Store);
    is_access && load.loaded != instruction.base && (load.loaded != instruction.index || instruction.index.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: (u16, u16) = (0xf3af, 0x80f1);
    const END: (u16, u16) = (0xf3af, 0x80f2);
    const ADD: (u16, u16) = (0x4408, 0);
    /// `ldr r0, [r1]`
    const LOAD: (u16, u16) = (0x6808, 0);
    /// `ldr r2, [r0]`
    const DEPENDENT_LOAD: (u16, u16) = (0x6802, 0);

    /// Executes a straight line of code.
    fn regions(code: &[(u16, u16)]) -> Vec<Region> {
        let mut meter = Meter::default();
        let mut address = 0;
        let mut regions = Vec::new();
        for &(first, second) in code {
            let instruction = Instruction::decode(address, first, second);
            address += instruction.bytes;
            regions.extend(meter.execute(&instruction));
        }
        regions
    }

    fn region(depth: usize, instructions: u64, cycles: u64) -> Region {
        Region { depth, count: Count { instructions, cycles } }
    }

    #[test]
    fn only_what_is_marked_counts() {
        assert_eq!(regions(&[ADD, BEGIN, ADD, ADD, END, ADD]), [region(0, 2, 2)]);
        assert_eq!(regions(&[BEGIN, END]), [region(0, 0, 0)]);
    }

    #[test]
    fn inner_regions_count_for_outer_ones() {
        assert_eq!(regions(&[BEGIN, ADD, BEGIN, LOAD, END, ADD, END]), [region(1, 1, 2), region(0, 3, 4)]);
    }

    #[test]
    fn independent_loads_are_pipelined() {
        assert_eq!(regions(&[BEGIN, LOAD, LOAD, END]), [region(0, 2, 3)]);
        assert_eq!(regions(&[BEGIN, LOAD, DEPENDENT_LOAD, END]), [region(0, 2, 4)]);
    }

    #[test]
    fn a_jump_costs_its_refill() {
        let mut meter = Meter::default();
        meter.execute(&Instruction::decode(0, BEGIN.0, BEGIN.1));
        meter.execute(&Instruction::decode(4, ADD.0, ADD.1));
        meter.execute(&Instruction::decode(100, ADD.0, ADD.1));
        assert_eq!(meter.execute(&Instruction::decode(102, END.0, END.1)), Some(region(0, 2, 4)));
    }

    #[test]
    fn an_end_without_a_begin_is_nothing() {
        assert_eq!(regions(&[END, ADD]), []);
    }
}
