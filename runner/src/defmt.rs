//! Bytes of a defmt stream in, readable lines out.

use crate::image::Image;
use anyhow::{Context, Result};
use defmt_decoder::{DecodeError, StreamDecoder, Table};

/// The strings of an image's log, which never leave the laptop.
pub struct Strings<'i> {
    table: Table,
    image: &'i Image,
}

impl<'i> Strings<'i> {
    pub fn of(image: &'i Image) -> Result<Self> {
        let table = Table::parse(&image.bytes)
            .with_context(|| format!("the defmt strings of {} cannot be read", image.path.display()))?
            .with_context(|| format!("{} has no defmt strings: link it with -Tdefmt.x", image.path.display()))?;
        Ok(Self { table, image })
    }

    pub fn decoder(&self) -> Decoder<'_> {
        Decoder { stream: self.table.new_stream_decoder(), image: self.image }
    }
}

pub struct Decoder<'s> {
    stream: Box<dyn StreamDecoder + Send + Sync + 's>,
    image: &'s Image,
}

impl Decoder<'_> {
    /// Takes what came and hands every whole line to `line`.
    pub fn take(&mut self, bytes: &[u8], mut line: impl FnMut(String)) {
        self.stream.received(bytes);
        loop {
            match self.stream.decode() {
                Ok(frame) => {
                    let message = frame.display_message().to_string();
                    let level = frame.level().map_or(String::new(), |level| format!("{:5} ", level.as_str()));
                    line(self.name_function(format!("{level}{message}")));
                }
                Err(DecodeError::UnexpectedEof) => return,
                // rzCOBS frames are told apart by zeros: a frame that was cut short is lost, the next one is whole.
                Err(DecodeError::Malformed) => line("(a broken line)".to_owned()),
            }
        }
    }

    /// A fault tells an address; the symbols tell whose it is.
    fn name_function(&self, line: String) -> String {
        const MARK: &str = "at pc 0x";
        let function = line.find(MARK).and_then(|at| {
            let digits = line.get(at + MARK.len()..at + MARK.len() + 8)?;
            self.image.function_at(u64::from_str_radix(digits, 16).ok()?)
        });
        match function {
            Some(function) => format!("{line} (in {function})"),
            None => line,
        }
    }
}
