//! The chip's own cycle counter. QEMU has none, and neither has a Cortex-M0: there it stands still at zero.

#[cfg(all(target_os = "none", not(armv6m)))]
use cortex_m::Peripherals;
#[cfg(all(target_os = "none", not(armv6m)))]
use cortex_m::peripheral::DWT;

/// Starts the counter.
#[cfg(all(target_os = "none", not(armv6m)))]
pub fn start() {
    if let Some(mut peripherals) = Peripherals::take() {
        peripherals.DCB.enable_trace();
        peripherals.DWT.enable_cycle_counter();
    }
}

/// Cycles since some moment, modulo 2³².
#[cfg(all(target_os = "none", not(armv6m)))]
pub fn now() -> u32 {
    DWT::cycle_count()
}

#[cfg(not(all(target_os = "none", not(armv6m))))]
pub fn start() {}

#[cfg(not(all(target_os = "none", not(armv6m))))]
pub fn now() -> u32 {
    0
}
