//! How far the integers are from the floats: the residual stream after every layer, its worst channel, and the scores.

use super::operators::{self, Operator};
use crate::data::Input;
use crate::model::Engine;
use anyhow::{Result, anyhow};
use microformer::model::{Layer, Output, Part, Probe};
use microformer_bake::{FloatModel, Matrix};
use serde::Serialize;
use std::collections::BTreeMap;

/// Signal-to-quantisation-noise ratios, in decibels.
#[derive(Serialize)]
pub struct Fidelity {
    layers: Vec<Stage>,
    pub scores_db: f64,
    pub operators: Vec<Operator>,
}

/// The stream after one layer.
#[derive(Serialize)]
struct Stage {
    after: String,
    stream_db: f64,
    worst_channel: usize,
    worst_channel_db: f64,
}

impl Fidelity {
    pub fn measure<'i>(
        model: &FloatModel,
        engine: &Engine,
        scale: f64,
        inputs: impl Iterator<Item = &'i Input>,
    ) -> Result<Self> {
        let width = model.config.width;
        let mut stages: Vec<(String, Vec<Power>)> = Vec::new();
        let mut scores = Power::default();
        for input in inputs {
            let mut streams = BTreeMap::new();
            let float = reference::forward(model, input.reference(), &mut |name, tokens| {
                if name == "embed" || name.ends_with("_sum") {
                    streams.insert(name.to_owned(), tokens.clone());
                }
            });
            let float = reference::pool(model.config.pool, &float.map_err(|error| anyhow!(error))?);
            let mut streamed = Streams { width, layers: Vec::new() };
            let integer = engine.scores(input, &mut streamed);
            for (float, integer) in float.values.iter().zip(&integer.values) {
                scores.add(*float, *integer);
            }
            for (name, values) in streamed.layers {
                let Some(float) = streams.get(&name) else { continue };
                let place = stages.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                    stages.push((name, vec![Power::default(); width]));
                    stages.len() - 1
                });
                compare(float, &values, scale, &mut stages[place].1);
            }
        }
        let layers = stages.into_iter().map(|(after, channels)| Stage::of(after, &channels)).collect();
        Ok(Self { layers, scores_db: scores.decibels(), operators: Vec::new() })
    }

    /// Both side by side: all weights in 8 bits, and as they are.
    pub fn print_beside(&self, eight: &Self) {
        println!("{:<28} {:>9} {:>9} {:>9}   worst channel", "after", "8 bits", "mixed", "loss");
        for (eight, mixed) in eight.layers.iter().zip(&self.layers) {
            let (after, before, now) = (&mixed.after, eight.stream_db, mixed.stream_db);
            let worst = format!("{} ({:.1} dB)", mixed.worst_channel, mixed.worst_channel_db);
            println!("{after:<28} {before:>6.1} dB {now:>6.1} dB {:>6.1} dB   {worst}", before - now);
        }
        let (before, now) = (eight.scores_db, self.scores_db);
        println!("{:<28} {before:>6.1} dB {now:>6.1} dB {:>6.1} dB", "scores", before - now);
        operators::print(&self.operators);
    }

    pub fn print(&self) {
        println!("{:<28} {:>9}   worst channel", "after", "stream");
        for Stage { after, stream_db, worst_channel, worst_channel_db } in &self.layers {
            println!("{after:<28} {stream_db:>6.1} dB   {worst_channel} ({worst_channel_db:.1} dB)");
        }
        println!("{:<28} {:>6.1} dB", "scores", self.scores_db);
        operators::print(&self.operators);
    }
}

impl Stage {
    fn of(after: String, channels: &[Power]) -> Self {
        let total = channels.iter().fold(Power::default(), |sum, channel| Power {
            signal: sum.signal + channel.signal,
            noise: sum.noise + channel.noise,
        });
        let each = channels.iter().map(Power::decibels).enumerate();
        let (worst_channel, worst_channel_db) = each.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, f64::INFINITY));
        Self { after, stream_db: total.decibels(), worst_channel, worst_channel_db }
    }
}

#[derive(Clone, Copy, Default)]
pub struct Power {
    pub signal: f64,
    pub noise: f64,
}

impl Power {
    pub fn add(&mut self, float: f64, integer: f64) {
        self.signal += float * float;
        self.noise += (float - integer).powi(2);
    }

    pub fn add_all(&mut self, float: &Matrix, other: &Matrix) {
        float.values.iter().zip(&other.values).for_each(|(float, other)| self.add(*float, *other));
    }

    /// Silence that is met exactly has no ratio; it counts as a perfect 200 dB.
    pub fn decibels(&self) -> f64 {
        if self.noise > 0.0 && self.signal > 0.0 { 10.0 * (self.signal / self.noise).log10() } else { 200.0 }
    }
}

fn compare(float: &Matrix, integer: &[i16], scale: f64, channels: &mut [Power]) {
    for (token, values) in integer.chunks_exact(float.columns).enumerate().take(float.rows) {
        for ((channel, &float), &value) in channels.iter_mut().zip(float.row(token)).zip(values) {
            channel.add(float, f64::from(value) * scale);
        }
    }
}

/// The stream after every layer, under the reference's names.
struct Streams {
    width: usize,
    layers: Vec<(String, Vec<i16>)>,
}

impl Probe for Streams {
    fn layer(&mut self, layer: Layer, output: Output<'_>) {
        let Output::Halves(values) = output else { return };
        let name = match (layer.block, layer.part) {
            (None, Part::Embed) => "embed".to_owned(),
            (Some(block), Part::AttentionOutput) => format!("blocks.{block}.attention_sum"),
            (Some(block), Part::Down) => format!("blocks.{block}.mlp_sum"),
            _ => return,
        };
        let values = &values[..self.width.min(values.len())];
        match self.layers.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => known.extend_from_slice(values),
            None => self.layers.push((name, values.to_vec())),
        }
    }
}
