//! The steps of a Fourier transform on the DSP extension: both halves of a complex value in one register, 45 instructions
//! for four points.
//!
//! Scaling down is `(x · c + 2¹⁴) >> 15`. For the imaginary half c and 2¹⁴ are doubled, which leaves the same bits in the
//! upper halfword, where they belong; PKHTB puts both halves together. Sums wrap at 16 bits, as `SADD16` does.

use microformer_packed::signal::Complex;

pub use crate::kernels::portable::first_twos;

/// The first step where the number of points is a power of four: see [`crate::kernels::portable::first_fours`].
pub fn first_fours(points: &mut [Complex], shift: u32) {
    let (blocks, _) = points.as_chunks_mut::<4>();
    let range = blocks.as_mut_ptr_range();
    if !blocks.is_empty() && shift < 16 {
        // SAFETY: whole blocks of four, at least one; a complex value is a word.
        unsafe { combine_fours(range.start, range.end, shift) };
    }
}

/// Turns each four neighbouring spectra of `SPAN` points into one: see [`crate::kernels::portable::fours`].
pub fn fours<const SPAN: usize>(points: &mut [Complex], rotations: &[[Complex; 3]; SPAN]) {
    let (spectra, _) = points.as_chunks_mut::<SPAN>();
    let (blocks, _) = spectra.as_chunks_mut::<4>();
    let range = blocks.as_mut_ptr_range();
    if !blocks.is_empty() && SPAN > 0 {
        // SAFETY: whole blocks of four times `SPAN` points, at least one, and a rotation for each of `SPAN`.
        unsafe { rotate_fours(range.start.cast(), rotations.as_ptr(), SPAN, range.end.cast()) };
    }
}

/// From the spectrum of packed pairs to that of the real samples: see [`crate::kernels::portable::untangle`].
pub fn untangle(low: &mut [Complex], high: &mut [Complex], rotations: &[Complex]) {
    let pairs = low.len().min(high.len()).min(rotations.len());
    if pairs > 0 {
        let last = high.as_mut_ptr_range().end.wrapping_sub(1);
        // SAFETY: there are `pairs` values from `low` on, up to `last`, and rotations.
        unsafe { untangle_pairs(low.as_mut_ptr(), last, rotations.as_ptr(), pairs) };
    }
}

/// Scales `$point` down; r5 holds the factors, r6 and r7 the halves that round. Uses lr.
macro_rules! scale_down {
    ($point:literal) => {
        concat!(
            "smlatt lr, ",
            $point,
            ", r5, r7\n",
            "smlabb ",
            $point,
            ", ",
            $point,
            ", r5, r6\n",
            "pkhtb ",
            $point,
            ", lr, ",
            $point,
            ", asr #15\n",
        )
    };
}

/// Shifts both halves of `$point` up by r2, and scales it down. Uses lr.
macro_rules! shift_and_scale_down {
    ($point:literal) => {
        concat!(
            "lsr lr, ",
            $point,
            ", #16\n",
            "lsl ",
            $point,
            ", ",
            $point,
            ", r2\n",
            "lsl lr, lr, r2\n",
            "smlabt lr, lr, r5, r7\n",
            "smlabb ",
            $point,
            ", ",
            $point,
            ", r5, r6\n",
            "pkhtb ",
            $point,
            ", lr, ",
            $point,
            ", asr #15\n",
        )
    };
}

/// Multiplies `$point` by `$by`. Uses lr.
macro_rules! rotate {
    ($point:literal, $by:literal) => {
        concat!(
            "smlsd lr, ",
            $point,
            ", ",
            $by,
            ", r6\n",
            "smladx ",
            $point,
            ", ",
            $point,
            ", ",
            $by,
            ", r6\n",
            "lsl ",
            $point,
            ", ",
            $point,
            ", #1\n",
            "pkhtb ",
            $point,
            ", ",
            $point,
            ", lr, asr #15\n",
        )
    };
}

/// # Safety
/// `points … end` is a multiple of four words, not 0.
#[unsafe(naked)]
unsafe extern "C" fn combine_fours(points: *mut [Complex; 4], end: *mut [Complex; 4], shift: u32) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "movw r5, #8191",
        "movt r5, #16382",
        "mov.w r6, #0x4000",
        "mov.w r7, #0x8000",
        "2:",
        "ldm r0, {{r8-r11}}",
        shift_and_scale_down!("r8"),
        shift_and_scale_down!("r9"),
        shift_and_scale_down!("r10"),
        shift_and_scale_down!("r11"),
        "sadd16 r12, r8, r10",
        "ssub16 r3, r8, r10",
        "sadd16 lr, r9, r11",
        "ssub16 r4, r9, r11",
        "sadd16 r8, r12, lr",
        "ssax r9, r3, r4",
        "ssub16 r10, r12, lr",
        "sasx r11, r3, r4",
        "stmia.w r0!, {{r8-r11}}",
        "cmp r0, r1",
        "bne 2b",
        "pop {{r4-r11, pc}}",
    )
}

/// # Safety
/// `points … end` is a multiple of four times `span` words, not 0; there are `span` rotations.
#[unsafe(naked)]
unsafe extern "C" fn rotate_fours(
    points: *mut Complex,
    rotations: *const [Complex; 3],
    span: usize,
    end: *mut Complex,
) {
    naked_asm!(
        // The frame: rotations, span, end.
        "push {{r1-r11, lr}}",
        "lsls r2, r2, #2",
        "add r3, r2, r2, lsl #1",
        "movw r5, #8191",
        "movt r5, #16382",
        "mov.w r6, #0x4000",
        "mov.w r7, #0x8000",
        "2:",
        "ldrd r1, r4, [sp]",
        "3:",
        "ldr r9, [r0, r2]",
        "ldr r12, [r1], #4",
        scale_down!("r9"),
        rotate!("r9", "r12"),
        "ldr r10, [r0, r2, lsl #1]",
        "ldr r12, [r1], #4",
        scale_down!("r10"),
        rotate!("r10", "r12"),
        "ldr r11, [r0, r3]",
        "ldr r12, [r1], #4",
        scale_down!("r11"),
        rotate!("r11", "r12"),
        "ldr r8, [r0]",
        scale_down!("r8"),
        "sadd16 r12, r8, r10",
        "ssub16 r8, r8, r10",
        "sadd16 lr, r9, r11",
        "ssub16 r9, r9, r11",
        "sadd16 r10, r12, lr",
        "ssub16 r12, r12, lr",
        "ssax lr, r8, r9",
        "sasx r8, r8, r9",
        "str r12, [r0, r2, lsl #1]",
        "str lr, [r0, r2]",
        "str r8, [r0, r3]",
        "str r10, [r0], #4",
        "subs r4, #1",
        "bne 3b",
        // Behind the first spectrum lie the three others.
        "add r0, r3",
        "ldr r4, [sp, #8]",
        "cmp r0, r4",
        "bne 2b",
        "add sp, #12",
        "pop {{r4-r11, pc}}",
    )
}

/// # Safety
/// There are `pairs` values, not 0, from `low` on, up to and including `high`, and rotations.
#[unsafe(naked)]
unsafe extern "C" fn untangle_pairs(low: *mut Complex, high: *mut Complex, rotations: *const Complex, pairs: usize) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "movs r4, #0",
        "movw r5, #16383",
        "movt r5, #32766",
        "mov.w r6, #0x4000",
        "mov.w r7, #0x8000",
        "2:",
        "ldr r9, [r1]",
        "ldr r8, [r0]",
        // The conjugate.
        "ssub16 r12, r4, r9",
        "pkhbt r9, r9, r12",
        scale_down!("r9"),
        scale_down!("r8"),
        "ldr r10, [r2], #4",
        "sadd16 r11, r8, r9",
        "ssub16 r12, r8, r9",
        rotate!("r12", "r10"),
        "shadd16 r8, r11, r12",
        "shsub16 r9, r11, r12",
        "shsub16 r10, r12, r11",
        "pkhbt r9, r9, r10",
        "str r8, [r0], #4",
        "str r9, [r1], #-4",
        "subs r3, #1",
        "bne 2b",
        "pop {{r4-r11, pc}}",
    )
}
