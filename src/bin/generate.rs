//! Continues a text on the chip: the model `characters`, its ring of keys and values, and nothing else.
//!
//! Arguments: the prompt, how many characters to add, the temperature in thousandths (0 for the likeliest character
//! always), top-k (0 for all), the seed. Text comes line by line; a line that ends in a space goes on in the next. The
//! instructions between the marks are counted from outside, by counter/.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![deny(unsafe_code)]

mod baked;
#[path = "../board/mod.rs"]
mod board;

use baked::model_characters::{MODEL, STATE, State};
use board::meter;
use heapless::String;
use microformer::generate::{Sampler, Sampling, generate};

board::program!(run);

const PROMPT: &str = "Rust ";
const COUNT: usize = 200;
const SAMPLING: Sampling = Sampling { temperature_milli: 700, top_k: 10, seed: 1 };

/// A line is broken at the first space after so many bytes.
const LINE: usize = 64;

fn run() -> Result<(), &'static str> {
    let state = board::once!(: State = STATE).ok_or("the state is taken twice")?;
    let arguments = board::Arguments::read();
    let number = |index: usize, default: u32| match arguments.get(index) {
        Some(text) => text.parse().map_err(|_| "the arguments are PROMPT COUNT TEMPERATURE TOP_K SEED, whole numbers"),
        None => Ok(default),
    };
    let prompt = arguments.get(0).unwrap_or(PROMPT);
    let count = number(1, COUNT as u32)? as usize;
    let sampling = Sampling {
        temperature_milli: number(2, SAMPLING.temperature_milli)?,
        top_k: number(3, SAMPLING.top_k as u32)? as usize,
        seed: number(4, SAMPLING.seed)?,
    };
    if prompt.chars().any(|letter| token_of(letter).is_none()) {
        return Err("the prompt has a character that the model does not know");
    }
    let mut lines = Lines::new();
    prompt.chars().for_each(|letter| lines.push(letter));
    let mut sampler = Sampler::new(&sampling, MODEL.score_fraction_bits);
    let mut tokens = 0;
    // The first region holds the prompt as well; each of the others is one character.
    meter::begin();
    generate(state, &MODEL, prompt.chars().filter_map(token_of), count, &mut sampler, |token| {
        meter::end();
        MODEL.labels.get(token).into_iter().flat_map(|label| label.chars()).for_each(|letter| lines.push(letter));
        tokens += 1;
        meter::begin();
    });
    meter::end();
    lines.flush();
    board::say!("end after {} characters", tokens);
    board::say!("state {} bytes, stack {} bytes", core::mem::size_of::<State>(), board::stack::high_water());
    Ok(())
}

fn token_of(letter: char) -> Option<usize> {
    MODEL.labels.iter().position(|label| label.chars().eq([letter]))
}

/// Collects characters and says them line by line.
struct Lines(String<{ 2 * LINE }>);

impl Lines {
    const fn new() -> Self {
        Self(String::new())
    }

    fn push(&mut self, letter: char) {
        let line_ends = letter == '\n';
        if !line_ends && self.0.push(letter).is_err() {
            self.flush();
            let _ = self.0.push(letter);
        }
        if line_ends || (letter == ' ' && self.0.len() > LINE) {
            self.flush();
        }
    }

    fn flush(&mut self) {
        board::say!("{}", self.0.as_str());
        self.0.clear();
    }
}
