//! One Thumb instruction as the cycle model sees it: its cost, and which registers tie it to its neighbours.
//!
//! Costs: Cortex-M4 Technical Reference Manual, table 3-1, with zero wait states. A load takes 2 cycles, or 1 behind
//! another load or store that it does not depend on; LDM and STM 1 + N; a division 6 of its 2 to 12; a taken branch adds
//! its pipeline refill, which only execution shows (meter.rs).

/// What a mark in the instruction stream means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Begin,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Other,
    Load,
    Store,
    Mark(Mark),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub address: u32,
    pub bytes: u32,
    pub cycles: u32,
    pub kind: Kind,
    /// The register that a load fills.
    pub loaded: Option<u16>,
    /// The registers that make its address.
    pub base: Option<u16>,
    pub index: Option<u16>,
}

const DIVISION_CYCLES: u32 = 6;
const LOAD_CYCLES: u32 = 2;
const PC: u16 = 15;
const SP: u16 = 13;

/// Bytes of the instruction that begins with this halfword.
pub fn length(first: u16) -> u32 {
    if first >> 11 >= 0x1d { 4 } else { 2 }
}

impl Instruction {
    pub fn decode(address: u32, first: u16, second: u16) -> Self {
        let bytes = length(first);
        let plain = Self { address, bytes, cycles: 1, kind: Kind::Other, loaded: None, base: None, index: None };
        if bytes == 2 { plain.narrow(first) } else { plain.wide(first, second) }
    }

    /// Sixteen bits.
    fn narrow(self, h: u16) -> Self {
        match h {
            // ARMv6-M has no DBG: a register copied to itself is its mark (`mov r10, r10`, `mov r11, r11`).
            0x46d2 => self.mark(Mark::Begin),
            0x46db => self.mark(Mark::End),
            _ if h & 0xf800 == 0x4800 => self.access(true, h >> 8 & 7, PC, None),
            _ if h & 0xf000 == 0x5000 => self.access(h >> 9 & 7 >= 3, h & 7, h >> 3 & 7, Some(h >> 6 & 7)),
            _ if h & 0xe000 == 0x6000 || h & 0xf000 == 0x8000 => self.access(h & 0x800 != 0, h & 7, h >> 3 & 7, None),
            _ if h & 0xf000 == 0x9000 => self.access(h & 0x800 != 0, h >> 8 & 7, SP, None),
            // PUSH, POP; STM, LDM.
            _ if h & 0xfe00 == 0xb400 || h & 0xfe00 == 0xbc00 => self.cost(1 + (h & 0x1ff).count_ones()),
            _ if h & 0xf000 == 0xc000 => self.cost(1 + (h & 0xff).count_ones()),
            _ => self,
        }
    }

    /// Thirty-two bits.
    fn wide(self, h: u16, l: u16) -> Self {
        match h {
            0xf3af if l == 0x80f1 => self.mark(Mark::Begin),
            0xf3af if l == 0x80f2 => self.mark(Mark::End),
            // LDM.W, STM.W.
            _ if h & 0xfe40 == 0xe800 => self.cost(1 + l.count_ones()),
            // TBB and TBH 2, LDRD and STRD 1 + 2, exclusive accesses 2.
            _ if h & 0xfff0 == 0xe8d0 && l & 0xffe0 == 0xf000 => self.cost(2),
            _ if h & 0xfe40 == 0xe840 => self.cost(if h & 0x0120 != 0 { 3 } else { 2 }),
            _ if h & 0xfe00 == 0xf800 => {
                let is_load = h & 0x10 != 0;
                let register = l >> 12;
                let is_preload = is_load && register == PC && h & 0x60 != 0x40;
                let index = (h & 0x80 == 0 && l & 0x0fc0 == 0).then_some(l & 15);
                if is_preload { self } else { self.access(is_load, register, h & 15, index) }
            }
            _ if h & 0xffd0 == 0xfb90 => self.cost(DIVISION_CYCLES),
            _ if h & 0xee00 == 0xec00 => self.cost(float_transfer(h, l)),
            _ if h & 0xff00 == 0xee00 && l & 0x0e00 == 0x0a00 => self.cost(float_operation(h, l)),
            _ => self,
        }
    }

    fn mark(self, mark: Mark) -> Self {
        Self { kind: Kind::Mark(mark), cycles: 0, ..self }
    }

    fn cost(self, cycles: u32) -> Self {
        Self { cycles, ..self }
    }

    fn access(self, is_load: bool, register: u16, base: u16, index: Option<u16>) -> Self {
        Self {
            kind: if is_load { Kind::Load } else { Kind::Store },
            cycles: if is_load { LOAD_CYCLES } else { 1 },
            loaded: is_load.then_some(register),
            base: Some(base),
            index,
            ..self
        }
    }
}

/// Floating-point loads and stores, and moves of two registers.
fn float_transfer(h: u16, l: u16) -> u32 {
    match h {
        _ if h & 0xfe40 == 0xec40 && h & 0x0180 == 0 => 2,
        _ if h & 0xff20 == 0xed00 => 2 + u32::from(l >> 8 & 1),
        _ => 1 + u32::from(l & 0xff),
    }
}

fn float_operation(h: u16, l: u16) -> u32 {
    let is_move = l & 0x10 != 0;
    let is_division = h & 0xb0 == 0x80;
    let is_root = h & 0xbf == 0xb1 && l & 0xc0 == 0xc0;
    let is_multiply_add = matches!(h >> 4 & 0xb, 0 | 1 | 9 | 10);
    match (is_move, is_division || is_root, is_multiply_add) {
        (true, ..) => 1,
        (_, true, _) => 14,
        (.., true) => 3,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(first: u16, second: u16) -> u32 {
        Instruction::decode(0, first, second).cycles
    }

    #[test]
    fn costs_are_those_of_the_manual() {
        assert_eq!(cycles(0x4408, 0), 1, "add r0, r1");
        assert_eq!(cycles(0x6808, 0), 2, "ldr r0, [r1]");
        assert_eq!(cycles(0x6008, 0), 1, "str r0, [r1]");
        assert_eq!(cycles(0xb5b0, 0), 5, "push {{r4, r5, r7, lr}}");
        assert_eq!(cycles(0xe8b1, 0x00f0), 5, "ldm r1!, {{r4-r7}}");
        assert_eq!(cycles(0xe9cd, 0x000e), 3, "strd r0, r0, [sp, #56]");
        assert_eq!(cycles(0xfb90, 0xf0f1), 6, "sdiv r0, r0, r1");
        assert_eq!(cycles(0xfbb0, 0xf0f1), 6, "udiv r0, r0, r1");
        assert_eq!(cycles(0xfb21, 0x0002), 1, "smlad r0, r1, r2, r0");
        assert_eq!(cycles(0xee80, 0x0a20), 14, "vdiv.f32 s0, s0, s1");
        assert_eq!(cycles(0xee30, 0x0a20), 1, "vadd.f32 s0, s0, s1");
    }

    #[test]
    fn marks_cost_nothing() {
        for (first, second, mark) in [
            (0xf3af, 0x80f1, Mark::Begin),
            (0xf3af, 0x80f2, Mark::End),
            (0x46d2, 0, Mark::Begin),
            (0x46db, 0, Mark::End),
        ] {
            let instruction = Instruction::decode(0, first, second);
            assert_eq!((instruction.kind, instruction.cycles), (Kind::Mark(mark), 0));
        }
        assert_eq!(Instruction::decode(0, 0xf3af, 0x80f3).kind, Kind::Other);
    }

    #[test]
    fn a_load_knows_its_registers() {
        let load = Instruction::decode(0, 0xf855, 0x1021);
        assert_eq!((load.kind, load.loaded, load.base, load.index), (Kind::Load, Some(1), Some(5), Some(1)));
        let load = Instruction::decode(0, 0x5888, 0);
        assert_eq!((load.kind, load.loaded, load.base, load.index), (Kind::Load, Some(0), Some(1), Some(2)));
    }
}
