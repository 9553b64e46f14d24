//! The float reference against PyTorch: every activation that `golden/make.py` recorded, for every case.

use std::collections::BTreeMap;
use std::path::PathBuf;

use microformer_bake::{FloatModel, Matrix};
use reference::{Input, forward, pool};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

/// Both sides compute in f64 from the same weights: what is left is the order of their sums.
const CEILING: f64 = 1e-9;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)
}

fn floats(tensor: &TensorView) -> Vec<f64> {
    assert_eq!(tensor.dtype(), Dtype::F64);
    tensor.data().as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect()
}

/// Runs one case and returns how many activations were compared.
fn check(name: &str) -> usize {
    let model = FloatModel::read(&golden(&format!("{name}.model.safetensors"))).unwrap();
    let bytes = std::fs::read(golden(&format!("{name}.expected.safetensors"))).unwrap();
    let expected = SafeTensors::deserialize(&bytes).unwrap();

    let mut seen = BTreeMap::new();
    let mut observe = |name: &str, tokens: &mut Matrix| {
        assert!(seen.insert(name.to_owned(), tokens.clone()).is_none(), "{name} was shown twice");
    };
    let input = expected.tensor("input").unwrap();
    let scores = if input.dtype() == Dtype::I64 {
        let tokens = input.data().as_chunks().0.iter().map(|&bytes| i64::from_le_bytes(bytes) as usize);
        forward(&model, Input::Tokens(&tokens.collect::<Vec<_>>()), &mut observe).unwrap()
    } else {
        let frames = Matrix { rows: input.shape()[0], columns: input.shape()[1], values: floats(&input) };
        forward(&model, Input::Features(&frames), &mut observe).unwrap()
    };
    seen.insert("pooled".into(), pool(model.config.pool, &scores));

    let names: Vec<&str> = expected.names().into_iter().filter(|&name| name != "input").collect();
    for activation in &names {
        let tensor = expected.tensor(activation).unwrap();
        let came = seen.get(*activation).unwrap_or_else(|| panic!("{name}: the reference shows no {activation}"));
        assert_eq!([came.rows, came.columns], tensor.shape(), "{name}: shape of {activation}");
        for (index, (came, expected)) in came.values.iter().zip(floats(&tensor)).enumerate() {
            let error = (came - expected).abs();
            assert!(error < CEILING, "{name}: {activation} at {index} is {came}, PyTorch has {expected}");
        }
    }
    names.len()
}

#[test]
fn transformer_encoder_norm_first_gelu() {
    assert_eq!(check("norm-first-gelu"), 3);
}

#[test]
fn transformer_encoder_norm_last_relu() {
    assert_eq!(check("norm-last-relu"), 4);
}

#[test]
fn transformer_encoder_of_tokens() {
    assert_eq!(check("tokens-gelu"), 2);
}

#[test]
fn multihead_attention_with_band_alibi_and_convolution() {
    assert_eq!(check("banded-alibi"), 24);
}

#[test]
fn convolution_stems() {
    assert_eq!(check("stem-odd"), 5);
    assert_eq!(check("stem-even"), 5);
}
