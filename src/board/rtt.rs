//! Words with a debug probe: the control block and up-channel of SEGGER's RTT, which probe-rs finds by its symbol.
//!
//! The probe reads RAM while we run. It asks us to wait for it by the mode bits; without a probe nobody does, and what
//! does not fit is dropped.
#![allow(unsafe_code)]

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};

/// A few lines of log: defmt sends about ten bytes a line.
const BUFFER_BYTES: usize = 512;
const MODE_MASK: usize = 0b11;
const MODE_BLOCK_WHEN_FULL: usize = 2;

#[repr(C)]
struct ControlBlock {
    identifier: [u8; 16],
    up_channels: usize,
    down_channels: usize,
    up: Channel,
}

#[repr(C)]
struct Channel {
    name: *const u8,
    buffer: *const UnsafeCell<[u8; BUFFER_BYTES]>,
    buffer_bytes: usize,
    /// Where we write next; only we change it.
    write: AtomicUsize,
    /// Where the probe reads next; only the probe changes it.
    read: AtomicUsize,
    /// Chosen by the probe.
    mode: AtomicUsize,
}

// SAFETY: the pointers are to statics, and everything that changes is atomic.
unsafe impl Sync for ControlBlock {}

struct Buffer(UnsafeCell<[u8; BUFFER_BYTES]>);

// SAFETY: written only by `write`, whose caller holds the console and with it the critical section.
unsafe impl Sync for Buffer {}

static BUFFER: Buffer = Buffer(UnsafeCell::new([0; BUFFER_BYTES]));

#[unsafe(export_name = "_SEGGER_RTT")]
static CONTROL_BLOCK: ControlBlock = ControlBlock {
    identifier: *b"SEGGER RTT\0\0\0\0\0\0",
    up_channels: 1,
    down_channels: 0,
    up: Channel {
        name: c"defmt".as_ptr().cast(),
        buffer: &raw const BUFFER.0,
        buffer_bytes: BUFFER_BYTES,
        write: AtomicUsize::new(0),
        read: AtomicUsize::new(0),
        mode: AtomicUsize::new(0),
    },
};

/// Appends to the channel. The caller is the only writer at this time.
pub fn write(bytes: &[u8]) {
    let channel = &CONTROL_BLOCK.up;
    let mut at = channel.write.load(Ordering::Relaxed) % BUFFER_BYTES;
    for &byte in bytes {
        let next = (at + 1) % BUFFER_BYTES;
        while next == channel.read.load(Ordering::Acquire) {
            if channel.mode.load(Ordering::Relaxed) & MODE_MASK != MODE_BLOCK_WHEN_FULL {
                return;
            }
        }
        // SAFETY: at < BUFFER_BYTES, so the place is inside the static.
        let place = unsafe { BUFFER.0.get().cast::<u8>().add(at) };
        // SAFETY: the probe does not read at `write` or beyond until it is stored below, and nobody else writes.
        unsafe { place.write_volatile(byte) };
        at = next;
        channel.write.store(at, Ordering::Release);
    }
}
