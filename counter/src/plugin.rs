//! The door to QEMU: what it calls, and what we ask of it (include/qemu/qemu-plugin.h of QEMU, interfaces 1 to 3).
//!
//! QEMU hands every instruction over once, when it translates it, and then calls back each time it is executed.

use crate::instruction::Instruction;
use crate::meter::Meter;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::File;
use std::io::Write;
use std::sync::Mutex;

type PluginId = u64;

#[repr(C)]
pub struct Block([u8; 0]);
#[repr(C)]
pub struct Handle([u8; 0]);

/// The callback reads no register.
const NO_REGISTERS: c_int = 0;

unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(id: PluginId, callback: extern "C" fn(PluginId, *const Block));
    fn qemu_plugin_tb_n_insns(block: *const Block) -> usize;
    fn qemu_plugin_tb_get_insn(block: *const Block, index: usize) -> *mut Handle;
    fn qemu_plugin_insn_vaddr(instruction: *const Handle) -> u64;
    fn qemu_plugin_register_vcpu_insn_exec_cb(
        instruction: *mut Handle,
        callback: extern "C" fn(c_uint, *mut c_void),
        flags: c_int,
        data: *mut c_void,
    );
    #[cfg(not(instruction_is_copied))]
    fn qemu_plugin_insn_data(instruction: *const Handle) -> *const [u8; 4];
    #[cfg(instruction_is_copied)]
    fn qemu_plugin_insn_data(instruction: *const Handle, place: *mut c_void, bytes: usize) -> usize;
}

/// The interface that QEMU compares with its own.
#[unsafe(no_mangle)]
pub static qemu_plugin_version: c_int = (env!("QEMU_PLUGIN_INTERFACE").as_bytes()[0] - b'0') as c_int;

struct State {
    meter: Meter,
    output: File,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// QEMU calls this once; `out=FILE` is the only option.
///
/// # Safety
/// `options` holds `count` C strings, as QEMU promises.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: PluginId,
    _information: *const c_void,
    count: c_int,
    options: *const *const c_char,
) -> c_int {
    let mut output = None;
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: index < count.
        let place = unsafe { options.add(index) };
        // SAFETY: the place is inside the array that QEMU passed.
        let option = unsafe { place.read() };
        // SAFETY: QEMU passes C strings that live for this call.
        let option = unsafe { CStr::from_ptr(option) }.to_string_lossy();
        output = option.strip_prefix("out=").map(|path| File::create(path).map_err(|error| format!("{path}: {error}")));
    }
    let output = match output {
        Some(Ok(output)) => output,
        Some(Err(reason)) => return refuse(&reason),
        None => return refuse("say where to write: out=FILE"),
    };
    let Ok(mut state) = STATE.lock() else { return refuse("it cannot be loaded twice") };
    *state = Some(State { meter: Meter::default(), output });
    // SAFETY: the id is the one that QEMU gave; the callback lives as long as this library.
    unsafe { qemu_plugin_register_vcpu_tb_trans_cb(id, translate) };
    0
}

fn refuse(reason: &str) -> c_int {
    eprintln!("qemu: the counter plugin cannot start: {reason}");
    1
}

extern "C" fn translate(_id: PluginId, block: *const Block) {
    // SAFETY: QEMU's block is valid during this call.
    let count = unsafe { qemu_plugin_tb_n_insns(block) };
    for index in 0..count {
        // SAFETY: index < count.
        let handle = unsafe { qemu_plugin_tb_get_insn(block, index) };
        // SAFETY: the handle is valid during this call.
        let address = unsafe { qemu_plugin_insn_vaddr(handle) };
        let [a, b, c, d] = bytes_of(handle);
        let instruction = Instruction::decode(address as u32, u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        // Translated code lives until QEMU ends, and so does what its callback needs.
        let data: *mut Instruction = Box::leak(Box::new(instruction));
        // SAFETY: the handle is valid, and `data` is never freed.
        unsafe { qemu_plugin_register_vcpu_insn_exec_cb(handle, execute, NO_REGISTERS, data.cast()) };
    }
}

/// The instruction's bytes; the last two mean nothing when it has only two. QEMU 7.2 reports a wrong length for an
/// instruction before the end of a page, so nobody asks for it.
fn bytes_of(handle: *const Handle) -> [u8; 4] {
    let mut bytes = [0; 4];
    #[cfg(not(instruction_is_copied))]
    {
        // SAFETY: the handle is valid.
        let data = unsafe { qemu_plugin_insn_data(handle) }.cast::<u8>();
        // SAFETY: every Thumb instruction has at least two bytes.
        bytes[0] = unsafe { data.read() };
        // SAFETY: as above.
        bytes[1] = unsafe { data.add(1).read() };
        if crate::instruction::length(u16::from_le_bytes([bytes[0], bytes[1]])) == 4 {
            // SAFETY: the first halfword says that there are four.
            bytes[2] = unsafe { data.add(2).read() };
            // SAFETY: as above.
            bytes[3] = unsafe { data.add(3).read() };
        }
    }
    #[cfg(instruction_is_copied)]
    {
        // SAFETY: the handle is valid and the place holds four bytes.
        unsafe { qemu_plugin_insn_data(handle, bytes.as_mut_ptr().cast(), bytes.len()) };
    }
    bytes
}

extern "C" fn execute(_processor: c_uint, data: *mut c_void) {
    // SAFETY: `translate` registered this pointer, to an instruction that is never freed nor changed.
    let instruction = unsafe { &*data.cast::<Instruction>() };
    let Ok(mut state) = STATE.lock() else { return };
    let Some(State { meter, output }) = state.as_mut() else { return };
    if let Some(region) = meter.execute(instruction) {
        // Unbuffered: the firmware may end QEMU at any time. A full disk shows as a missing line.
        let _ = writeln!(output, "region {} {} {}", region.depth, region.count.instructions, region.count.cycles);
    }
}
