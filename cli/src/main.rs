//! The tool for people with data and a trained model: features, quantize, evaluate, run, inspect, new.

fn main() {}
