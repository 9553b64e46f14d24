//! Activation tables, sixteen values a turn, with instructions that both instruction sets have.

use core::arch::naked_asm;

const TURN: usize = 16;

/// Looks every value up in a table of the activation.
pub fn activate(table: &[i8; 256], values: &mut [i8]) {
    let (turns, rest) = values.as_chunks_mut::<TURN>();
    if !turns.is_empty() {
        // SAFETY: the table has an entry for every byte; the turns are not none.
        unsafe { look_up(table, turns.as_mut_ptr(), turns.as_ptr_range().end) };
    }
    for value in rest {
        *value = table[usize::from(*value as u8)];
    }
}

/// # Safety
/// `values … end` is not empty.
#[unsafe(naked)]
unsafe extern "C" fn look_up(table: *const [i8; 256], values: *mut [i8; TURN], end: *const [i8; TURN]) {
    naked_asm!(
        "2:",
        ".irp lane, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
        "ldrb r3, [r1, #\\lane]",
        "ldrb r3, [r0, r3]",
        "strb r3, [r1, #\\lane]",
        ".endr",
        "adds r1, #{turn}",
        "cmp r1, r2",
        "bne 2b",
        "bx lr",
        turn = const TURN,
    )
}
