//! Faults on purpose, for src/bin/fault.rs.
#![allow(unsafe_code)]

/// An address that no Cortex-M board of ours answers.
#[cfg(target_os = "none")]
const NOWHERE: *const u32 = 0x9fff_fff0 as *const u32;

#[cfg(target_os = "none")]
pub fn read_nowhere() {
    // SAFETY: the bus refuses the read, which is what the caller wants; the read is volatile, so it happens.
    unsafe { NOWHERE.read_volatile() };
}

#[cfg(target_os = "none")]
pub fn execute_undefined() {
    cortex_m::asm::udf();
}

#[cfg(not(target_os = "none"))]
pub fn read_nowhere() {
    std::process::abort();
}

#[cfg(not(target_os = "none"))]
pub fn execute_undefined() {
    std::process::abort();
}
