//! What a piece of work costs, told by the chip itself: cycles on hardware, instructions in QEMU.
//!
//! On hardware the DWT unit counts cycles; a Cortex-M0 has none, and there SysTick counts them, modulo 2²⁴. In QEMU, which
//! has no DWT either, our runner makes every instruction take the same virtual time: SysTick counts that, and a loop of
//! known length tells how many ticks are one instruction. On a laptop everything is free.

#[cfg(target_os = "none")]
use cortex_m::{Peripherals, peripheral::SYST, peripheral::syst::SystClkSource};

/// SysTick has 24 bits.
#[cfg(target_os = "none")]
const MASK: u32 = (1 << 24) - 1;

/// Turns of `cortex_m::asm::delay`, which takes one more than it is asked for, and two instructions for each.
#[cfg(target_os = "none")]
const LOOP_TURNS: u32 = 1 << 14;
#[cfg(target_os = "none")]
const LOOP_INSTRUCTIONS: u64 = 2 * LOOP_TURNS as u64;

/// The counter, running.
#[derive(Clone, Copy)]
pub struct Clock {
    source: Source,
}

#[derive(Clone, Copy)]
enum Source {
    /// Nothing counts.
    None,
    #[cfg(all(target_os = "none", not(armv6m)))]
    Dwt,
    #[cfg(target_os = "none")]
    SysTick,
    /// How many ticks the loop took.
    #[cfg(target_os = "none")]
    Emulated { loop_ticks: u64 },
}

impl Clock {
    #[cfg(not(target_os = "none"))]
    pub fn start() -> Self {
        Self { source: Source::None }
    }

    /// Takes the processor's peripherals: the first call starts the counter, a second one finds nothing to count with.
    #[cfg(target_os = "none")]
    pub fn start() -> Self {
        let Some(mut peripherals) = Peripherals::take() else { return Self { source: Source::None } };
        #[cfg(not(armv6m))]
        if !super::emulator::is_present() && cortex_m::peripheral::DWT::has_cycle_counter() {
            peripherals.DCB.enable_trace();
            peripherals.DWT.enable_cycle_counter();
            return Self { source: Source::Dwt };
        }
        peripherals.SYST.set_clock_source(SystClkSource::Core);
        peripherals.SYST.set_reload(MASK);
        peripherals.SYST.clear_current();
        peripherals.SYST.enable_counter();
        let clock = Self { source: Source::SysTick };
        if !super::emulator::is_present() {
            return clock;
        }
        let begun = clock.now();
        cortex_m::asm::delay(LOOP_TURNS - 1);
        Self { source: Source::Emulated { loop_ticks: u64::from(clock.since(begun)).max(1) } }
    }

    /// A moment, to be handed to [`since`](Self::since).
    pub fn now(&self) -> u32 {
        match self.source {
            Source::None => 0,
            #[cfg(all(target_os = "none", not(armv6m)))]
            Source::Dwt => cortex_m::peripheral::DWT::cycle_count(),
            #[cfg(target_os = "none")]
            Source::SysTick | Source::Emulated { .. } => SYST::get_current(),
        }
    }

    /// What was spent since that moment, in [`unit`](Self::unit)s. SysTick wraps after 2²⁴ cycles, a quarter of a second
    /// at 64 MHz.
    pub fn since(&self, begun: u32) -> u32 {
        match self.source {
            Source::None => {
                let _ = begun;
                0
            }
            #[cfg(all(target_os = "none", not(armv6m)))]
            Source::Dwt => self.now().wrapping_sub(begun),
            // It counts down.
            #[cfg(target_os = "none")]
            Source::SysTick => begun.wrapping_sub(self.now()) & MASK,
            #[cfg(target_os = "none")]
            Source::Emulated { loop_ticks } => {
                let ticks = u64::from(begun.wrapping_sub(self.now()) & MASK);
                (ticks * LOOP_INSTRUCTIONS / loop_ticks) as u32
            }
        }
    }

    pub fn unit(&self) -> &'static str {
        match self.source {
            #[cfg(target_os = "none")]
            Source::Emulated { .. } => "instructions",
            _ => "cycles",
        }
    }
}
