//! Values one by one, over their whole domain: ReLU, activation tables as the quantiser makes them, the stream in 8 bits.

use host_tests::matrices::ONE_ROUNDING;
use microformer::kernels::portable;
use microformer_bake::{Values, config::Activation};
use quantizer::{code::Code, layers::Tensors};
use reference::mlp::activate;

/// A table is exact but for the rounding of its entries.
const TABLE_CEILING: f64 = ONE_ROUNDING;

#[test]
fn relu_of_every_byte() {
    let mut bytes: Vec<i8> = (-128..=127).collect();
    portable::relu(&mut bytes);
    for (index, &byte) in bytes.iter().enumerate() {
        assert_eq!(f64::from(byte), (index as f64 - 128.0).max(0.0));
    }
}

#[test]
fn activations_of_every_byte_between_many_codes() {
    for kind in [Activation::Gelu, Activation::Silu] {
        for (least, most) in [(-1.0, 1.0), (-0.2, 6.0), (-8.0, 8.0), (-40.0, 3.0), (-0.001, 0.001), (0.0, 30.0)] {
            let input = Code::between(least, most);
            for output in [Code::between(-0.28, most), Code::symmetric(most / 2.0)] {
                let mut tensors = Tensors::default();
                tensors.table("table".into(), |value| activate(kind, value), input, output);
                let Values::I8(table) = &tensors.made["table"].values else { panic!("a table of bytes") };
                let table: &[i8; 256] = table.as_slice().try_into().unwrap();
                let mut bytes: Vec<i8> = (-127..=127).collect();
                portable::activate(table, &mut bytes);
                for (code, came) in (-127..=127).zip(bytes) {
                    let exact = (activate(kind, input.real(f64::from(code))) - output.offset) / output.scale;
                    let error = f64::from(came) - exact.clamp(-127.0, 127.0);
                    assert!(error.abs() <= TABLE_CEILING, "{kind:?} of {code} is {came}, exactly {exact}");
                }
            }
        }
    }
}

#[test]
fn every_value_of_the_stream_in_8_bits() {
    let stream: Vec<i16> = (i16::MIN..=i16::MAX).collect();
    let mut output = vec![99; stream.len()];
    for multiplier in [0, 1, 1 << 16, 16_909_320, 1 << 24, 33_000_001, 1 << 28, i32::MAX] {
        portable::rescale(multiplier, &stream, &mut output);
        for (&value, &came) in stream.iter().zip(&output) {
            let exact = (f64::from(value) * f64::from(multiplier) / 32f64.exp2()).clamp(-127.0, 127.0);
            assert!((f64::from(came) - exact).abs() <= ONE_ROUNDING, "{value} · {multiplier} is {came}");
        }
    }
}
