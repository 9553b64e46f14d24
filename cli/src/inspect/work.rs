//! What a step of a packed model does, operator by operator, in units that each cost a fixed number of instructions.

use microformer_packed::{Activation, Bits, Block, Depthwise, Embed, Entry, Linear, Model, Norm, Pool, padded};
use serde::Serialize;

/// Units of work in one token. Every unit has its price in `cost.rs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Units {
    /// Calls of a matrix kernel, groups of four rows, multiplications, and 8-bit inputs that are expanded first.
    pub matrix: f64,
    pub group: f64,
    pub mac: f64,
    pub expanded: f64,
    /// Multiplications with 4-bit weights, which are unpacked first.
    pub unpacked: f64,
    /// Norms, and their values.
    pub norm: f64,
    pub norm_value: f64,
    pub rescaled: f64,
    /// Heads, keys they look at, multiplications of queries with keys and of weights with values.
    pub head: f64,
    pub key: f64,
    pub attention_mac: f64,
    /// Multiplications with keys of a head that is longer than the loops of M0 and M3 take.
    pub long_head_mac: f64,
    /// Values that go through a table.
    pub activation: f64,
    /// Places of a depthwise kernel, and its multiplications.
    pub filter: f64,
    pub tap: f64,
    /// Bytes of frames that are moved on, and bytes of frames that are put side by side for a stem.
    pub shifted: f64,
    pub gathered: f64,
    /// Values of the stream that start from a table, and of scores that are pooled.
    pub stream: f64,
    pub pooled: f64,
    /// Frames, steps and blocks.
    pub frame: f64,
    pub step: f64,
    pub block: f64,
}

/// Values of the longest head that the loops of M0 and M3 take; a longer one goes a plain way.
const LONG_HEAD: usize = 64;

/// A layer with what it does and holds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LayerWork {
    pub name: String,
    /// Multiplications with weights, and in attention with keys and values, unpadded or not as the kernels do them.
    pub macs: usize,
    pub flash_bytes: usize,
    pub units: Units,
}

impl LayerWork {
    fn linear(&mut self, linear: &Linear, times: usize) {
        let times = times as f64;
        self.macs += linear.macs() * times as usize;
        self.flash_bytes += 4 * linear.packed.len();
        self.units.matrix += times;
        self.units.group += times * (linear.rows / 4) as f64;
        self.units.mac += times * linear.macs() as f64;
        self.units.expanded += times * linear.columns as f64;
        if linear.bits == Bits::Four {
            self.units.unpacked += times * linear.macs() as f64;
        }
    }

    fn entry(&mut self, entry: &Entry, width: usize) {
        match entry {
            Entry::Norm(norm) => self.norm(norm),
            Entry::Rescale { .. } => self.units.rescaled += padded(width) as f64,
        }
    }

    fn norm(&mut self, norm: &Norm) {
        self.flash_bytes += 8 * norm.affine.len();
        self.units.norm += 1.0;
        self.units.norm_value += norm.len as f64;
    }

    fn depthwise(&mut self, filter: &Depthwise, places: usize) {
        self.macs += filter.channels * filter.taps * places;
        self.flash_bytes += filter.weights.len() + 8 * filter.affine.len();
        self.units.filter += places as f64;
        self.units.tap += (filter.channels * filter.taps * places) as f64;
    }
}

/// Every layer of `model` in the order of the data. Attention is counted with a full window: the dearest step.
pub fn layers(model: &Model) -> Vec<LayerWork> {
    let mut layers = vec![embed(model)];
    for (index, block) in model.blocks.iter().enumerate() {
        layers.push(attention(model, index, block));
        layers.push(mlp(model, index, block));
    }
    layers.push(head(model));
    layers
}

fn embed(model: &Model) -> LayerWork {
    let mut layer = LayerWork { name: "embed".to_owned(), ..LayerWork::default() };
    layer.units.step = 1.0;
    layer.units.frame = model.stride() as f64;
    layer.units.stream = padded(model.width) as f64;
    layer.flash_bytes = 2 * model.positions.len();
    match &model.embed {
        Embed::Linear { features, frames, stride, linear } => {
            layer.units.shifted = (stride * frames * features) as f64;
            layer.linear(linear, 1);
        }
        Embed::Table { rows } => {
            layer.flash_bytes += 2 * rows.len();
            layer.units.stream += padded(model.width) as f64;
        }
        Embed::Convolution(stem) => {
            layer.units.gathered = (stem.frames * stem.features) as f64;
            layer.linear(&stem.convolution, stem.places);
            layer.depthwise(&stem.depthwise, stem.depth_places);
            layer.linear(&stem.projection, 1);
        }
    }
    layer
}

fn attention(model: &Model, index: usize, block: &Block) -> LayerWork {
    let mut layer = LayerWork { name: format!("blocks.{index}.attention"), ..LayerWork::default() };
    let attention = &block.attention;
    layer.units.block = 1.0;
    layer.entry(&block.attention_entry, model.width);
    layer.linear(&attention.query_key_value, 1);
    let keys = attention.heads * attention.window;
    let macs = keys * attention.head_len;
    layer.macs += 2 * macs;
    layer.units.head = attention.heads as f64;
    layer.units.key = keys as f64;
    layer.units.attention_mac = 2.0 * macs as f64;
    if attention.head_len > LONG_HEAD {
        layer.units.long_head_mac = macs as f64;
    }
    layer.flash_bytes += 4 * attention.slopes.len();
    layer.linear(&attention.output, 1);
    if let Some(exit) = &block.attention_exit {
        layer.norm(exit);
    }
    layer
}

fn mlp(model: &Model, index: usize, block: &Block) -> LayerWork {
    let mut layer = LayerWork { name: format!("blocks.{index}.mlp"), ..LayerWork::default() };
    let mlp = &block.mlp;
    layer.entry(&block.mlp_entry, model.width);
    layer.linear(&mlp.up, 1);
    if let Some(filter) = &mlp.convolution {
        layer.depthwise(filter, 1);
    }
    if let Activation::Table(table) = mlp.activation {
        layer.flash_bytes += table.len();
        layer.units.activation = mlp.up.rows as f64;
    }
    layer.linear(&mlp.down, 1);
    if let Some(exit) = &block.mlp_exit {
        layer.norm(exit);
    }
    layer
}

fn head(model: &Model) -> LayerWork {
    let mut layer = LayerWork { name: "head".to_owned(), ..LayerWork::default() };
    layer.entry(&model.head_entry, model.width);
    layer.linear(&model.head, 1);
    if let Pool::Mean { .. } = model.pool {
        layer.units.pooled = model.scores() as f64;
    }
    layer
}

impl Units {
    /// All of them, in the order of their names.
    pub fn values(&self) -> [f64; 22] {
        let Self {
            matrix, group, mac, expanded, unpacked, norm, norm_value, rescaled, head, key, attention_mac, ..
        } = *self;
        let Self {
            long_head_mac, activation, filter, tap, shifted, gathered, stream, pooled, frame, step, block, ..
        } = *self;
        [
            matrix,
            group,
            mac,
            expanded,
            unpacked,
            norm,
            norm_value,
            rescaled,
            head,
            key,
            attention_mac,
            long_head_mac,
            activation,
            filter,
            tap,
            shifted,
            gathered,
            stream,
            pooled,
            frame,
            step,
            block,
        ]
    }
}
