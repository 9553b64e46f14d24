//! From PyTorch to integers, end to end: models that PyTorch computed, quantised, run, and judged by PyTorch's own scores.

use std::path::PathBuf;

use host_tests::{
    fidelity::step_all,
    models::{self, Sequence},
    random::Random,
};
use microformer_bake::{FloatModel, Matrix};
use microformer_packed::Layout;
use quantizer::{Ranges, quantize};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

/// What the integer scores must reach against PyTorch's, in decibels.
const SQNR_FLOOR: f64 = 33.0;

fn floats(tensor: &TensorView) -> Vec<f64> {
    assert_eq!(tensor.dtype(), Dtype::F64);
    tensor.data().as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect()
}

fn sqnr(name: &str) -> f64 {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden");
    let model = FloatModel::read(&folder.join(format!("{name}.model.safetensors"))).unwrap();
    let bytes = std::fs::read(folder.join(format!("{name}.expected.safetensors"))).unwrap();
    let expected = SafeTensors::deserialize(&bytes).unwrap();
    let input = expected.tensor("input").unwrap();
    let sequence = if input.dtype() == Dtype::I64 {
        Sequence::Tokens(input.data().as_chunks().0.iter().map(|&bytes| i64::from_le_bytes(bytes) as usize).collect())
    } else {
        Sequence::Features(Matrix { rows: input.shape()[0], columns: input.shape()[1], values: floats(&input) })
    };

    let mut random = Random::new(17);
    let calibration: Vec<_> = (0..60).map(|_| models::sequence(&model.config, 12, &mut random)).collect();
    let inputs: Vec<_> = calibration.iter().map(Sequence::input).collect();
    let quantized = quantize(&model, &Ranges::observe(&model, &inputs, || ()).unwrap()).unwrap();
    let integer = quantized.assemble(Layout::Plain).unwrap();
    let unit = f64::from(integer.model.score_fraction_bits).exp2();

    // What each token says, pooled where the model pools.
    let truth = floats(&expected.tensor("pooled").or_else(|_| expected.tensor("scores")).unwrap());
    let came = step_all(&integer, &sequence, &mut ()).concat();
    assert_eq!(came.len(), truth.len());
    let signal: f64 = truth.iter().map(|value| value * value).sum();
    let noise: f64 = came.iter().zip(&truth).map(|(&came, truth)| (f64::from(came) / unit - truth).powi(2)).sum();
    10.0 * (signal / noise).log10()
}

#[test]
fn models_of_pytorch_keep_their_scores() {
    let cases = ["norm-first-gelu", "norm-last-relu", "tokens-gelu", "banded-alibi", "stem-odd", "stem-even"];
    let results: Vec<_> = cases.iter().map(|name| (name, sqnr(name))).collect();
    println!("{results:.1?}");
    assert!(results.iter().all(|(_, sqnr)| *sqnr >= SQNR_FLOOR), "{results:.1?}");
}
