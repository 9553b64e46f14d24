//! A prompt in, the text that the model continues it with out: by the integer engine, so that the chip writes the same.

use crate::data::text;
use crate::model::{Engine, Model};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use microformer::generate::{Sampler, Sampling, generate};
use microformer::model::State;
use microformer_bake::{Config, config::Input};
use microformer_packed::Memory;
use serde_json::json;
use std::path::Path;

/// How a text is continued.
#[derive(Args)]
pub struct GenerateArguments {
    /// Let a model of tokens continue the prompt for so many tokens
    #[arg(long, value_name = "N", conflicts_with = "file")]
    pub generate: Option<usize>,
    /// The text to continue; for a model whose labels are words, words with spaces between
    #[arg(long, value_name = "TEXT", requires = "generate")]
    prompt: Option<String>,
    /// What scores are divided by before a token is drawn, to a thousandth; 0 always takes the likeliest
    #[arg(long, default_value_t = 0.0, requires = "generate")]
    temperature: f64,
    /// Draw from so many of the likeliest tokens only; 0 for all
    #[arg(long, value_name = "K", default_value_t = 0, requires = "generate")]
    top_k: usize,
    /// Seed of the generator that draws: the same seed, the same text, here and on the chip
    #[arg(long, default_value_t = 1, requires = "generate")]
    seed: u32,
}

impl GenerateArguments {
    fn sampling(&self) -> Result<Sampling> {
        ensure!(
            (0.0..=1000.0).contains(&self.temperature),
            "--temperature {} is not between 0 and 1000",
            self.temperature
        );
        let temperature_milli = (1000.0 * self.temperature).round() as u32;
        Ok(Sampling { temperature_milli, top_k: self.top_k, seed: self.seed })
    }
}

pub fn run(arguments: &GenerateArguments, path: &Path, count: usize, as_json: bool) -> Result<()> {
    let file = path.display();
    let Model::Quantized(model) = Model::read(path)? else {
        bail!("{file} is a float model; --generate writes what the chip writes: quantise it first");
    };
    let config = &model.config;
    let sampling = arguments.sampling()?;
    let prompt = arguments.prompt.as_deref().context("--generate needs a text to continue: give --prompt TEXT")?;
    let tokens = check(config, prompt, count).with_context(|| format!("{file} cannot continue the prompt"))?;
    let engine = Engine::new(&model, path)?;
    let model = engine.assembled.model;
    let mut state = State::with_words(model, 1, vec![0; Memory::of(model, 1).words()]);
    let mut sampler = Sampler::new(&sampling, model.score_fraction_bits);
    let mut writer = text::Writer::new(config);
    let mut added = Vec::new();
    if !as_json {
        print!("{prompt}{}", writer.gap());
    }
    generate(&mut state, model, tokens.into_iter(), count, &mut sampler, |token| {
        added.push(token);
        let piece = writer.write(token);
        if !as_json {
            print!("{piece}");
        }
    });
    if as_json {
        let report = json!({
            "model": config.name,
            "prompt": prompt,
            "text": text::Writer::new(config).write_all(&added),
            "tokens": added,
            "temperature": f64::from(sampling.temperature_milli) / 1000.0,
            "top_k": sampling.top_k,
            "seed": sampling.seed,
        });
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        println!("{}", writer.rest());
    }
    Ok(())
}

/// The tokens of a prompt that the model can continue for `count` tokens.
fn check(config: &Config, prompt: &str, count: usize) -> Result<Vec<usize>> {
    let Input::Tokens(vocabulary) = config.input else {
        bail!("model `{}` takes features, not tokens", config.name);
    };
    ensure!(
        config.labels.len() == vocabulary,
        "it knows {vocabulary} tokens but scores {} labels; a model that continues a text scores every token",
        config.labels.len()
    );
    let tokens = text::tokenize_prompt(prompt, config)?;
    ensure!(!tokens.is_empty(), "it is empty; a model that has seen nothing has no scores");
    ensure!(
        config.context == 0 || tokens.len() + count <= config.context,
        "{} tokens and {count} more are beyond the {} positions of model `{}`",
        tokens.len(),
        config.context,
        config.name
    );
    Ok(tokens)
}
