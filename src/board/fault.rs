//! The bad ends: a panic, a fault, a stack overflow, an interrupt that nobody expects. Each says one line and exits with
//! a failing code.
#![allow(unsafe_code)]

use super::{console, exit, stack};
use core::panic::PanicInfo;

const FAILED: u8 = 1;

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    console::abandon_frame();
    let (file, line) = info.location().map_or(("nowhere", 0), |place| (place.file(), place.line()));
    defmt::println!("error: panic at {}:{}: {}", file, line, defmt::Display2Format(&info.message()));
    exit(FAILED)
}

/// After an overflow the stack pointer is outside RAM, and one more push would lock the processor up: the handler takes
/// the whole stack back before it calls anything.
#[unsafe(no_mangle)]
#[unsafe(naked)]
extern "C" fn HardFault() -> ! {
    core::arch::naked_asm!(
        "mov r0, sp",
        "ldr r1, =_stack_start",
        "mov sp, r1",
        "bl {report}",
        report = sym report,
    )
}

/// What a fault may still have pushed above the end of the stack: an exception frame with floating-point registers
/// (104 bytes), under a push of many registers that did not fit any more.
const NEAR_END_BYTES: usize = 160;

extern "C" fn report(pointer: usize) -> ! {
    console::abandon_frame();
    if pointer < stack::lowest() + NEAR_END_BYTES || stack_limit_hit() {
        defmt::println!("error: stack overflow: all {} bytes of the stack are in use", stack::bytes());
    } else {
        // SAFETY: the pointer is inside the stack, and the processor pushed eight words there: r0–r3, r12, lr, pc, psr.
        let pc = unsafe { (pointer as *const u32).add(6).read_volatile() };
        let (cause, address) = cause();
        match address {
            Some(address) => {
                defmt::println!("error: hard fault at pc {:#010x}: {}, address {:#010x}", pc, cause, address)
            }
            None => defmt::println!("error: hard fault at pc {:#010x}: {}", pc, cause),
        }
    }
    exit(FAILED)
}

#[cortex_m_rt::exception]
unsafe fn DefaultHandler(number: i16) -> ! {
    console::abandon_frame();
    defmt::println!("error: exception {} has no handler", number);
    exit(FAILED)
}

#[cfg(not(armv6m))]
fn fault_status() -> u32 {
    const CFSR: *const u32 = 0xe000_ed28 as *const u32;
    // SAFETY: the Configurable Fault Status Register of every ARMv7-M and ARMv8-M; reading has no effect.
    unsafe { CFSR.read_volatile() }
}

/// MSPLIM of ARMv8-M stops the push before it leaves the stack.
fn stack_limit_hit() -> bool {
    #[cfg(armv8m)]
    return fault_status() & 1 << 20 != 0;
    #[cfg(not(armv8m))]
    false
}

/// What went wrong, in words, and the address of the access where the chip tells it.
#[cfg(not(armv6m))]
fn cause() -> (&'static str, Option<u32>) {
    const BFAR: *const u32 = 0xe000_ed38 as *const u32;
    const CAUSES: [(u32, &str); 9] = [
        (1 << 0 | 1 << 8, "no code there"),
        (1 << 9, "no memory there"),
        (1 << 10, "no memory there, a little earlier"),
        (1 << 11 | 1 << 12, "the stack pointer is wrong"),
        (1 << 16, "undefined instruction"),
        (1 << 17, "not Thumb code"),
        (1 << 19, "coprocessor is off"),
        (1 << 24, "unaligned access"),
        (1 << 25, "division by zero"),
    ];
    let status = fault_status();
    let cause = CAUSES.iter().find(|(bits, _)| status & bits != 0).map_or("unknown cause", |cause| cause.1);
    // SAFETY: the BusFault Address Register; reading has no effect.
    let address = unsafe { BFAR.read_volatile() };
    (cause, (status & (1 << 15) != 0).then_some(address))
}

#[cfg(armv6m)]
fn cause() -> (&'static str, Option<u32>) {
    ("a Cortex-M0 does not tell the cause", None)
}
