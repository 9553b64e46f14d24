//! Sound through front end, model and decision, in the engine's own integers, with sizes known only now.

use anyhow::{Context, Result};
use microformer::decide;
use microformer::model::State;
use microformer::pipeline::{self, Heard, heard};
use microformer::signal::{self, normalize};
use microformer_bake::{Assembled, Quantized};
use microformer_packed::{Decide, Layout, Memory};
use std::path::Path;

/// Labels of the largest model that can be judged on streams.
const LABELS: usize = 64;

pub struct Listener {
    assembled: Assembled,
    listener: pipeline::Listener<'static>,
}

impl Listener {
    pub fn new(model: &Quantized, path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let assembled = model.assemble(Layout::Plain).map_err(|error| error.in_file(&file))?;
        let listening = assembled.listening.with_context(|| format!("{file} has no front end"))?;
        anyhow::ensure!(
            model.config.labels.len() <= LABELS,
            "{file} has more than {LABELS} labels, too many to be judged on streams"
        );
        let listener = pipeline::Listener {
            front_end: listening.tables.front_end(),
            normalize: listening.normalize,
            model: assembled.model,
            decide: listening.decide,
        };
        Ok(Self { assembled, listener })
    }

    /// The scores of every token.
    pub fn listen(&self, mut samples: &[i16]) -> Vec<Vec<i16>> {
        let model = self.assembled.model;
        let mut front_end = Box::new(signal::State::<1024, 512, 64>::new());
        let mut state = State::with_words(model, 1, vec![0; Memory::of(model, 1).words()]);
        let (mut features, mut frame) = (vec![0; model.features()], vec![0; model.features()]);
        let mut scores = Vec::new();
        let bar =
            indicatif::ProgressStyle::with_template("{bar:40} {percent} % heard, {eta} left").expect("a template");
        let progress = indicatif::ProgressBar::new(samples.len() as u64).with_style(bar);
        while front_end.process(&self.listener.front_end, &mut samples, &mut features) {
            normalize::apply(&self.listener.normalize, &features, &mut frame);
            if let Some(token) = state.step(model, &frame) {
                scores.push(token.to_vec());
            }
            progress.inc(self.listener.front_end.window.step as u64);
        }
        progress.finish_and_clear();
        scores
    }

    /// The model's own thresholds, one for each label, in Q15.
    pub fn thresholds(&self) -> &[u16] {
        self.listener.decide.thresholds
    }

    /// The labels that are words.
    pub fn words(&self) -> Vec<usize> {
        let is_word = |&label: &usize| self.thresholds()[label] != Decide::NEVER;
        (0..self.thresholds().len()).filter(is_word).collect()
    }

    /// One threshold for all words.
    pub fn equal_thresholds(&self, threshold: u16) -> Vec<u16> {
        let change = |&own: &u16| if own == Decide::NEVER { own } else { threshold };
        self.thresholds().iter().map(change).collect()
    }

    /// The events of those scores with these thresholds.
    pub fn events(&self, scores: &[Vec<i16>], thresholds: &[u16]) -> Vec<Heard> {
        let decide = Decide { thresholds, ..self.listener.decide };
        let bits = self.assembled.model.score_fraction_bits;
        let mut state = decide::State::<LABELS>::new();
        let events = scores.iter().filter_map(|scores| state.step(&decide, scores, bits));
        events.map(|event| heard(&self.listener, event)).collect()
    }
}
