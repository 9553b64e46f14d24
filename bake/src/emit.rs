//! A packed model as the text of a Rust module: constants and weights, nothing that runs.

use std::fmt::{Display, Write};

use crate::assemble::{Assembled, Listening};
use microformer_packed::{
    Activation, Attention, Bits, Block, Depthwise, Embed, Entry, Layout, Linear, Memory, Mixing, Mlp, Model, Norm,
    Pool, Stem,
};

/// The module's text, for use through `microformer::include_model!`: `MODEL`, `STATE_WORDS`, `State` and `STATE`; for a
/// model of features also `INPUT`; for one that listens `LISTENER`, `Pipeline` and `PIPELINE`.
#[must_use]
pub fn module(assembled: &Assembled) -> String {
    let mut text = model_module(assembled.model);
    if !assembled.input_scales.is_empty() && assembled.listening.is_none() {
        text.push_str(&input_constant(assembled));
    }
    if let Some(listening) = &assembled.listening {
        text.push_str(&listening_module(listening));
    }
    text
}

/// How a sensor's values become codes; floats that a program folds into integers when it is compiled.
fn input_constant(assembled: &Assembled) -> String {
    let normalize = assembled.config.normalize.as_ref();
    let code = |(feature, &scale): (usize, &f32)| {
        let (mean, std) =
            normalize.map_or((0.0, 1.0), |normalize| (normalize.mean.at(feature), normalize.std.at(feature)));
        format!("({:?}, {:?})", mean as f32, (std * f64::from(scale)) as f32)
    };
    let codes: Vec<String> = assembled.input_scales.iter().enumerate().map(code).collect();
    format!(
        "\n/// The mean of each feature, and what one unit of its code stands for: code = (value − mean) / unit, rounded.\n\
         pub const INPUT: [(f32, f32); {}] = [{}];\n",
        codes.len(),
        codes.join(", ")
    )
}

fn listening_module(listening: &Listening) -> String {
    let front_end = listening.tables.front_end();
    format!(
        "\n{}\n\
         /// From sound to events, in constants.\n\
         pub static LISTENER: ::microformer::pipeline::Listener<'static> = ::microformer::pipeline::Listener {{\n\
         front_end: FRONT_END, normalize: signal::Normalize {{ affine: {} }}, model: &MODEL, \
         decide: Decide {{ smoothing: {}, hold_off: {}, thresholds: {} }} }};\n\n\
         /// Everything that the listening application remembers.\n\
         pub type Pipeline = ::microformer::pipeline::Pipeline<{}, {}, {}, STATE_WORDS, {{ MODEL.labels.len() }}>;\n\n\
         /// A pipeline that has heard nothing yet.\n\
         pub const PIPELINE: Pipeline = Pipeline::new(&LISTENER);\n",
        listening.tables.module(),
        pairs(listening.normalize.affine),
        listening.decide.smoothing,
        listening.decide.hold_off,
        list(listening.decide.thresholds),
        front_end.window.coefficients.len(),
        front_end.fft.points(),
        front_end.filterbank.channels(),
    )
}

fn model_module(model: &Model) -> String {
    let words = Memory::of(model, 1).words();
    let name = model.name;
    format!(
        "use ::microformer::packed::*;\n\n\
         /// The model `{name}`, packed.\n\
         pub static MODEL: Model<'static> = {};\n\n\
         /// Words of RAM that the running model needs: {} bytes.\n\
         pub const STATE_WORDS: usize = Memory::of(&MODEL, 1).words();\n\n\
         const _: () = assert!(STATE_WORDS == {words});\n\n\
         /// Everything that the running model remembers.\n\
         pub type State = ::microformer::model::State<[u32; STATE_WORDS]>;\n\n\
         /// A state that has heard nothing yet.\n\
         pub const STATE: State = State::new(&MODEL, 1);\n",
        write_model(model),
        4 * words,
    )
}

fn write_model(model: &Model) -> String {
    let Model { name, layout, embed, positions, width, blocks, head_entry, head, pool, .. } = model;
    let blocks: Vec<_> = blocks.iter().map(write_block).collect();
    let labels: Vec<_> = model.labels.iter().map(|label| format!("{label:?}")).collect();
    format!(
        "Model {{ name: {name:?}, layout: {}, embed: {}, positions: {}, width: {width}, blocks: {}, head_entry: {}, \
         head: {}, pool: {}, score_fraction_bits: {}, labels: {} }}",
        match layout {
            Layout::Plain => "Layout::Plain",
            Layout::Paired => "Layout::Paired",
            Layout::Wide => "Layout::Wide",
            Layout::WideInTwos => "Layout::WideInTwos",
        },
        write_embed(embed),
        list(positions),
        list(&blocks),
        write_entry(head_entry),
        write_linear(head),
        match pool {
            Pool::Each => "Pool::Each".to_owned(),
            Pool::Mean { tokens } => format!("Pool::Mean {{ tokens: {tokens} }}"),
        },
        model.score_fraction_bits,
        list(&labels),
    )
}

fn write_embed(embed: &Embed) -> String {
    match embed {
        Embed::Linear { features, frames, stride, linear } => format!(
            "Embed::Linear {{ features: {features}, frames: {frames}, stride: {stride}, linear: {} }}",
            write_linear(linear)
        ),
        Embed::Table { rows } => format!("Embed::Table {{ rows: {} }}", list(rows)),
        Embed::Convolution(stem) => format!("Embed::Convolution({})", write_stem(stem)),
    }
}

fn write_stem(stem: &Stem) -> String {
    let Stem { features, frames, stride, kernel, hop, padding, places, column, .. } = stem;
    let Stem { depth_tokens, depth_kernel, depth_hop, depth_padding, depth_places, .. } = stem;
    format!(
        "Stem {{ features: {features}, frames: {frames}, stride: {stride}, kernel: {kernel}, hop: {hop}, \
         padding: {padding}, places: {places}, column: {column}, convolution: {}, depth_tokens: {depth_tokens}, \
         depth_kernel: {depth_kernel}, depth_hop: {depth_hop}, depth_padding: {depth_padding}, \
         depth_places: {depth_places}, depthwise: {}, projection: {} }}",
        write_linear(&stem.convolution),
        write_depthwise(&stem.depthwise),
        write_linear(&stem.projection),
    )
}

fn write_block(block: &Block) -> String {
    let exit =
        |norm: &Option<Norm>| norm.as_ref().map_or("None".to_owned(), |norm| format!("Some({})", write_norm(norm)));
    format!(
        "\nBlock {{ attention_entry: {}, attention: {}, attention_exit: {}, mlp_entry: {}, mlp: {}, mlp_exit: {} }}",
        write_entry(&block.attention_entry),
        write_attention(&block.attention),
        exit(&block.attention_exit),
        write_entry(&block.mlp_entry),
        write_mlp(&block.mlp),
        exit(&block.mlp_exit),
    )
}

fn write_entry(entry: &Entry) -> String {
    match entry {
        Entry::Norm(norm) => format!("Entry::Norm({})", write_norm(norm)),
        Entry::Rescale { multiplier } => format!("Entry::Rescale {{ multiplier: {multiplier} }}"),
    }
}

fn write_norm(norm: &Norm) -> String {
    let Norm { len, centred, epsilon, fraction_bits, affine } = norm;
    format!(
        "Norm {{ len: {len}, centred: {centred}, epsilon: {epsilon}, fraction_bits: {fraction_bits}, affine: {} }}",
        pairs(affine)
    )
}

fn write_attention(attention: &Attention) -> String {
    let Attention { heads, head_len, window, score_multiplier, slopes, .. } = attention;
    let Mixing { ratio, exponent } = attention.mixing;
    format!(
        "Attention {{ heads: {heads}, head_len: {head_len}, window: {window}, query_key_value: {}, \
         score_multiplier: {score_multiplier}, slopes: {}, mixing: Mixing {{ ratio: {ratio}, exponent: {exponent} }}, \
         output: {} }}",
        write_linear(&attention.query_key_value),
        list(slopes),
        write_linear(&attention.output),
    )
}

fn write_mlp(mlp: &Mlp) -> String {
    format!(
        "Mlp {{ up: {}, convolution: {}, activation: {}, down: {} }}",
        write_linear(&mlp.up),
        mlp.convolution.as_ref().map_or("None".to_owned(), |filter| format!("Some({})", write_depthwise(filter))),
        match mlp.activation {
            Activation::Saturation => "Activation::Saturation".to_owned(),
            Activation::Table(table) => format!("Activation::Table({})", list(table)),
        },
        write_linear(&mlp.down),
    )
}

fn write_linear(linear: &Linear) -> String {
    let Linear { rows, columns, bits, packed } = linear;
    let bits = match bits {
        Bits::Eight => "Bits::Eight",
        Bits::Four => "Bits::Four",
    };
    format!("Linear {{ rows: {rows}, columns: {columns}, bits: {bits}, packed: {} }}", list(packed))
}

fn write_depthwise(filter: &Depthwise) -> String {
    let Depthwise { channels, taps, weights, affine } = filter;
    let (weights, affine) = (list(weights), pairs(affine));
    format!("Depthwise {{ channels: {channels}, taps: {taps}, weights: {weights}, affine: {affine} }}")
}

fn pairs(values: &[[i32; 2]]) -> String {
    let values: Vec<_> = values.iter().map(|[first, second]| format!("[{first},{second}]")).collect();
    list(&values)
}

fn list<T: Display>(values: &[T]) -> String {
    let mut text = String::with_capacity(8 * values.len() + 3);
    text.push_str("&[");
    for (index, value) in values.iter().enumerate() {
        // Lines of a bearable length keep editors and error messages alive.
        let separator = if index % 16 == 15 { ",\n" } else { "," };
        // Writing to a String cannot fail.
        let _ = write!(text, "{value}{separator}");
    }
    text.push(']');
    text
}
