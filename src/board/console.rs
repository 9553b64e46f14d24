//! The console: defmt frames, by semihosting in QEMU and by RTT on hardware.
//!
//! Between `acquire` and `release` interrupts are off, so one frame is written at a time.
#![allow(unsafe_code)]

use super::{emulator, rtt, semihosting};
use core::cell::UnsafeCell;

/// Bytes collected for one call of semihosting: a frame rarely has more.
const PIECE_BYTES: usize = 64;

struct State {
    taken: bool,
    restore: critical_section::RestoreState,
    encoder: defmt::Encoder,
    sink: Sink,
}

struct Sink {
    piece: [u8; PIECE_BYTES],
    used: usize,
    output: semihosting::Output,
}

impl Sink {
    fn write(&mut self, bytes: &[u8]) {
        if !emulator::is_present() {
            return rtt::write(bytes);
        }
        for &byte in bytes {
            if self.used == PIECE_BYTES {
                self.flush();
            }
            self.piece[self.used] = byte;
            self.used += 1;
        }
    }

    fn flush(&mut self) {
        if self.used > 0 {
            self.output.write(&self.piece[..self.used]);
            self.used = 0;
        }
    }
}

struct Console(UnsafeCell<State>);

// SAFETY: the cell is touched only with interrupts off, on chips with one core.
unsafe impl Sync for Console {}

static CONSOLE: Console = Console(UnsafeCell::new(State {
    taken: false,
    restore: critical_section::RestoreState::invalid(),
    encoder: defmt::Encoder::new(),
    sink: Sink { piece: [0; PIECE_BYTES], used: 0, output: semihosting::Output::new() },
}));

#[defmt::global_logger]
struct Logger;

// SAFETY: the critical section makes a frame of one context whole before another can begin.
unsafe impl defmt::Logger for Logger {
    fn acquire() {
        // SAFETY: released in `release`, which defmt calls once for each acquire.
        let restore = unsafe { critical_section::acquire() };
        // SAFETY: interrupts are off and no other reference lives: defmt's calls do not nest except in a panic while
        // formatting, which `abandon_frame` precedes.
        let state = unsafe { &mut *CONSOLE.0.get() };
        assert!(!state.taken, "a value logs while it is being logged");
        state.taken = true;
        state.restore = restore;
        let State { encoder, sink, .. } = state;
        encoder.start_frame(|bytes| sink.write(bytes));
    }

    unsafe fn flush() {}

    unsafe fn release() {
        // SAFETY: as in `acquire`; the caller holds the console.
        let state = unsafe { &mut *CONSOLE.0.get() };
        let State { encoder, sink, .. } = state;
        encoder.end_frame(|bytes| sink.write(bytes));
        sink.flush();
        state.taken = false;
        // SAFETY: the state is the one that this frame's `acquire` stored.
        unsafe { critical_section::release(state.restore) };
    }

    unsafe fn write(bytes: &[u8]) {
        // SAFETY: as in `acquire`; the caller holds the console.
        let State { encoder, sink, .. } = unsafe { &mut *CONSOLE.0.get() };
        encoder.write(bytes, |bytes| sink.write(bytes));
    }
}

/// Closes a frame that a panic or fault cut short, so that the last line can still be said.
pub fn abandon_frame() {
    cortex_m::interrupt::disable();
    // SAFETY: interrupts are off for good and the context that held a reference never continues.
    let state = unsafe { &mut *CONSOLE.0.get() };
    if state.taken {
        let State { encoder, sink, .. } = state;
        encoder.end_frame(|bytes| sink.write(bytes));
        sink.flush();
        state.taken = false;
    }
}
