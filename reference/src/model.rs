//! The whole model: embed → blocks → norm → head, over a whole sequence.

use microformer_bake::{
    Config, Error, FloatModel, Matrix,
    config::Pool,
    float::{Block, Embed, Norm},
};

use crate::attention::attention;
use crate::embed::{gather, look_up, stem};
use crate::linear::{add, linear};
use crate::mlp::mlp;
use crate::norm::norm;

/// What a model is given.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// One frame in each row, as the model was trained on (after [`microformer_bake::config::Normalize`]).
    Features(&'a Matrix),
    Tokens(&'a [usize]),
}

/// Is shown every intermediate tensor by name, one token in each row, and may change it: what follows goes on from there.
///
/// In their order: `embed.convolution`, `embed.depthwise` (with a stem), `embed` (with positions); for each block, after
/// `blocks.N.`: `attention_norm`, `queries`, `keys`, `values`, `head.N.weights`, `mixed`, `attention` (what is added),
/// `attention_sum`, `mlp_norm`, `up`, `convolution`, `activation`, `mlp`, `mlp_sum`; at last `norm`, `scores`. Where norms
/// come after the sums, so do their names.
pub type Observer<'a> = dyn FnMut(&str, &mut Matrix) + 'a;

/// The scores of every token: `(tokens, labels)`.
///
/// # Errors
/// A sentence, where the input does not fit the model.
pub fn forward(model: &FloatModel, input: Input, observe: &mut Observer) -> Result<Matrix, Error> {
    let config = &model.config;
    let mut stream = embed(model, input, observe)?;
    for (index, block) in model.blocks.iter().enumerate() {
        let mut observe_block = |name: &str, tokens: &mut Matrix| observe(&format!("blocks.{index}.{name}"), tokens);
        stream = if config.norm_first {
            norm_first(config, block, &stream, &mut observe_block)
        } else {
            norm_last(config, block, &stream, &mut observe_block)
        };
    }
    if let Some(layer) = &model.norm {
        stream = norm_of(config, layer, &stream);
        observe("norm", &mut stream);
    }
    let mut scores = linear(&model.head, &stream);
    observe("scores", &mut scores);
    Ok(scores)
}

/// x += attention(norm(x)); x += mlp(norm(x)).
fn norm_first(config: &Config, block: &Block, stream: &Matrix, observe: &mut Observer) -> Matrix {
    let mut normed = norm_of(config, &block.attention_norm, stream);
    observe("attention_norm", &mut normed);
    let mut delta = attention(config, block, &normed, observe);
    observe("attention", &mut delta);
    let mut stream = add(stream, &delta);
    observe("attention_sum", &mut stream);

    let mut normed = norm_of(config, &block.mlp_norm, &stream);
    observe("mlp_norm", &mut normed);
    let mut delta = mlp(config, block, &normed, observe);
    observe("mlp", &mut delta);
    let mut stream = add(&stream, &delta);
    observe("mlp_sum", &mut stream);
    stream
}

/// x = norm(x + attention(x)); x = norm(x + mlp(x)).
fn norm_last(config: &Config, block: &Block, stream: &Matrix, observe: &mut Observer) -> Matrix {
    let mut delta = attention(config, block, stream, observe);
    observe("attention", &mut delta);
    let mut stream = add(stream, &delta);
    observe("attention_sum", &mut stream);
    let mut stream = norm_of(config, &block.attention_norm, &stream);
    observe("attention_norm", &mut stream);

    let mut delta = mlp(config, block, &stream, observe);
    observe("mlp", &mut delta);
    let mut stream = add(&stream, &delta);
    observe("mlp_sum", &mut stream);
    let mut stream = norm_of(config, &block.mlp_norm, &stream);
    observe("mlp_norm", &mut stream);
    stream
}

fn norm_of(config: &Config, layer: &Norm, tokens: &Matrix) -> Matrix {
    norm(layer, config.norm, config.norm_epsilon, tokens)
}

fn embed(model: &FloatModel, input: Input, observe: &mut Observer) -> Result<Matrix, Error> {
    let config = &model.config;
    if let Input::Features(frames) = input
        && frames.columns != config.features()
    {
        let (came, expected) = (frames.columns, config.features());
        return Err(Error::new(format!("a frame has {came} values; model `{}` takes {expected}", config.name)));
    }
    let mut stream = match (&model.embed, input) {
        (Embed::Linear(layer), Input::Features(frames)) => {
            linear(layer, &gather(layer.weight.columns / frames.columns, config.stride(), frames))
        }
        (Embed::Convolution(layers), Input::Features(frames)) => {
            let Some(shape) = config.stem() else { unreachable!("the configuration has a stem") };
            stem(&shape, layers, frames, observe)
        }
        (Embed::Table(table), Input::Tokens(tokens)) => {
            if let Some(token) = tokens.iter().find(|&&token| token >= table.rows) {
                return Err(Error::new(format!("token {token} is outside the vocabulary of {}", table.rows)));
            }
            look_up(table, tokens)
        }
        (Embed::Table(_), Input::Features(_)) => return Err(Error::new("the model takes tokens, not features")),
        (_, Input::Tokens(_)) => return Err(Error::new("the model takes features, not tokens")),
    };
    if let Some(positions) = &model.positions {
        if stream.rows > positions.rows {
            let (came, context) = (stream.rows, positions.rows);
            return Err(Error::new(format!("a sequence of {came} tokens; the position table ends after {context}")));
        }
        stream = Matrix::from_fn(stream.rows, stream.columns, |token, column| {
            stream.row(token)[column] + positions.row(token)[column]
        });
    }
    observe("embed", &mut stream);
    Ok(stream)
}

/// The answer after each token: what the model would say if the sequence ended there.
#[must_use]
pub fn pool(pool: Pool, scores: &Matrix) -> Matrix {
    let Pool::Mean { tokens } = pool else { return scores.clone() };
    Matrix::from_fn(scores.rows, scores.columns, |token, label| {
        let first = if tokens == 0 { 0 } else { (token + 1).saturating_sub(tokens) };
        (first..=token).map(|token| scores.row(token)[label]).sum::<f64>() / (token + 1 - first) as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_of_fewer_tokens_at_the_start() {
        let scores = Matrix { rows: 4, columns: 1, values: vec![1.0, 3.0, 8.0, 10.0] };
        assert_eq!(pool(Pool::Mean { tokens: 2 }, &scores).values, [1.0, 2.0, 5.5, 9.0]);
        assert_eq!(pool(Pool::Mean { tokens: 0 }, &scores).values, [1.0, 2.0, 4.0, 5.5]);
        assert_eq!(pool(Pool::Last {}, &scores), scores);
    }
}
