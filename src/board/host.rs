//! The same interface on a laptop: the terminal, the process's arguments, its files.

use std::io::Read;

pub struct File(std::fs::File);

impl File {
    pub fn open(path: &str) -> Result<Self, &'static str> {
        std::fs::File::open(path).map(Self).map_err(|_| "the file cannot be opened")
    }

    /// Fills `buffer` as far as the file reaches; what it returns is shorter only at the end of the file.
    pub fn read<'a>(&mut self, buffer: &'a mut [u8]) -> &'a [u8] {
        let mut used = 0;
        while let Ok(count @ 1..) = self.0.read(&mut buffer[used..]) {
            used += count;
        }
        &buffer[..used]
    }
}

pub struct Arguments(Vec<String>);

impl Arguments {
    pub fn read() -> Self {
        Self(std::env::args().skip(1).collect())
    }

    pub fn get(&self, index: usize) -> Option<&str> {
        self.0.get(index).map(String::as_str)
    }
}

pub fn exit(code: u8) -> ! {
    std::process::exit(code.into())
}

/// A laptop's stack is not ours to measure.
pub mod stack {
    pub fn high_water() -> usize {
        0
    }
}
