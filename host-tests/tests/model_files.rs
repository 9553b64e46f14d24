//! Damaged, truncated and mismatched model files: one sentence that names the tensor, and never a panic.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use host_tests::{fidelity::step_all, models, random::Random};
use microformer_bake::{FloatModel, Quantized};
use microformer_packed::Layout;
use quantizer::{Ranges, quantize};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

const CASES: [&str; 6] = ["norm-first-gelu", "norm-last-relu", "tokens-gelu", "banded-alibi", "stem-odd", "stem-even"];

/// Damaged copies of each file.
const DAMAGES: usize = 400;

fn float_bytes(case: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden");
    std::fs::read(folder.join(format!("{case}.model.safetensors"))).unwrap()
}

fn quantized(case: &str) -> Quantized {
    let model = FloatModel::from_bytes(&float_bytes(case)).unwrap();
    let mut random = Random::new(5);
    let sequences: Vec<_> = (0..4).map(|_| models::sequence(&model.config, 12, &mut random)).collect();
    let inputs: Vec<_> = sequences.iter().map(models::Sequence::input).collect();
    quantize(&model, &Ranges::observe(&model, &inputs, || ()).unwrap()).unwrap()
}

fn quantized_bytes(case: &str) -> Vec<u8> {
    let path = std::env::temp_dir().join(format!("microformer-model-files-{}-{case}", std::process::id()));
    quantized(case).write(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    bytes
}

/// A file taken apart, to be put together wrongly.
struct Parts {
    metadata: HashMap<String, String>,
    tensors: BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>,
}

impl Parts {
    fn of(bytes: &[u8]) -> Self {
        let (_, header) = SafeTensors::read_metadata(bytes).unwrap();
        let tensors = SafeTensors::deserialize(bytes).unwrap().tensors();
        let part = |tensor: &TensorView| (tensor.dtype(), tensor.shape().to_vec(), tensor.data().to_vec());
        Self {
            metadata: header.metadata().clone().unwrap(),
            tensors: tensors.iter().map(|(name, tensor)| (name.clone(), part(tensor))).collect(),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let view = |(dtype, shape, data): &'_ (Dtype, Vec<usize>, Vec<u8>)| (*dtype, shape.clone(), data.clone());
        let owned: Vec<_> = self.tensors.iter().map(|(name, part)| (name, view(part))).collect();
        let views = owned.iter().map(|(name, (dtype, shape, data))| {
            ((*name).clone(), TensorView::new(*dtype, shape.clone(), data).unwrap())
        });
        safetensors::serialize(views.collect::<Vec<_>>(), Some(self.metadata.clone())).unwrap()
    }
}

fn float_sentence(parts: &Parts) -> String {
    FloatModel::from_bytes(&parts.bytes()).expect_err("a damaged file").to_string()
}

fn quantized_sentence(parts: &Parts) -> String {
    let read = Quantized::from_bytes(&parts.bytes());
    read.and_then(|file| file.assemble(Layout::Plain).map(|_| ())).expect_err("a damaged file").to_string()
}

/// Every prefix of a file is refused.
fn check_truncation(bytes: &[u8], read: impl Fn(&[u8]) -> Option<String>) {
    for len in (0..bytes.len().min(3000)).chain((3000..bytes.len()).step_by(97)).chain([bytes.len() - 1]) {
        let sentence = read(&bytes[..len]).unwrap_or_else(|| panic!("{len} of {} bytes passed", bytes.len()));
        assert!(sentence.contains("not a whole safetensors file"), "{len} bytes: {sentence}");
    }
}

#[test]
fn truncated_files() {
    check_truncation(&float_bytes("stem-odd"), |bytes| FloatModel::from_bytes(bytes).err().map(|e| e.to_string()));
    check_truncation(&quantized_bytes("stem-odd"), |bytes| Quantized::from_bytes(bytes).err().map(|e| e.to_string()));
}

#[test]
fn a_file_that_is_no_model() {
    for bytes in [&b""[..], b"{}", b"\0\0\0\0\0\0\0\0", b"\xff\xff\xff\xff\xff\xff\xff\xff{}", &[0x50; 4000]] {
        assert!(FloatModel::from_bytes(bytes).is_err());
        assert!(Quantized::from_bytes(bytes).is_err());
    }
    let missing = FloatModel::read(&PathBuf::from("no/such/model.safetensors")).unwrap_err().to_string();
    assert!(missing.contains("no/such/model.safetensors"), "{missing}");
    let mut parts = Parts::of(&float_bytes("stem-odd"));
    parts.metadata.clear();
    assert!(float_sentence(&parts).contains("`microformer`"));
}

#[test]
fn each_kind_of_file_is_told_from_the_other() {
    let sentence = Quantized::from_bytes(&float_bytes("stem-odd")).unwrap_err().to_string();
    assert!(sentence.contains("microformer quantize"), "{sentence}");
    let sentence = FloatModel::from_bytes(&quantized_bytes("stem-odd")).unwrap_err().to_string();
    assert!(sentence.contains("quantised"), "{sentence}");
}

/// Bits flipped, bytes overwritten, stretches moved: an error or another model, which then runs.
fn damage(bytes: &mut [u8], random: &mut Random) {
    // Half of the damage goes to the header, where it hurts most.
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let reach = if random.below(2) == 0 { header } else { bytes.len() };
    for _ in 0..=random.below(3) {
        let place = random.below(reach);
        match random.below(3) {
            0 => bytes[place] ^= 1 << random.below(8),
            1 => bytes[place] = random.bits() as u8,
            _ => {
                let len = random.below(16).min(bytes.len() - place);
                bytes[place..place + len].rotate_left(usize::from(len > 1));
            }
        }
    }
}

#[test]
fn float_files_damaged_by_the_hundred() {
    let mut refused = 0;
    for case in CASES {
        let whole = float_bytes(case);
        let mut random = Random::new(77);
        for _ in 0..DAMAGES {
            let mut bytes = whole.clone();
            damage(&mut bytes, &mut random);
            if let Err(error) = FloatModel::from_bytes(&bytes) {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    assert!(refused > CASES.len() * DAMAGES / 4, "only {refused} were refused");
}

#[test]
fn quantized_files_damaged_by_the_hundred() {
    let (mut refused, mut ran) = (0, 0);
    for case in CASES {
        let whole = quantized_bytes(case);
        let mut random = Random::new(78);
        for _ in 0..DAMAGES {
            let mut bytes = whole.clone();
            damage(&mut bytes, &mut random);
            match Quantized::from_bytes(&bytes).and_then(|file| file.assemble(Layout::Plain)) {
                Err(_) => refused += 1,
                Ok(model) => {
                    let sequence = models::sequence(&model.config, 8, &mut random);
                    step_all(&model, &sequence, &mut ());
                    ran += 1;
                }
            }
        }
    }
    assert!(refused > 1000 && ran > 100, "{refused} refused, {ran} ran");
}

#[test]
fn every_float_tensor_is_missed_by_name() {
    for case in CASES {
        let whole = Parts::of(&float_bytes(case));
        for name in whole.tensors.keys().filter(|name| name.ends_with(".weight")) {
            let mut parts = Parts::of(&float_bytes(case));
            let moved = parts.tensors.remove(name).unwrap();
            if name != "positions.weight" {
                let sentence = float_sentence(&parts);
                assert!(sentence.contains(&format!("`{name}` is missing")), "{case}: {sentence}");
            }
            parts.tensors.insert(format!("{name}s"), moved);
            let sentence = float_sentence(&parts);
            assert!(sentence.contains(name.as_str()), "{case}: {sentence}");
        }
    }
}

#[test]
fn every_float_tensor_of_a_wrong_shape_is_named() {
    for case in CASES {
        for name in Parts::of(&float_bytes(case)).tensors.keys() {
            let mut parts = Parts::of(&float_bytes(case));
            let tensor = parts.tensors.get_mut(name).unwrap();
            tensor.1.reverse();
            tensor.1.push(1);
            let sentence = float_sentence(&parts);
            assert!(sentence.contains(&format!("`{name}` has shape")) && sentence.contains("expected ("), "{sentence}");
        }
    }
}

#[test]
fn every_float_tensor_with_a_value_that_is_no_number_is_named() {
    let mut random = Random::new(9);
    for name in Parts::of(&float_bytes("norm-first-gelu")).tensors.keys() {
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut parts = Parts::of(&float_bytes("norm-first-gelu"));
            let (dtype, _, data) = parts.tensors.get_mut(name).unwrap();
            assert_eq!(*dtype, Dtype::F32);
            let place = random.below(data.len() / 4);
            data[4 * place..][..4].copy_from_slice(&value.to_le_bytes());
            let sentence = float_sentence(&parts);
            assert!(
                sentence.contains(&format!("`{name}` holds")) && sentence.contains(&place.to_string()),
                "{sentence}"
            );
        }
    }
}

#[test]
fn a_tensor_too_many_and_a_label_too_few() {
    let mut parts = Parts::of(&float_bytes("stem-odd"));
    parts.tensors.insert("blocks.0.attention.gate.weight".into(), (Dtype::F32, vec![1], vec![0; 4]));
    assert!(float_sentence(&parts).contains("`blocks.0.attention.gate.weight` has no place"));

    let mut parts = Parts::of(&float_bytes("stem-odd"));
    let json = parts.metadata.get_mut("microformer").unwrap();
    *json = json.replace(r#"["a", "b", "c"]"#, r#"["a", "b"]"#);
    let sentence = float_sentence(&parts);
    assert!(sentence.contains("`head.weight`") && sentence.contains("2 labels"), "{sentence}");
}

#[test]
fn damaged_four_bit_weights_are_named() {
    let (name, json, bits) = host_tests::shapes::FOUR_BITS;
    let path = std::env::temp_dir().join(format!("microformer-model-files-{}-{name}", std::process::id()));
    models::mixed_pair(json, 7, &bits).quantized.write(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let damaged = |tensor: &str, edit: &dyn Fn(&mut Vec<usize>, &mut Vec<u8>)| {
        let mut parts = Parts::of(&bytes);
        let (dtype, shape, data) = parts.tensors.get_mut(tensor).expect("a tensor of the model");
        assert_eq!(*dtype, Dtype::U8);
        edit(shape, data);
        quantized_sentence(&parts)
    };
    let sentence = damaged("blocks.1.mlp.up.weight", &|_, data| data[3] &= 0xF0);
    assert!(sentence.contains("`blocks.1.mlp.up.weight`, row 0: -8"), "{sentence}");
    // 37 columns: the last half byte of a row is padding.
    let sentence = damaged("blocks.0.mlp.down.weight", &|_, data| data[18] = 0x78);
    assert!(sentence.contains("`blocks.0.mlp.down.weight`, row 0: -1 behind its last column"), "{sentence}");
    let sentence = damaged("head.weight", &|shape, data| {
        shape[0] -= 1;
        data.truncate(shape[0] * shape[1]);
    });
    assert!(sentence.contains("`head.weight` has shape"), "{sentence}");

    let mut parts = Parts::of(&bytes);
    let key = parts.tensors.get_mut("blocks.0.attention.key.weight").expect("a tensor of the model");
    *key = (Dtype::I8, vec![key.1[0], 22], vec![1; 22 * key.1[0]]);
    let sentence = quantized_sentence(&parts);
    assert!(sentence.contains("`blocks.0.attention.key.weight` has another number of bits"), "{sentence}");
}

#[test]
fn every_quantized_tensor_is_needed_in_its_shape_and_type() {
    for case in CASES {
        let bytes = quantized_bytes(case);
        for name in Parts::of(&bytes).tensors.keys() {
            let mut parts = Parts::of(&bytes);
            let whole = parts.tensors.remove(name).unwrap();
            let sentence = quantized_sentence(&parts);
            assert!(sentence.contains(&format!("`{name}` is missing")), "{case}: {sentence}");

            let (dtype, mut shape, data) = whole.clone();
            shape.push(1);
            parts.tensors.insert(name.clone(), (dtype, shape, data));
            let sentence = quantized_sentence(&parts);
            assert!(sentence.contains(&format!("`{name}` has shape")), "{case}: {sentence}");

            let (_, shape, data) = whole;
            let len = shape.iter().product::<usize>();
            // A type that no tensor of a quantised model has.
            parts.tensors.insert(
                name.clone(),
                (Dtype::F64, shape, [data.as_slice(), &vec![0; 8 * len]].concat()[..8 * len].to_vec()),
            );
            let sentence = quantized_sentence(&parts);
            assert!(sentence.contains(&format!("`{name}`")), "{case}: {sentence}");
        }
    }
}
