//! Gate: the firmware holds no floating-point instruction and no soft-float call.
//!
//! The code is walked instruction by instruction; the mapping symbols $t and $d tell code from data.
//! src/bin/selftest.rs computes with floats on purpose: the gate must find them there.

use crate::cargo::{self, Chip, M0, M4, M33};
use crate::image::Image;
use crate::verify::Tally;
use anyhow::{Context, Result, ensure};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind};

pub fn check() -> Result<Tally> {
    let mut tally = Tally::default();
    for chip in [M0, M4, M33] {
        tally.check(float_free(chip));
    }
    for chip in [M0, M4] {
        tally.check(control(chip));
    }
    Ok(tally)
}

fn float_free(chip: Chip) -> Result<()> {
    let image = Image::read(&cargo::chip_image(chip, "firmware", &[])?)?;
    let found = find(&image)?;
    ensure!(found.is_empty(), "the firmware for {} uses floating point:\n{}", chip.name, found.join("\n"));
    Ok(())
}

/// A gate that finds nothing anywhere would also pass.
fn control(chip: Chip) -> Result<()> {
    let image = Image::read(&cargo::chip_image(chip, "selftest", &[])?)?;
    ensure!(!find(&image)?.is_empty(), "selftest uses floats on {}, and the gate does not see them", chip.name);
    Ok(())
}

/// Every use of floating point, as a line.
fn find(image: &Image) -> Result<Vec<String>> {
    let mut found: Vec<String> = image
        .symbols()
        .iter()
        .filter(|symbol| symbol.is_code && is_soft_float(&symbol.name))
        .map(|symbol| format!("{:#010x}: soft-float function {}", symbol.address, symbol.name))
        .collect();
    for (address, first, second) in code(image)? {
        if is_float(first, second) {
            let function = image.function_at(address).unwrap_or_else(|| "nowhere".to_owned());
            found.push(format!("{address:#010x}: {first:04x} {second:04x} in {function}"));
        }
    }
    Ok(found)
}

/// Coprocessors 10 and 11 are the floating-point unit, whatever the operation.
fn is_float(first: u16, second: u16) -> bool {
    first & 0xec00 == 0xec00 && second >> 9 & 0b111 == 0b101
}

/// Names of the Arm run-time ABI (chapter 4.1) and of the compiler's own helpers.
fn is_soft_float(name: &str) -> bool {
    const CONVERSIONS: [&str; 6] = ["i2", "ui2", "l2", "ul2", "f2", "d2"];
    const HELPERS: [&str; 3] = ["sf", "df", "tf"];
    const INTEGER_MODES: [&str; 3] = ["si", "di", "ti"];
    if let Some(name) = name.strip_prefix("__aeabi_") {
        let is_conversion = CONVERSIONS.iter().any(|prefix| name.starts_with(prefix));
        let is_operation = matches!(name.as_bytes(), [b'f' | b'd' | b'c', ..]) && !name.starts_with("div0");
        return is_conversion || is_operation || name.starts_with("h2f");
    }
    let Some(name) = name.strip_prefix("__") else { return false };
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    let is_float_mode = HELPERS.iter().any(|mode| stem.ends_with(mode));
    let is_cast = ["fix", "float"].iter().any(|verb| name.starts_with(verb));
    is_float_mode || (is_cast && INTEGER_MODES.iter().any(|mode| stem.ends_with(mode)))
}

/// Every instruction: its address and its halfwords, the second one 0 where there is none.
fn code(image: &Image) -> Result<Vec<(u64, u16, u16)>> {
    let elf = image.elf()?;
    let mut instructions = Vec::new();
    for section in elf.sections().filter(|section| section.kind() == SectionKind::Text) {
        let bytes = section.data().with_context(|| format!("{}: unreadable code", image.path.display()))?;
        let start = section.address();
        let mut maps: Vec<(u64, bool)> = elf
            .symbols()
            .filter(|symbol| symbol.section_index() == Some(section.index()))
            .filter_map(|symbol| match symbol.name().ok()?.split('.').next()? {
                "$t" => Some((symbol.address(), true)),
                "$d" => Some((symbol.address(), false)),
                _ => None,
            })
            .collect();
        maps.sort_unstable();
        let ends = maps.iter().skip(1).map(|map| map.0).chain([start + section.size()]);
        for (&(begin, is_code), end) in maps.iter().zip(ends) {
            if is_code {
                walk(&bytes[(begin - start) as usize..(end - start) as usize], begin, &mut instructions);
            }
        }
    }
    ensure!(!instructions.is_empty(), "{} has no code, or no $t symbols to find it by", image.path.display());
    Ok(instructions)
}

fn walk(bytes: &[u8], mut address: u64, instructions: &mut Vec<(u64, u16, u16)>) {
    let mut halfwords = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    while let Some(first) = halfwords.next() {
        let is_wide = first >> 11 >= 0x1d;
        let second = if is_wide { halfwords.next().unwrap_or(0) } else { 0 };
        instructions.push((address, first, second));
        address += if is_wide { 4 } else { 2 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floating_point_instructions_are_known() {
        for (first, second, name) in [
            (0xee30, 0x0a20, "vadd.f32 s0, s0, s1"),
            (0xed90, 0x0a00, "vldr s0, [r0]"),
            (0xee10, 0x0a10, "vmov r0, s0"),
            (0xeef1, 0xfa10, "vmrs apsr_nzcv, fpscr"),
            (0xed2d, 0x8b02, "vpush {d8}"),
            (0xfe00, 0x0a20, "vseleq.f32 s0, s0, s1"),
        ] {
            assert!(is_float(first, second), "{name}");
        }
        for (first, second, name) in [
            (0xfb20, 0xf001, "smuad r0, r0, r1"),
            (0xe9cd, 0x000e, "strd r0, r0, [sp, #56]"),
            (0xf3af, 0x80f1, "dbg #1"),
            (0xf855, 0x1021, "ldr.w r1, [r5, r1, lsl #2]"),
        ] {
            assert!(!is_float(first, second), "{name}");
        }
    }

    #[test]
    fn soft_float_functions_are_known() {
        for name in [
            "__aeabi_fadd",
            "__aeabi_dmul",
            "__aeabi_i2f",
            "__aeabi_ul2d",
            "__aeabi_f2iz",
            "__aeabi_cfcmple",
            "__addsf3",
            "__muldf3",
            "__floatsidf",
            "__fixunssfsi",
            "__ltdf2",
            "__extendsfdf2",
        ] {
            assert!(is_soft_float(name), "{name}");
        }
        for name in [
            "__aeabi_idiv",
            "__aeabi_uldivmod",
            "__aeabi_lmul",
            "__aeabi_memcpy4",
            "__divsi3",
            "__udivmoddi4",
            "__muldi3",
            "__aeabi_llsl",
            "main",
            "__ashldi3",
            "__aeabi_unwind_cpp_pr0",
            "__clzsi2",
        ] {
            assert!(!is_soft_float(name), "{name}");
        }
    }
}
