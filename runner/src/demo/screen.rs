//! What the firmware says, drawn: one moving line with level and posterior, and a lasting line for each word.

use std::io::{IsTerminal, Write, stdout};
use std::time::{Duration, Instant};

/// A line of the firmware's log (src/main.rs writes them).
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'l> {
    /// `token 1240 ms, level 3020, yes 87 %`
    Token { milliseconds: u32, level: u32, label: &'l str, percent: u32 },
    /// `heard yes 800 ms to 1400 ms, 97 %`
    Word { label: &'l str, start: u32, end: u32, percent: u32 },
    /// `end after 16769 ms: 9 words, 0 samples lost`
    End { milliseconds: u32 },
    /// `score yes -1204`
    Score { label: &'l str },
    /// `state 13552 bytes, stack 2612 bytes`
    Memory { state: u32, stack: u32 },
}

impl<'l> Line<'l> {
    pub fn read(line: &'l str) -> Option<Self> {
        let words: Vec<&str> = line.split([' ', ',', ':']).filter(|word| !word.is_empty()).collect();
        let number = |index: usize| words.get(index)?.parse().ok();
        Some(match *words.first()? {
            "token" => {
                Self::Token { milliseconds: number(1)?, level: number(4)?, label: words.get(5)?, percent: number(6)? }
            }
            "heard" => Self::Word { label: words.get(1)?, start: number(2)?, end: number(5)?, percent: number(7)? },
            "end" => Self::End { milliseconds: number(2)? },
            "score" => Self::Score { label: words.get(1)? },
            "state" => Self::Memory { state: number(1)?, stack: number(4)? },
            _ => return None,
        })
    }

    /// A word that was heard, and when it ended.
    pub fn word(&self) -> Option<(&'l str, u32)> {
        if let Self::Word { label, end, .. } = self { Some((label, *end)) } else { None }
    }

    /// What the model can tell apart.
    pub fn label(&self) -> Option<&'l str> {
        if let Self::Score { label } = self { Some(label) } else { None }
    }

    pub fn end(&self) -> Option<u32> {
        if let Self::End { milliseconds } = self { Some(*milliseconds) } else { None }
    }

    pub fn memory(&self) -> Option<(u32, u32)> {
        if let Self::Memory { state, stack } = self { Some((*state, *stack)) } else { None }
    }
}

/// Columns of the two bars.
const BAR: usize = 24;

/// Who watches wants to see a short sound as it is heard, but not to wait for an hour of it.
const LONGEST_AT_ITS_PACE: u32 = 60;

/// Draws lines as they come, at the pace of the sound where somebody watches a short one.
pub struct Screen {
    is_watched: bool,
    is_paced: bool,
    begun: Instant,
}

impl Screen {
    pub fn new(seconds: u32) -> Self {
        Self { is_watched: stdout().is_terminal(), is_paced: seconds <= LONGEST_AT_ITS_PACE, begun: Instant::now() }
    }

    pub fn show(&mut self, line: &str) {
        match Line::read(line) {
            Some(Line::Token { milliseconds, level, label, percent }) if self.is_watched => {
                if self.is_paced {
                    self.wait_for(milliseconds);
                }
                // Full scale is 32768; the ear hears in octaves.
                let octaves = f64::from(level.max(1)).log2() / 15.0;
                let (level, posterior) = (bar(octaves), bar(f64::from(percent) / 100.0));
                print!("\r{:6.2} s  {level}  {label:>10} {posterior} {percent:3} %", f64::from(milliseconds) / 1000.0);
                let _ = stdout().flush();
            }
            Some(Line::Word { label, start, end, percent }) => {
                self.clear();
                let seconds = |milliseconds: u32| f64::from(milliseconds) / 1000.0;
                println!(
                    "{:6.2} s  {label:<10} {percent:3} %   ({:.2} s to {:.2} s)",
                    seconds(end),
                    seconds(start),
                    seconds(end)
                );
            }
            Some(_) => {}
            // What the summary tells, or only machines compare.
            None if ["listening ", "cost ", "fingerprint "].iter().any(|word| line.starts_with(word)) => {}
            None => {
                self.clear();
                println!("{line}");
            }
        }
    }

    pub fn finish(&self) {
        self.clear();
    }

    fn clear(&self) {
        if self.is_watched {
            print!("\r\x1b[K");
        }
    }

    fn wait_for(&self, milliseconds: u32) {
        let due = Duration::from_millis(milliseconds.into());
        if let Some(early) = due.checked_sub(self.begun.elapsed()) {
            std::thread::sleep(early);
        }
    }
}

fn bar(share: f64) -> String {
    let filled = (share.clamp(0.0, 1.0) * BAR as f64).round() as usize;
    format!("{}{}", "█".repeat(filled), "·".repeat(BAR - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_firmware_is_read() {
        let token = Line::Token { milliseconds: 1240, level: 3020, label: "yes", percent: 87 };
        assert_eq!(Line::read("token 1240 ms, level 3020, yes 87 %"), Some(token));
        let word = Line::Word { label: "yes", start: 800, end: 1400, percent: 97 };
        assert_eq!(Line::read("heard yes 800 ms to 1400 ms, 97 %"), Some(word));
        assert_eq!(Line::read("end after 16769 ms: 9 words, 0 samples lost").and_then(|line| line.end()), Some(16769));
        assert_eq!(
            Line::read("state 13552 bytes, stack 2612 bytes").and_then(|line| line.memory()),
            Some((13552, 2612))
        );
        assert_eq!(Line::read("error: the file cannot be opened"), None);
    }
}
