//! From the tensors of a quantised file to the packed model that the engine runs, checked on the way.

mod embed;
mod listening;
mod matrix;
mod tensors;

use microformer_packed::{Activation, Attention, Block, Entry, Layout, Mixing, Mlp, Model, Norm, Pool, padded};

use crate::config::{self, Config, NormKind, Positions};
use crate::{Error, Quantized};
pub use listening::Listening;
use matrix::{Matrix, Runs, pack_depthwise};
use tensors::Tensors;

/// A model ready to run, and how real values enter it and leave it.
#[derive(Clone, Debug)]
pub struct Assembled {
    pub config: Config,
    /// Lives as long as the process: a model is read once and used until the end.
    pub model: &'static Model<'static>,
    /// What one unit of each 8-bit feature stands for; empty for a model of tokens.
    pub input_scales: Vec<f32>,
    /// The way from sound to the model and from scores to events, where the model has one.
    pub listening: Option<Listening>,
}

impl Quantized {
    /// Packs the model for the kernels that eat `layout`.
    ///
    /// # Errors
    /// One sentence that names the tensor that is missing, superfluous, or not what the configuration says.
    pub fn assemble(&self, layout: Layout) -> Result<Assembled, Error> {
        let config = &self.config;
        let mut tensors = Tensors::new(self);
        let parts = &mut Assembly { config, layout, tensors: &mut tensors };
        let embed = parts.embed()?;
        let positions = parts.positions()?;
        let blocks = (0..config.blocks).map(|index| parts.block(index)).collect::<Result<Vec<_>, Error>>()?;
        let head_entry = parts.entry("norm", "head_entry", config.final_norm)?;
        let head = parts.linear(&["head"], Runs::whole(config.labels.len()), Runs::whole(config.width))?;
        let score_fraction_bits = parts.tensors.scalar("head.fraction_bits", 0..=15)? as u32;
        let input_scales = match config.input {
            config::Input::Features(features) => parts.tensors.scales("input.scale", features)?.to_vec(),
            config::Input::Tokens(_) => Vec::new(),
        };
        let listening = parts.listening()?;
        tensors.finish()?;
        let model = Model {
            name: leak_text(&config.name),
            layout,
            embed,
            positions,
            width: config.width,
            blocks: leak(blocks),
            head_entry,
            head,
            pool: match config.pool {
                config::Pool::Mean { tokens } => Pool::Mean { tokens },
                config::Pool::Last {} | config::Pool::Each {} => Pool::Each,
            },
            score_fraction_bits,
            labels: leak(config.labels.iter().map(|label| leak_text(label)).collect()),
        };
        Ok(Assembled { config: config.clone(), model: Box::leak(Box::new(model)), input_scales, listening })
    }
}

struct Assembly<'a, 'q> {
    config: &'a Config,
    layout: Layout,
    tensors: &'a mut Tensors<'q>,
}

impl Assembly<'_, '_> {
    fn linear(
        &mut self,
        names: &[&str],
        rows: Runs,
        columns: Runs,
    ) -> Result<microformer_packed::Linear<'static>, Error> {
        let names = &names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        Matrix { names, rows, columns }.pack(self.layout, self.tensors)
    }

    fn positions(&mut self) -> Result<&'static [i16], Error> {
        match self.config.positions {
            Positions::None | Positions::Alibi => Ok(&[]),
            Positions::Learned | Positions::Sinusoidal => self.stream_rows("positions.weight", self.config.context),
        }
    }

    /// Rows of the residual stream, padded.
    fn stream_rows(&mut self, name: &str, rows: usize) -> Result<&'static [i16], Error> {
        let width = self.config.width;
        let values = self.tensors.halves(name, &[rows, width])?;
        let mut padded_rows = vec![0; rows * padded(width)];
        for (to, from) in padded_rows.chunks_exact_mut(padded(width)).zip(values.chunks_exact(width)) {
            to[..width].copy_from_slice(from);
        }
        Ok(leak(padded_rows))
    }

    fn block(&mut self, index: usize) -> Result<Block<'static>, Error> {
        let config = self.config;
        let at = |part: &str| format!("blocks.{index}.{part}");
        let first = config.norm_first;
        let attention_entry = self.entry(&at("attention_norm"), &at("attention_entry"), first)?;
        let attention = self.attention(&at("attention"))?;
        let attention_exit = if first { None } else { Some(self.norm(&at("attention_norm"))?) };
        let mlp_entry = self.entry(&at("mlp_norm"), &at("mlp_entry"), first)?;
        let mlp = self.mlp(&at("mlp"))?;
        let mlp_exit = if first { None } else { Some(self.norm(&at("mlp_norm"))?) };
        Ok(Block { attention_entry, attention, attention_exit, mlp_entry, mlp, mlp_exit })
    }

    /// A norm of that name, or else the plain rescaling of that name.
    fn entry(&mut self, norm: &str, rescale: &str, normed: bool) -> Result<Entry<'static>, Error> {
        if normed {
            let weights = self.norm(norm)?;
            if let Some(index) = weights.affine.iter().position(|[multiplier, _]| multiplier.unsigned_abs() >= 1 << 30)
            {
                return Err(Error::new(format!(
                    "tensor `{norm}.multiplier` is beyond the 2³⁰ that every chip can multiply with, at index {index}"
                )));
            }
            return Ok(Entry::Norm(weights));
        }
        let multiplier = self.tensors.scalar(&format!("{rescale}.multiplier"), 0..=i32::MAX)?;
        Ok(Entry::Rescale { multiplier })
    }

    fn norm(&mut self, name: &str) -> Result<Norm<'static>, Error> {
        let len = self.config.width;
        let multipliers = self.tensors.words(&format!("{name}.multiplier"), &[len])?;
        let biases = self.tensors.words(&format!("{name}.bias"), &[len])?;
        let epsilon_name = format!("{name}.epsilon");
        let epsilon = self.tensors.long(&epsilon_name)?;
        if !(0..1 << 62).contains(&epsilon) {
            return Err(Error::new(format!("tensor `{epsilon_name}` is {epsilon}; it must lie between 0 and 2⁶²")));
        }
        if let Some(index) = biases.iter().position(|bias| bias.unsigned_abs() >= 1 << 30) {
            return Err(Error::new(format!("tensor `{name}.bias` is beyond 2³⁰ at index {index}")));
        }
        let affine =
            (0..padded(len)).map(|index| if index < len { [multipliers[index], biases[index]] } else { [0, 0] });
        Ok(Norm {
            len,
            centred: self.config.norm == NormKind::Layer,
            epsilon: epsilon as u64,
            fraction_bits: microformer_packed::norm_fraction_bits(len),
            affine: leak(affine.collect()),
        })
    }

    fn attention(&mut self, name: &str) -> Result<Attention<'static>, Error> {
        let config = self.config;
        let heads = Runs::of(config.heads, config.head_len());
        let projections = ["query", "key", "value"].map(|part| format!("{name}.{part}"));
        let query_key_value = Matrix { names: &projections, rows: heads, columns: Runs::whole(config.width) }
            .pack(self.layout, self.tensors)?;
        let score_multiplier = self.tensors.scalar(&format!("{name}.score_multiplier"), 0..=i32::MAX)?;
        let slopes = self.slopes(&format!("{name}.slopes"))?;
        let mixing_name = format!("{name}.mixing");
        let mixing = match self.tensors.words(&mixing_name, &[2])? {
            &[ratio @ 0x4000_0000..=i32::MAX, exponent @ -16..=12] => Mixing { ratio: ratio as u32, exponent },
            other => {
                return Err(Error::new(format!(
                    "tensor `{mixing_name}` is {other:?}; expected a ratio of at least 2³⁰ and an exponent from −16 to 12"
                )));
            }
        };
        let output = self.linear(&[&format!("{name}.output")], Runs::whole(config.width), heads)?;
        let (heads, head_len) = (config.heads, padded(config.head_len()));
        let window = config.window;
        Ok(Attention { heads, head_len, window, query_key_value, score_multiplier, slopes, mixing, output })
    }

    /// ALiBi slopes, within what a sum of scores can bear.
    fn slopes(&mut self, name: &str) -> Result<&'static [i32], Error> {
        let config = self.config;
        if config.positions != Positions::Alibi {
            return Ok(&[]);
        }
        let slopes = self.tensors.multipliers(name, config.heads)?;
        for (head, &slope) in slopes.iter().enumerate() {
            let reach = 256 * 127 * 127 * config.head_len() as i64 + i64::from(slope) * config.window as i64;
            if reach > i64::from(i32::MAX) {
                return Err(Error::new(format!(
                    "tensor `{name}`, head {head}: a score can reach {reach}, beyond 32 bits; the slope is too steep for \
                     the window of {}",
                    config.window
                )));
            }
        }
        Ok(leak(slopes.to_vec()))
    }

    fn mlp(&mut self, name: &str) -> Result<Mlp<'static>, Error> {
        let (hidden, width) = (Runs::whole(self.config.hidden), Runs::whole(self.config.width));
        let up = self.linear(&[&format!("{name}.up")], hidden, width)?;
        let convolution = match self.config.convolution {
            0 => None,
            taps => Some(pack_depthwise(&format!("{name}.convolution"), self.config.hidden, taps, self.tensors)?),
        };
        let activation = match self.config.activation {
            config::Activation::Relu => Activation::Saturation,
            config::Activation::Gelu | config::Activation::Silu => {
                let table = self.tensors.bytes(&format!("{name}.activation.table"), &[256])?;
                let table: [i8; 256] = std::array::from_fn(|index| table[index]);
                Activation::Table(Box::leak(Box::new(table)))
            }
        };
        let down = self.linear(&[&format!("{name}.down")], width, hidden)?;
        Ok(Mlp { up, convolution, activation, down })
    }
}

fn leak<T>(values: Vec<T>) -> &'static [T] {
    values.leak()
}

fn leak_text(text: &str) -> &'static str {
    text.to_owned().leak()
}
