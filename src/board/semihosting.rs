//! Words with the laptop that emulates us: arguments, files, standard output, the exit code (Arm semihosting 2.0).
//!
//! Every call is a breakpoint that QEMU answers. Nothing here touches the processor unless [`emulator`] found its mark;
//! on hardware there are no arguments and no files.
#![allow(unsafe_code)]

use super::emulator;
use core::arch::asm;

const OPEN: usize = 0x01;
const WRITE: usize = 0x05;
const READ: usize = 0x06;
const GET_COMMAND_LINE: usize = 0x15;
const EXIT_EXTENDED: usize = 0x20;
const APPLICATION_EXIT: usize = 0x2_0026;

const MODE_READ_BINARY: usize = 1;
const MODE_WRITE: usize = 4;

/// Longest command line, and longest path, with the ending zero.
const LINE_BYTES: usize = 256;

/// One request to the host. `fields` is the parameter block of the operation; its pointers and lengths describe live
/// memory.
fn request(operation: usize, fields: &mut [usize]) -> isize {
    let answer;
    // SAFETY: the callers of this private function pass blocks that fit their operation, and only in QEMU; the host
    // changes r0 and what the block points to, which asm! assumes by default.
    unsafe {
        asm!("bkpt #0xab", inout("r0") operation => answer, in("r1") fields.as_mut_ptr(), options(nostack));
    }
    answer
}

/// A file of the host, read from its beginning to its end.
pub struct File {
    handle: usize,
}

impl File {
    /// Opens a file for reading; the path is relative to where the runner was started.
    pub fn open(path: &str) -> Result<Self, &'static str> {
        if !emulator::is_present() {
            return Err("files come from a laptop: there is none without QEMU");
        }
        Self::request_open(path, MODE_READ_BINARY).ok_or("the file cannot be opened")
    }

    fn request_open(path: &str, mode: usize) -> Option<Self> {
        let mut ended = [0u8; LINE_BYTES];
        ended.get_mut(..path.len()).filter(|_| path.len() < LINE_BYTES)?.copy_from_slice(path.as_bytes());
        let handle = request(OPEN, &mut [ended.as_ptr() as usize, mode, path.len()]);
        usize::try_from(handle).ok().map(|handle| Self { handle })
    }

    /// Fills `buffer` as far as the file reaches; what it returns is shorter only at the end of the file.
    pub fn read<'a>(&mut self, buffer: &'a mut [u8]) -> &'a [u8] {
        let missing = request(READ, &mut [self.handle, buffer.as_mut_ptr() as usize, buffer.len()]);
        let missing = usize::try_from(missing).unwrap_or(buffer.len()).min(buffer.len());
        let read = buffer.len() - missing;
        &buffer[..read]
    }
}

/// Writes to the host's standard output.
pub struct Output(Option<File>);

impl Output {
    pub const fn new() -> Self {
        Self(None)
    }

    pub fn write(&mut self, bytes: &[u8]) {
        if self.0.is_none() {
            self.0 = File::request_open(":tt", MODE_WRITE);
        }
        if let Some(file) = &self.0 {
            // The operation only reads the bytes; what it answers is the count of bytes lost, which nobody could mend.
            request(WRITE, &mut [file.handle, bytes.as_ptr() as usize, bytes.len()]);
        }
    }
}

/// The words after `--` of `cargo run`; none on hardware.
pub struct Arguments {
    /// The program's name and the words, each ended by a zero.
    words: [u8; LINE_BYTES],
}

impl Arguments {
    /// Stands for a space inside an argument, since semihosting hands over one line; runner/src/qemu.rs writes it.
    const INNER_SPACE: u8 = 0x1f;

    pub fn read() -> Self {
        let mut words = [0u8; LINE_BYTES];
        if emulator::is_present() {
            request(GET_COMMAND_LINE, &mut [words.as_mut_ptr() as usize, LINE_BYTES]);
        }
        for byte in &mut words {
            *byte = match *byte {
                b' ' => 0,
                Self::INNER_SPACE => b' ',
                other => other,
            };
        }
        Self { words }
    }

    /// Argument `index`, counted from 0 after the program's name.
    pub fn get(&self, index: usize) -> Option<&str> {
        let mut words = self.words.split(|&byte| byte == 0).filter(|word| !word.is_empty());
        core::str::from_utf8(words.nth(index + 1)?).ok()
    }
}

/// Ends the program: QEMU with this exit code; on hardware the chip sleeps, its log stays readable by RTT.
pub fn exit(code: u8) -> ! {
    if emulator::is_present() || debugger_attached() {
        request(EXIT_EXTENDED, &mut [APPLICATION_EXIT, usize::from(code)]);
    }
    loop {
        cortex_m::asm::wfi();
    }
}

/// probe-rs answers a semihosting exit as QEMU does; without a debugger the breakpoint would be a fault.
fn debugger_attached() -> bool {
    #[cfg(not(armv6m))]
    return cortex_m::peripheral::DCB::is_debugger_attached();
    // A Cortex-M0 cannot see its own debug registers.
    #[cfg(armv6m)]
    false
}
