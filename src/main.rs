//! The firmware: input from a file or from data baked in → model → a line a step. Board and report; no arithmetic.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![deny(unsafe_code)]

mod board;

board::program!(run);

fn run() -> Result<(), &'static str> {
    let arguments = board::Arguments::read();
    let Some(path) = arguments.get(0) else {
        board::say!("no input: cargo run --release -- FILE");
        return Ok(());
    };
    let mut file = board::File::open(path)?;
    let mut buffer = [0; 64];
    let mut total = 0;
    loop {
        let piece = file.read(&mut buffer);
        total += piece.len();
        if piece.len() < 64 {
            break;
        }
    }
    board::say!("{}: {} bytes; {} bytes of stack used", path, total, board::stack::high_water());
    Ok(())
}
