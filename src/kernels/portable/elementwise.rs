//! One value in, one value out: activations, and the stream's return to 8 bits.

use crate::arith::{requantize, saturate_i8};

/// Negative values become zero.
pub fn relu(values: &mut [i8]) {
    for value in values {
        *value = (*value).max(0);
    }
}

/// Looks every value up in a table of the activation.
pub fn activate(table: &[i8; 256], values: &mut [i8]) {
    for value in values {
        *value = table[usize::from(*value as u8)];
    }
}

/// The residual stream in 8 bits.
pub fn rescale(multiplier: i32, stream: &[i16], output: &mut [i8]) {
    debug_assert_eq!(stream.len(), output.len());
    for (&value, result) in stream.iter().zip(output) {
        *result = saturate_i8(requantize(i32::from(value), multiplier));
    }
}
