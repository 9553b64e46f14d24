//! A report on a model as text.

use super::boards::Chip;
use super::{OnBoard, Report, cost};
use microformer_bake::config::{Config, Embed, Input, Pool, Positions};

pub fn report(report: &Report) {
    let config = &report.shape;
    println!("{}: {} model `{}`", report.file, report.kind, config.name);
    println!("input       {}", input(config));
    println!(
        "stream      {} wide, {} blocks, {} heads, hidden layer {}",
        config.width, config.blocks, config.heads, config.hidden
    );
    println!("attention   window {} tokens, {}", config.window, positions(config));
    println!("output      {} labels, {}", config.labels.len(), pool(config));
    println!("parameters  {}", grouped(report.parameters));
    println!(
        "MACs        {} per token, {} per frame",
        grouped(report.macs_per_token),
        grouped(report.macs_per_token / report.frames_per_token)
    );

    println!("\n{:24} {:>12} {:>12} {:>16}", "layer", "MACs", "flash bytes", "instructions M4");
    for layer in &report.layers {
        let instructions = cost::instructions(&layer.units, Chip::M4).round() as usize;
        println!(
            "{:24} {:>12} {:>12} {:>16}",
            layer.name,
            grouped(layer.macs),
            grouped(layer.flash_bytes),
            grouped(instructions)
        );
    }

    println!(
        "\n{:14} {:>10} {:>10} {:>10} {:>10} {:>13} {:>8}  fits",
        "board", "state", "RAM", "of", "flash", "instructions", "ms/token"
    );
    for board in &report.boards {
        println!(
            "{:14} {:>10} {:>10} {:>10} {:>10} {:>13} {:>8.2}  {}",
            board.board,
            grouped(board.history_bytes + board.scratch_bytes),
            grouped(board.ram_bytes),
            grouped(board.ram_available),
            grouped(board.flash_bytes),
            grouped(board.instructions_per_token as usize),
            milliseconds(board),
            verdict(board)
        );
    }
    println!(
        "\nInstructions and times are predictions for a token with a full window; `cargo cost --model FILE` measures."
    );
}

/// At one cycle an instruction, which is the least; loads and branches take more.
fn milliseconds(board: &OnBoard) -> f64 {
    board.instructions_per_token as f64 / (1e3 * f64::from(board.megahertz))
}

fn verdict(board: &OnBoard) -> String {
    if board.fits { "yes".to_owned() } else { format!("no: {}", shortage(board)) }
}

/// What a board has too little of.
pub fn shortage(board: &OnBoard) -> String {
    let need = |what: &str, needed: usize, available: usize| {
        format!("needs {} bytes of {what}, has {}", grouped(needed), grouped(available))
    };
    let mut reasons = Vec::new();
    if board.flash_bytes > board.flash_available {
        reasons.push(need("flash", board.flash_bytes, board.flash_available));
    }
    if board.ram_bytes > board.ram_available {
        reasons.push(need("RAM", board.ram_bytes, board.ram_available));
    } else if reasons.is_empty() {
        reasons.push("its memory.x leaves too little of the RAM for stack or statics".to_owned());
    }
    reasons.join(", ")
}

fn input(config: &Config) -> String {
    let entry = match config.input {
        Input::Features(features) => format!("{features} features a frame"),
        Input::Tokens(vocabulary) => format!("tokens of a vocabulary of {vocabulary}"),
    };
    let embed = match &config.embed {
        Embed::Linear { frames, stride } => format!("a token of {frames} frames every {stride}"),
        Embed::Table {} => "a table".to_owned(),
        Embed::Convolution { channels, kernel, stride, .. } => {
            format!("a convolution stem of {channels} channels over {} frames every {}", kernel[0], stride[0])
        }
    };
    let sound =
        config.signal.as_ref().map_or(String::new(), |signal| format!(", from sound at {} Hz", signal.sample_rate));
    format!("{entry}{sound}; {embed}")
}

fn positions(config: &Config) -> String {
    match config.positions {
        Positions::None => "no positions".to_owned(),
        Positions::Alibi => "ALiBi".to_owned(),
        Positions::Learned => format!("learned positions, at most {} tokens", config.context),
        Positions::Sinusoidal => format!("sinusoidal positions, at most {} tokens", config.context),
    }
}

fn pool(config: &Config) -> String {
    match config.pool {
        Pool::Mean { tokens: 0 } => "mean over all tokens".to_owned(),
        Pool::Mean { tokens } => format!("mean over the last {tokens} tokens"),
        Pool::Last {} => "those of the last token".to_owned(),
        Pool::Each {} => "at every token".to_owned(),
    }
}

/// 1234567 as 1,234,567.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!([7, 1000, 1_234_567].map(grouped), ["7", "1,000", "1,234,567"]);
    }
}
