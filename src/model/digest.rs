//! A digest of everything that each layer ever wrote, so that the first layer that differs between two machines is named.

use heapless::Vec;

use super::{Layer, Output, Probe};

/// FNV-1a over each layer's output, in the order in which the layers first ran. Layers beyond `N` share the last digest.
#[derive(Clone, Debug, Default)]
pub struct Digest<const N: usize> {
    layers: Vec<(Layer, u32), N>,
}

const OFFSET: u32 = 0x811C_9DC5;
const PRIME: u32 = 0x0100_0193;

impl<const N: usize> Digest<N> {
    #[must_use]
    pub const fn new() -> Self {
        Self { layers: Vec::new() }
    }

    /// Every layer with its digest so far.
    #[must_use]
    pub fn layers(&self) -> &[(Layer, u32)] {
        &self.layers
    }

    fn entry(&mut self, layer: Layer) -> Option<&mut u32> {
        let found = self.layers.iter().position(|(known, _)| *known == layer);
        if found.is_none() {
            // A full list keeps its last entry for all that follow.
            let _ = self.layers.push((layer, OFFSET));
        }
        let index = found.unwrap_or(self.layers.len().saturating_sub(1));
        self.layers.get_mut(index).map(|(_, digest)| digest)
    }
}

impl<const N: usize> Probe for Digest<N> {
    fn layer(&mut self, layer: Layer, output: Output<'_>) {
        if let Some(digest) = self.entry(layer) {
            let mut eat = |byte: u8| *digest = (*digest ^ u32::from(byte)).wrapping_mul(PRIME);
            match output {
                Output::Bytes(values) => values.iter().for_each(|&value| eat(value as u8)),
                Output::Halves(values) => values.iter().flat_map(|value| value.to_le_bytes()).for_each(eat),
            }
        }
    }
}
