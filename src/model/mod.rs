//! Frame → scores: embed → [ entry → attention ⇄ rings → + → entry → perceptron → + ] × N → entry → head → pool.
//!
//! A [`State`] is everything that a running model remembers, in one static. [`State::step`] takes one frame or token and
//! returns the scores whenever a token is complete; [`State::pass`] takes a whole sequence and reads each weight once for
//! several tokens. Both compute the same bits, for ever: memory and time of a step never grow.

mod attention;
mod block;
mod clock;
mod digest;
mod embed;
mod mlp;
mod pool;
mod probe;
mod state;
mod words;

pub use digest::Digest;
pub use probe::{Layer, Output, Part, Probe};
pub use state::State;
