//! What a program needs from where it runs: a console, its arguments, files, an end. The only room that knows a chip.
//!
//! On a chip the console is defmt, by RTT on hardware and by semihosting in QEMU, from the same image. On a laptop the
//! same programs print to the terminal, so that both sides of a comparison come from one source. Every fault on the
//! chip ends in one readable line and a failing exit code.

// Each binary takes its own part of the board.
#![allow(dead_code, unused_imports, unused_macros)]

#[cfg(target_os = "none")]
mod console;
#[cfg(target_os = "none")]
mod emulator;
#[cfg(target_os = "none")]
mod fault;
#[cfg(all(target_os = "none", not(armv8m)))]
mod guard;
#[cfg(all(target_os = "none", feature = "microphone"))]
pub mod microphone;
#[cfg(target_os = "none")]
mod rtt;
#[cfg(target_os = "none")]
mod semihosting;
#[cfg(target_os = "none")]
pub mod stack;

#[cfg(target_os = "none")]
pub use semihosting::{Arguments, File, exit};

#[cfg(not(target_os = "none"))]
mod host;
#[cfg(not(target_os = "none"))]
pub use host::{Arguments, File, exit, stack};

pub mod cycles;
pub mod fingerprint;
pub mod meter;
pub mod queue;
pub mod sound;
pub mod wreck;

/// What a program does before anything else.
pub fn start() {
    #[cfg(all(target_os = "none", not(armv8m)))]
    guard::below_stack();
}

/// Prints one line: by defmt on the chip, to the terminal on a laptop. Takes what both know: `{}`, `{:08x}`.
#[cfg(target_os = "none")]
macro_rules! say {
    ($($part:tt)*) => { defmt::println!($($part)*) };
}
#[cfg(not(target_os = "none"))]
macro_rules! say {
    ($($part:tt)*) => { println!($($part)*) };
}

/// A static place, handed out once: `once!(: Type = value)` is a `&'static mut Type`, or nothing the second time.
#[cfg(target_os = "none")]
macro_rules! once {
    (: $type:ty = $value:expr) => {
        cortex_m::singleton!(: $type = $value)
    };
}
#[cfg(not(target_os = "none"))]
macro_rules! once {
    (: $type:ty = $value:expr) => {
        Some(Box::leak(Box::<$type>::new($value)))
    };
}

/// Makes `fn run() -> Result<(), &'static str>` the program: an error is printed and becomes a failing exit code.
macro_rules! program {
    ($run:path) => {
        #[cfg_attr(target_os = "none", cortex_m_rt::entry)]
        fn main() -> ! {
            board::start();
            match $run() {
                Ok(()) => board::exit(0),
                Err(reason) => {
                    board::say!("error: {}", reason);
                    board::exit(1)
                }
            }
        }
    };
}

pub(crate) use {once, program, say};
