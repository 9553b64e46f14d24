//! Goes wrong in the way its argument names, so that `cargo verify` sees each bad end: one readable line, a failing exit.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![deny(unsafe_code)]

#[path = "../board/mod.rs"]
mod board;

use core::hint::black_box;

board::program!(run);

fn run() -> Result<(), &'static str> {
    let arguments = board::Arguments::read();
    match arguments.get(0) {
        Some("panic") => panic_now(arguments.get(0).map_or(0, str::len)),
        Some("hard-fault") => board::wreck::read_nowhere(),
        Some("undefined") => board::wreck::execute_undefined(),
        Some("overflow") => {
            board::say!("{}", overflow(black_box(1)));
        }
        Some("hang") => loop {
            black_box(0);
        },
        Some("error") => return Err("as asked"),
        Some("none") => return Ok(()),
        _ => {
            return Err("say which fault: panic, hard-fault, undefined, overflow, hang, error or none");
        }
    }
    Err("the fault did not happen")
}

/// A bounds check that fails: the commonest panic of all.
fn panic_now(index: usize) {
    let values = black_box([0u8; 2]);
    board::say!("{}", values[index]);
}

/// Each call keeps its array alive across the next one, so no call can become a jump.
#[inline(never)]
fn overflow(depth: u32) -> u32 {
    let frame = black_box([depth; 16]);
    match depth {
        u32::MAX => 0,
        _ => overflow(depth + 1) + frame[(depth % 16) as usize],
    }
}
