//! Integer LayerNorm and RMSNorm against the reference, at 8 bits and in place at 16.

use host_tests::{matrices::pad, random::Random};
use microformer::kernels::portable;
use microformer::packed::{Norm, norm_fraction_bits};
use microformer_bake::{Matrix, config::NormKind, float};
use proptest::prelude::*;

/// In steps of the 8-bit output: one rounding, and what a bias in 1/256 and a 22-bit inverse root add.
const CEILING_8_BITS: f64 = 0.51;

/// In steps of the 16-bit stream: one rounding, and 22 bits of inverse root over 16 bits of output.
const CEILING_16_BITS: f64 = 0.54;

/// A token of the stream, and its norm in real numbers whose unit is the output's step.
struct Case {
    kind: NormKind,
    epsilon: u64,
    stream: Vec<i16>,
    layer: float::Norm,
}

impl Case {
    /// `most`: the gain, in steps of the output for one standard deviation, is at most this.
    fn random(kind: NormKind, len: usize, spread: f64, most: f64, random: &mut Random) -> Self {
        let centre = 20_000.0 * random.unit();
        let value = |random: &mut Random| (centre + spread * random.normal()).round().clamp(-32768.0, 32767.0) as i16;
        let stream = (0..len).map(|_| value(random)).collect();
        let weight = (0..len).map(|_| most * random.unit()).collect();
        let bias = match kind {
            NormKind::Layer => (0..len).map(|_| most * random.unit()).collect(),
            NormKind::Rms => vec![0.0; len],
        };
        let epsilon = if random.below(2) == 0 { 0 } else { random.between(0, 1 << 20) as u64 };
        Self { kind, epsilon, stream, layer: float::Norm { weight, bias } }
    }

    fn exact(&self) -> Vec<f64> {
        let len = self.stream.len();
        let tokens = Matrix { rows: 1, columns: len, values: self.stream.iter().map(|&value| value.into()).collect() };
        let epsilon = self.epsilon as f64 / (len * len) as f64;
        let variance = reference::norm::norm(&self.layer, self.kind, epsilon, &tokens).values;
        // Where all values are equal and epsilon is zero, the quotient 0/0 counts as 0.
        variance.iter().zip(&self.layer.bias).map(|(value, bias)| if value.is_nan() { *bias } else { *value }).collect()
    }

    fn affine(&self) -> Vec<[i32; 2]> {
        let unit = f64::from(8 + 32 - norm_fraction_bits(self.stream.len())).exp2();
        let pairs = self.layer.weight.iter().zip(&self.layer.bias);
        pad(&pairs
            .map(|(gain, bias)| [(gain * unit).round() as i32, (bias * 256.0).round() as i32 + 128])
            .collect::<Vec<_>>())
    }

    fn check(&self) {
        let len = self.stream.len();
        let affine = self.affine();
        let norm = Norm {
            len,
            centred: self.kind == NormKind::Layer,
            epsilon: self.epsilon,
            fraction_bits: norm_fraction_bits(len),
            affine: &affine,
        };
        let mut stream = pad(&self.stream);
        let mut bytes = vec![99; stream.len()];
        portable::norm(&norm, &stream, &mut bytes);
        portable::norm_stream(&norm, &mut stream);
        for (index, exact) in self.exact().into_iter().enumerate() {
            let (byte, half) = (f64::from(bytes[index]), f64::from(stream[index]));
            assert!((byte - exact.clamp(-127.0, 127.0)).abs() <= CEILING_8_BITS, "{index}: {byte}, exactly {exact}");
            assert!(
                (half - exact.clamp(-32768.0, 32767.0)).abs() <= CEILING_16_BITS,
                "{index}: {half}, exactly {exact}"
            );
        }
        assert!(bytes[len..].iter().all(|&byte| byte == 0) && stream[len..].iter().all(|&half| half == 0), "padding");
    }
}

#[test]
fn the_loudest_stream() {
    for len in [2, 3, 4, 5, 255, 256, 257, 510, 512] {
        for kind in [NormKind::Layer, NormKind::Rms] {
            let stream = (0..len).map(|index| if index % 2 == 0 { i16::MIN } else { i16::MAX }).collect();
            let layer = float::Norm { weight: vec![100.0; len], bias: vec![0.0; len] };
            Case { kind, epsilon: 0, stream, layer }.check();
        }
    }
}

#[test]
fn one_value_stands_out() {
    for len in [2, 4, 64, 511, 512] {
        for value in [i16::MIN, -1, 1, i16::MAX] {
            for kind in [NormKind::Layer, NormKind::Rms] {
                let mut stream = vec![0; len];
                stream[len / 2] = value;
                let layer = float::Norm { weight: vec![1000.0; len], bias: vec![0.0; len] };
                Case { kind, epsilon: 0, stream, layer }.check();
            }
        }
    }
}

#[test]
fn a_silent_stream_leaves_the_bias() {
    for value in [0, 5, i16::MAX, i16::MIN] {
        let layer = float::Norm { weight: vec![3.0; 6], bias: vec![1.0, -2.0, 100.0, 0.0, 7.4, -7.6] };
        Case { kind: NormKind::Layer, epsilon: 0, stream: vec![value; 6], layer }.check();
    }
}

proptest! {
    #[test]
    fn norms_of_any_length_and_loudness(
        centred: bool, len in 1usize..=512, loudness in 0.0f64..15.0, gain in 0.0f64..13.0, seed: u64,
    ) {
        let kind = if centred { NormKind::Layer } else { NormKind::Rms };
        Case::random(kind, len, loudness.exp2(), gain.exp2(), &mut Random::new(seed)).check();
    }
}
