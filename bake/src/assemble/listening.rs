//! What stands around a model that listens: the front end's tables, normalisation, and when scores become events.

use microformer_packed::{Decide, MAX_SMOOTHING, signal::Normalize};

use super::{Assembly, leak};
use crate::{Error, signal::Tables};

/// Packed, and alive as long as the process.
#[derive(Clone, Copy, Debug)]
pub struct Listening {
    pub tables: &'static Tables,
    pub normalize: Normalize<'static>,
    pub decide: Decide<'static>,
}

impl Assembly<'_, '_> {
    pub fn listening(&mut self) -> Result<Option<Listening>, Error> {
        let config = self.config;
        let Some(settings) = &config.signal else { return Ok(None) };
        let tables = settings.tables()?;
        let affine = self.tensors.words("input.normalize", &[config.features(), 2])?;
        let affine = affine.as_chunks::<2>().0.to_vec();
        let decide = config.decide.clone().unwrap_or_default();
        let token_ms = settings.step_ms as usize * config.stride();
        let thresholds = config.labels.iter().map(|label| {
            if label.starts_with('_') {
                return Decide::NEVER;
            }
            let threshold = decide.thresholds.get(label).copied().unwrap_or(decide.threshold);
            (threshold * 32768.0).round() as u16
        });
        Ok(Some(Listening {
            tables: Box::leak(Box::new(tables)),
            normalize: Normalize { affine: leak(affine) },
            decide: Decide {
                smoothing: (decide.smoothing_ms as usize / token_ms).clamp(1, MAX_SMOOTHING),
                hold_off: (decide.hold_off_ms as usize).div_ceil(token_ms),
                thresholds: leak(thresholds.collect()),
            },
        }))
    }
}
