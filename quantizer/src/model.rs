//! The whole model, layer by layer, in the order of the data.

use microformer_bake::{
    Config, Error, FloatModel, Quantized, Values,
    config::{Activation, Input, Positions},
    float,
};
use reference::mlp::activate;

use crate::Precision;
use crate::code::{Code, LIMIT};
use crate::layers::{Columns, Tensors};
use crate::ranges::{Channel, Ranges, Seen};

/// Steps of the exponential table to one natural-logarithm unit (`microformer::arith::exponential::STEPS`).
const EXPONENTIAL_STEPS: f64 = 96.0;

/// How much larger than anything seen the residual stream may become before it saturates.
const STREAM_ROOM: f64 = 2.0;

/// How much larger than anything seen a feature with a scale of its own may become before it saturates.
const INPUT_ROOM: f64 = 1.125;

/// How much larger than anything seen a channel with a scale of its own may become before it saturates.
const CHANNEL_ROOM: f64 = 1.25;

/// No channel's scale is finer than this share of its tensor's: a silent one may yet speak.
const FINEST_CHANNEL: f64 = 1.0 / 32.0;

/// The quantised model, with codes fitted to `ranges`.
///
/// # Errors
/// One sentence that names the layer that does not fit its integers.
pub fn quantize(model: &FloatModel, ranges: &Ranges) -> Result<Quantized, Error> {
    quantize_mixed(model, ranges, &Precision::default())
}

/// [`quantize`], with 4-bit weights where `precision` says so.
///
/// # Errors
/// As [`quantize`].
pub fn quantize_mixed(model: &FloatModel, ranges: &Ranges, precision: &Precision) -> Result<Quantized, Error> {
    let config = &model.config;
    let tensors = Tensors { precision: precision.clone(), ..Tensors::default() };
    let mut quantizer = Quantizer { config, ranges, tensors, stream: stream_code(model, ranges) };
    quantizer.embed(model)?;
    for (index, block) in model.blocks.iter().enumerate() {
        quantizer.block(&format!("blocks.{index}"), index, block)?;
    }
    quantizer.head(model)?;
    Ok(Quantized { config: config.clone(), tensors: quantizer.tensors.made })
}

struct Quantizer<'a> {
    config: &'a Config,
    ranges: &'a Ranges,
    tensors: Tensors,
    /// The code of the residual stream: one for the whole model.
    stream: Code,
}

impl Quantizer<'_> {
    fn embed(&mut self, model: &FloatModel) -> Result<(), Error> {
        match &model.embed {
            float::Embed::Table(rows) => self.tensors.stream_rows("embed.weight", rows, self.stream.scale),
            float::Embed::Linear(layer) => {
                let input = self.input(layer.weight.columns, self.config.signal.is_none());
                self.tensors.linear("embed", layer, &input, self.stream)?;
            }
            float::Embed::Convolution(stem) => self.stem(stem)?,
        }
        if let Some(positions) = &model.positions {
            self.tensors.stream_rows("positions.weight", positions, self.stream.scale);
        }
        Ok(())
    }

    /// The code of the features, for `columns` columns that repeat them. `each` gives every feature a scale of its own.
    fn input(&mut self, columns: usize, each: bool) -> Columns {
        let seen = self.ranges.of("input");
        let scales: Vec<f64> = if each {
            seen.channels.iter().map(|channel| Code::symmetric(INPUT_ROOM * channel.max_abs).scale).collect()
        } else {
            vec![Code::fit(&seen.histogram).scale; seen.channels.len()]
        };
        let Input::Features(features) = self.config.input else { unreachable!("a table takes tokens") };
        let stored = scales.iter().map(|&scale| scale as f32).collect();
        self.tensors.insert("input.scale".into(), &[features], Values::F32(stored));
        if self.config.signal.is_some() {
            self.normalize(&scales);
        }
        let repeat = |values: Vec<f64>| (0..columns).map(|column| values[column % features]).collect();
        // Frames before the start are zeros, not means: the means are left out.
        Columns { scales: repeat(scales), offset: 0.0, means: vec![0.0; columns] }
    }

    /// From the front end's integers straight to codes: `(v · multiplier + bias + 2¹⁵) >> 16`.
    fn normalize(&mut self, scales: &[f64]) {
        let mut affine = Vec::with_capacity(2 * scales.len());
        for (feature, scale) in scales.iter().enumerate() {
            let (mean, std) = match &self.config.normalize {
                Some(normalize) => (normalize.mean.at(feature), normalize.std.at(feature)),
                None => (0.0, 1.0),
            };
            let multiplier = 16f64.exp2() / (std * scale);
            affine.extend([multiplier.round() as i32, (-mean * multiplier).round() as i32]);
        }
        self.tensors.insert("input.normalize".into(), &[scales.len(), 2], Values::I32(affine));
    }

    fn stem(&mut self, stem: &float::Stem) -> Result<(), Error> {
        let input = self.input(stem.convolution.weight.columns, false);
        // Zeros beyond the ends of a frame must be zeros: this code is symmetric.
        let wide = Code::fit(&self.ranges.of("embed.convolution").histogram);
        self.tensors.linear("embed.convolution", &stem.convolution, &input, wide)?;
        let seen = self.ranges.of("embed.depthwise");
        let deep = Code::fit_relu(&seen.histogram);
        self.tensors.depthwise("embed.depthwise", &stem.depthwise, wide, deep)?;
        self.tensors.linear("embed.projection", &stem.projection, &columns(deep, seen), self.stream)
    }

    fn block(&mut self, name: &str, index: usize, block: &float::Block) -> Result<(), Error> {
        let first = self.config.norm_first;
        // Where norms come last, what enters a block is what left the one before.
        let entering = match index {
            0 => "embed".to_owned(),
            _ => format!("blocks.{}.mlp_norm", index - 1),
        };
        let part = |part: &str| format!("{name}.{part}");
        let source = if first { part("attention_norm") } else { entering };
        let input = self.entry(&source, &part("attention_norm"), &part("attention_entry"), &block.attention_norm)?;
        self.attention(name, block, &input)?;
        if !first {
            self.exit(&part("attention_norm"), &block.attention_norm)?;
        }
        let source = if first { part("mlp_norm") } else { part("attention_norm") };
        let input = self.entry(&source, &part("mlp_norm"), &part("mlp_entry"), &block.mlp_norm)?;
        self.mlp(name, block, &input)?;
        if !first {
            self.exit(&part("mlp_norm"), &block.mlp_norm)?;
        }
        Ok(())
    }

    /// The 8-bit input of a matrix: by a norm, or straight from the stream, whose tensor `source` then is.
    fn entry(&mut self, source: &str, norm: &str, entry: &str, layer: &float::Norm) -> Result<Columns, Error> {
        if self.config.norm_first {
            return self.norm_columns(source, norm, layer);
        }
        let seen = self.ranges.of(source);
        let code = Code::fit(&seen.histogram);
        self.rescale(entry, code);
        Ok(columns(code, seen))
    }

    /// A norm to 8 bits. It multiplies each value by a gain anyway, so each has a scale of its own, for nothing.
    fn norm_columns(&mut self, source: &str, name: &str, layer: &float::Norm) -> Result<Columns, Error> {
        let seen = self.ranges.of(source);
        let columns = channel_columns(Code::fit(&seen.histogram), seen);
        self.tensors.norm(name, layer, (self.stream.scale, self.config.norm_epsilon), &columns.scales)?;
        Ok(columns)
    }

    fn rescale(&mut self, entry: &str, code: Code) {
        let ratio = self.stream.scale / code.scale;
        let multiplier = (ratio * 32f64.exp2()).round().min(f64::from(i32::MAX));
        self.tensors.scalar(format!("{entry}.multiplier"), multiplier as i32);
    }

    fn exit(&mut self, name: &str, layer: &float::Norm) -> Result<(), Error> {
        self.norm(name, layer, self.stream)
    }

    fn norm(&mut self, name: &str, layer: &float::Norm, output: Code) -> Result<(), Error> {
        let scales = vec![output.scale; layer.weight.len()];
        self.tensors.norm(name, layer, (self.stream.scale, self.config.norm_epsilon), &scales)
    }

    fn attention(&mut self, name: &str, block: &float::Block, input: &Columns) -> Result<(), Error> {
        let seen = |part: &str| self.ranges.of(&format!("{name}.{part}"));
        let fit = |part: &str| Code::fit(&seen(part).histogram);
        let (query, key) = self.leave_room_for_slopes(fit("queries"), fit("keys"));
        let value = fit("values");
        let (mixed_seen, mixed) = (seen("mixed"), fit("mixed"));
        let attention = format!("{name}.attention");
        self.tensors.linear(&format!("{attention}.query"), &block.query, input, query)?;
        self.tensors.linear(&format!("{attention}.key"), &block.key, input, key)?;
        self.tensors.linear(&format!("{attention}.value"), &block.value, input, value)?;

        // What one step of q·k is worth in natural-logarithm units; sums carry a factor of 256.
        let unit = query.scale * key.scale / (self.config.head_len() as f64).sqrt();
        let multiplier = (unit * EXPONENTIAL_STEPS / 256.0 * 32f64.exp2()).round();
        if multiplier >= f64::from(i32::MAX) {
            return Err(Error::new(format!("`{attention}`: scores are too steep for a 32-bit multiplier")));
        }
        self.tensors.scalar(format!("{attention}.score_multiplier"), multiplier as i32);
        if self.config.positions == Positions::Alibi {
            let heads = self.config.heads;
            let slope = |head: usize| (self.config.slope(head) / unit * 256.0).round().min(f64::from(i32::MAX)) as i32;
            let slopes = (0..heads).map(slope).collect();
            self.tensors.insert(format!("{attention}.slopes"), &[heads], Values::I32(slopes));
        }

        let (ratio, exponent) = mixing(value.scale / mixed.scale);
        self.tensors.insert(format!("{attention}.mixing"), &[2], Values::I32(vec![ratio, exponent]));
        self.tensors.linear(&format!("{attention}.output"), &block.output, &columns(mixed, mixed_seen), self.stream)
    }

    /// Coarser codes for queries and keys where the steepest slope over the whole window would leave 32 bits otherwise.
    ///
    /// That happens only where q·k is tiny beside the penalty of distance, and its steps matter as little.
    fn leave_room_for_slopes(&self, query: Code, key: Code) -> (Code, Code) {
        let Config { heads, window, positions, .. } = self.config;
        if *positions != Positions::Alibi {
            return (query, key);
        }
        let head_len = self.config.head_len() as f64;
        let steepest = (0..*heads).map(|head| self.config.slope(head)).fold(0.0, f64::max);
        // Rounding adds at most one to each token of distance.
        let room = f64::from(i32::MAX) - 256.0 * LIMIT * LIMIT * head_len - *window as f64;
        let least = 256.0 * steepest * *window as f64 / room;
        let coarser = (least / (query.scale * key.scale / head_len.sqrt())).max(1.0).sqrt();
        let coarsen = |code: Code| Code { scale: code.scale * coarser, ..code };
        (coarsen(query), coarsen(key))
    }

    fn mlp(&mut self, name: &str, block: &float::Block, input: &Columns) -> Result<(), Error> {
        let seen = |part: &str| self.ranges.of(&format!("{name}.{part}"));
        let kind = self.config.activation;
        let last = if block.convolution.is_some() { "convolution" } else { "up" };
        // What goes into the activation, and what comes out of it.
        let (before, after) = match kind {
            Activation::Relu => {
                let code = Code::fit_relu(&seen(last).histogram);
                (code, code)
            }
            Activation::Gelu | Activation::Silu => (
                Code::fit_input(&seen(last).histogram, |value| activate(kind, value)),
                Code::fit_output(&seen("activation").histogram),
            ),
        };
        let activated = columns(after, seen("activation"));
        let mlp = format!("{name}.mlp");
        match &block.convolution {
            None => self.tensors.linear(&format!("{mlp}.up"), &block.up, input, before)?,
            Some(convolution) => {
                let up = Code::fit(&seen("up").histogram);
                self.tensors.linear(&format!("{mlp}.up"), &block.up, input, up)?;
                self.tensors.depthwise(&format!("{mlp}.convolution"), convolution, up, before)?;
            }
        }
        if kind != Activation::Relu {
            self.tensors.table(format!("{mlp}.activation.table"), |value| activate(kind, value), before, after);
        }
        self.tensors.linear(&format!("{mlp}.down"), &block.down, &activated, self.stream)
    }

    fn head(&mut self, model: &FloatModel) -> Result<(), Error> {
        let last = model.blocks.len() - 1;
        let source = match (&model.norm, self.config.norm_first) {
            (Some(_), _) => "norm".to_owned(),
            (None, true) => format!("blocks.{last}.mlp_sum"),
            (None, false) => format!("blocks.{last}.mlp_norm"),
        };
        let input = match &model.norm {
            Some(norm) => self.norm_columns(&source, "norm", norm)?,
            None => {
                let seen = self.ranges.of(&source);
                let code = Code::fit(&seen.histogram);
                self.rescale("head_entry", code);
                columns(code, seen)
            }
        };
        // Scores in a power of two, with twice the room that was seen.
        let most = self.ranges.of("scores").histogram.max_abs().max(f64::MIN_POSITIVE);
        let bits = (f64::from(i16::MAX) / (2.0 * most)).log2().floor().clamp(0.0, 15.0);
        self.tensors.scalar("head.fraction_bits".into(), bits as i32);
        let scores = Code { scale: (-bits).exp2(), offset: 0.0 };
        self.tensors.linear("head", &model.head, &input, scores)
    }
}

/// What one step of the residual stream stands for.
#[must_use]
pub fn stream_scale(model: &FloatModel, ranges: &Ranges) -> f64 {
    stream_code(model, ranges).scale
}

/// One code for the stream wherever it is read or written.
fn stream_code(model: &FloatModel, ranges: &Ranges) -> Code {
    let mut most = ranges.of("embed").histogram.max_abs();
    for index in 0..model.blocks.len() {
        let names = ["attention_sum", "mlp_sum"].iter().chain(if model.config.norm_first {
            [].iter()
        } else {
            ["attention_norm", "mlp_norm"].iter()
        });
        for part in names {
            most = most.max(ranges.of(&format!("blocks.{index}.{part}")).histogram.max_abs());
        }
    }
    let most = if most > 0.0 { most } else { 1.0 };
    Code { scale: STREAM_ROOM * most / f64::from(i16::MAX), offset: 0.0 }
}

fn columns(code: Code, seen: &Seen) -> Columns {
    Columns::uniform(code, seen.channels.iter().map(Channel::mean).collect())
}

/// A tensor's code, finer for every channel that does not need all of its range.
fn channel_columns(code: Code, seen: &Seen) -> Columns {
    let fit = |channel: &Channel| Code::symmetric(CHANNEL_ROOM * channel.max_abs).scale;
    let scale = |channel: &Channel| fit(channel).clamp(FINEST_CHANNEL * code.scale, code.scale);
    Columns { scales: seen.channels.iter().map(scale).collect(), ..columns(code, seen) }
}

/// `ratio` as mantissa in [2³⁰, 2³¹) and exponent: see `microformer_packed::Mixing`.
fn mixing(ratio: f64) -> (i32, i32) {
    let exponent = ratio.log2().floor() + 1.0;
    let mantissa = (ratio * (31.0 - exponent).exp2()).round();
    // Rounding may reach 2³¹, which is the next power of two.
    if mantissa >= 31f64.exp2() { (1 << 30, exponent as i32 + 1) } else { (mantissa as i32, exponent as i32) }
}
