//! Which operator costs what: the float model with one operator alone as the quantiser rounds it, against the float model.
//!
//! An operator is rounded as in the file: its weights row by row to the bits that they have there, and what leaves it to
//! its 8-bit code. The residual stream has 16 bits and counts as exact. The noise of all operators together is about what
//! the whole model shows.

use super::fidelity::Power;
use crate::data::Input;
use anyhow::{Result, anyhow};
use microformer::arith::exponential::STEPS;
use microformer_bake::{FloatModel, Matrix, Quantized, Values, float};
use quantizer::{Ranges, code::Code};
use reference::mlp::activate;
use serde::Serialize;

/// What one operator does to the scores.
#[derive(Serialize)]
pub struct Operator {
    name: String,
    /// Signal-to-noise ratio of the scores when this operator alone is rounded.
    pub scores_db: f64,
    /// Its part of the noise of all operators.
    pub share: f64,
}

/// Weights and tensors that are rounded together.
struct Rounding {
    name: String,
    weights: Vec<String>,
    tensors: Vec<String>,
}

/// Every operator, in the order of the data.
pub fn measure(model: &FloatModel, quantized: &Quantized, ranges: &Ranges, inputs: &[&Input]) -> Result<Vec<Operator>> {
    let forward = |model: &FloatModel, input: reference::Input, change: &mut reference::Observer| {
        let scores = reference::forward(model, input, change).map_err(|error| anyhow!(error))?;
        Ok::<_, anyhow::Error>(reference::pool(model.config.pool, &scores))
    };
    let whole = |input: &&Input| forward(model, input.reference(), &mut |_, _| ());
    let exact = inputs.iter().map(whole).collect::<Result<Vec<_>>>()?;
    let mut measured = Vec::new();
    let mut power = Power::default();
    for (input, exact) in inputs.iter().zip(&exact) {
        let Input::Features { frames, .. } = input else { continue };
        let coded = code_input(quantized, frames);
        let scores = forward(model, reference::Input::Features(&coded), &mut |_, _| ())?;
        power.add_all(exact, &scores);
    }
    if power.signal > 0.0 {
        measured.push(("input".to_owned(), power));
    }
    for rounding in roundings(model) {
        let mut rounded = model.clone();
        for name in &rounding.weights {
            let layer = layer_mut(&mut rounded, name).ok_or_else(|| anyhow!("the model has no `{name}`"))?;
            round_rows(&mut layer.weight, bits(quantized, name));
        }
        let mut power = Power::default();
        for (input, exact) in inputs.iter().zip(&exact) {
            let scores = forward(&rounded, input.reference(), &mut |name, tokens| {
                if rounding.tensors.iter().any(|tensor| tensor == name) {
                    round_tensor(model, ranges, name, tokens);
                }
            })?;
            power.add_all(exact, &scores);
        }
        measured.push((rounding.name, power));
    }
    let noise: f64 = measured.iter().map(|(_, power)| power.noise).sum();
    let share = |power: &Power| if noise > 0.0 { power.noise / noise } else { 0.0 };
    let operator =
        |(name, power): (String, Power)| Operator { name, scores_db: power.decibels(), share: share(&power) };
    Ok(measured.into_iter().map(operator).collect())
}

pub fn print(operators: &[Operator]) {
    println!("\n{:<36} {:>9}   of the noise", "operator, alone", "scores");
    for Operator { name, scores_db, share } in operators {
        println!("{name:<36} {scores_db:>6.1} dB   {:>4.1} %", 100.0 * share);
    }
}

fn roundings(model: &FloatModel) -> Vec<Rounding> {
    let config = &model.config;
    let rounding = |name: &str, weights: &[String], tensors: &[String]| Rounding {
        name: name.to_owned(),
        weights: weights.to_vec(),
        tensors: tensors.to_vec(),
    };
    let own = |name: &str| vec![name.to_owned()];
    let mut list = match &model.embed {
        float::Embed::Table(_) => Vec::new(),
        float::Embed::Linear(_) => vec![rounding("embed", &own("embed"), &[])],
        float::Embed::Convolution(_) => vec![
            rounding("embed.convolution", &own("embed.convolution"), &own("embed.convolution")),
            rounding("embed.depthwise", &own("embed.depthwise"), &own("embed.depthwise")),
            rounding("embed.projection", &own("embed.projection"), &[]),
        ],
    };
    for (index, block) in model.blocks.iter().enumerate() {
        let at = |part: &str| format!("blocks.{index}.{part}");
        let mut add = |name: &str, weights: &[&str], tensors: &[&str]| {
            let all = |parts: &[&str]| parts.iter().map(|part| at(part)).collect::<Vec<_>>();
            list.push(rounding(&at(name), &all(weights), &all(tensors)));
        };
        if config.norm_first {
            add("attention_norm", &[], &["attention_norm"]);
        }
        let projections = ["attention.query", "attention.key", "attention.value"];
        add("attention.query_key_value", &projections, &["queries", "keys", "values"]);
        let heads: Vec<String> = (0..config.heads).map(|head| format!("head.{head}.weights")).collect();
        let mixing: Vec<&str> = heads.iter().map(String::as_str).chain(["mixed"]).collect();
        add("attention.mix", &[], &mixing);
        add("attention.output", &["attention.output"], &[]);
        if config.norm_first {
            add("mlp_norm", &[], &["mlp_norm"]);
        }
        add("mlp.up", &["mlp.up"], &["up"]);
        if block.convolution.is_some() {
            add("mlp.convolution", &["mlp.convolution"], &["convolution"]);
        }
        add("mlp.activation", &[], &["activation"]);
        add("mlp.down", &["mlp.down"], &[]);
    }
    if model.norm.is_some() {
        list.push(rounding("norm", &[], &own("norm")));
    }
    list.push(rounding("head", &own("head"), &[]));
    list
}

fn layer_mut<'m>(model: &'m mut FloatModel, name: &str) -> Option<&'m mut float::Linear> {
    if let Some(part) = name.strip_prefix("embed") {
        return match (&mut model.embed, part) {
            (float::Embed::Linear(layer), "") => Some(layer),
            (float::Embed::Convolution(stem), ".convolution") => Some(&mut stem.convolution),
            (float::Embed::Convolution(stem), ".depthwise") => Some(&mut stem.depthwise),
            (float::Embed::Convolution(stem), ".projection") => Some(&mut stem.projection),
            _ => None,
        };
    }
    if name == "head" {
        return Some(&mut model.head);
    }
    let (index, part) = name.strip_prefix("blocks.")?.split_once('.')?;
    let block = model.blocks.get_mut(index.parse::<usize>().ok()?)?;
    Some(match part {
        "attention.query" => &mut block.query,
        "attention.key" => &mut block.key,
        "attention.value" => &mut block.value,
        "attention.output" => &mut block.output,
        "mlp.up" => &mut block.up,
        "mlp.convolution" => block.convolution.as_mut()?,
        "mlp.down" => &mut block.down,
        _ => return None,
    })
}

/// Bits of a weight in the quantised file, whose type tells them.
fn bits(quantized: &Quantized, name: &str) -> i32 {
    let tensor = quantized.tensors.get(&format!("{name}.weight"));
    if tensor.is_some_and(|tensor| matches!(tensor.values, Values::U8(_))) { 4 } else { 8 }
}

/// Features as the chip gets them.
fn code_input(quantized: &Quantized, frames: &Matrix) -> Matrix {
    let Some(Values::F32(scales)) = quantized.tensors.get("input.scale").map(|tensor| &tensor.values) else {
        return frames.clone();
    };
    Matrix::from_fn(frames.rows, frames.columns, |row, column| {
        let scale = f64::from(scales[column]);
        (frames.row(row)[column] / scale).round().clamp(-127.0, 127.0) * scale
    })
}

/// Each row to so many bits, symmetric about zero.
fn round_rows(weight: &mut Matrix, bits: i32) {
    let limit = f64::from(bits - 1).exp2() - 1.0;
    for row in 0..weight.rows {
        let row = weight.row_mut(row);
        let scale = row.iter().fold(0.0f64, |most, value| most.max(value.abs())) / limit;
        if scale > 0.0 {
            row.iter_mut().for_each(|value| *value = (*value / scale).round() * scale);
        }
    }
}

/// What leaves an operator, to its code.
fn round_tensor(model: &FloatModel, ranges: &Ranges, name: &str, tokens: &mut Matrix) {
    let part = name.rsplit('.').next().unwrap_or_default();
    if part == "weights" {
        return round_weights(tokens);
    }
    let seen = ranges.of(name);
    let kind = model.config.activation;
    let last = if model.config.convolution > 0 { "convolution" } else { "up" };
    if part.ends_with("norm") {
        // Each value of a norm has a scale of its own.
        for row in 0..tokens.rows {
            for (value, channel) in tokens.row_mut(row).iter_mut().zip(&seen.channels) {
                let code = Code::symmetric(channel.max_abs);
                *value = code.real(code.quantize(*value));
            }
        }
        return;
    }
    let code = match part {
        "activation" => Code::fit_output(&seen.histogram),
        "depthwise" => Code::fit_relu(&seen.histogram),
        _ if part == last => Code::fit_input(&seen.histogram, |value| activate(kind, value)),
        _ => Code::fit(&seen.histogram),
    };
    tokens.values.iter_mut().for_each(|value| *value = code.real(code.quantize(*value)));
}

/// Attention weights by the table of the exponential: `1 / STEPS` of a natural-logarithm unit, 15 bits.
fn round_weights(weights: &mut Matrix) {
    let steps = f64::from(STEPS);
    for row in 0..weights.rows {
        let row = weights.row_mut(row);
        let most = row.iter().copied().fold(0.0, f64::max);
        for value in row.iter_mut().filter(|value| **value > 0.0) {
            let exponent = ((*value / most).ln() * steps).round() / steps;
            *value = (exponent.exp() * 32767.0).round();
        }
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|value| *value /= sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_rounded_to_their_own_scales() {
        let mut weight = Matrix { rows: 2, columns: 2, values: vec![7.0, 3.4, 0.7, 0.16] };
        round_rows(&mut weight, 4);
        let expected = [7.0, 3.0, 0.7, 0.2];
        assert!(weight.values.iter().zip(expected).all(|(came, expected)| (came - expected).abs() < 1e-12));
    }

    #[test]
    fn attention_weights_still_sum_to_one() {
        let mut weights = Matrix { rows: 1, columns: 3, values: vec![0.7, 0.3, 0.0] };
        round_weights(&mut weights);
        assert!((weights.values.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((weights.values[0] - 0.7).abs() < 0.003 && weights.values[2] == 0.0);
    }
}
