//! What was spoken against what was heard, word by word.

use super::screen::Line;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// A word is heard from its beginning until so long after it.
const LATEST_MILLISECONDS: u32 = 1500;

/// A word of the sound, and when it begins.
pub struct Spoken {
    word: String,
    milliseconds: u32,
}

/// Reads a list with the columns `word,start`, the start in seconds.
pub fn read(list: &Path) -> Result<Vec<Spoken>> {
    let text = fs::read_to_string(list).with_context(|| format!("cannot open {}", list.display()))?;
    let row = |line: &str| {
        let (word, start) = line.split_once(',')?;
        Some(Spoken { word: word.to_owned(), milliseconds: (start.parse::<f64>().ok()? * 1000.0) as u32 })
    };
    let rows: Option<Vec<Spoken>> = text.lines().skip(1).map(row).collect();
    rows.with_context(|| format!("{} has a line that is not `word,start`", list.display()))
}

/// Two lines for a sound whose words are known, one for any other.
pub fn tell(spoken: &[Spoken], lines: &[Line]) {
    let heard: Vec<&str> = lines.iter().filter_map(Line::word).map(|(word, _)| word).collect();
    if spoken.is_empty() {
        println!("heard     {} {}: {}", heard.len(), if heard.len() == 1 { "word" } else { "words" }, heard.join(" "));
        return;
    }
    let labels: Vec<&str> = lines.iter().filter_map(Line::label).collect();
    let (known, others): (Vec<&Spoken>, Vec<&Spoken>) =
        spoken.iter().partition(|spoken| labels.contains(&spoken.word.as_str()));
    let right = count_right(&known, lines);
    println!("spoken    {}", spoken.iter().map(|spoken| spoken.word.as_str()).collect::<Vec<_>>().join(" "));
    print!("heard     {}   ({right} of {} words, {} false", heard.join(" "), known.len(), heard.len() - right);
    for other in others {
        print!("; `{}` is none of its words", other.word);
    }
    println!(")");
}

/// The spoken words with an event of their own.
fn count_right(spoken: &[&Spoken], lines: &[Line]) -> usize {
    let is_heard = |spoken: &&&Spoken| {
        let times = spoken.milliseconds..=spoken.milliseconds + LATEST_MILLISECONDS;
        lines.iter().filter_map(Line::word).any(|(word, end)| word == spoken.word && times.contains(&end))
    };
    spoken.iter().filter(is_heard).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_word_at_the_right_time_counts() {
        let spoken = [("yes", 900), ("no", 2300), ("up", 5000)]
            .map(|(word, milliseconds)| Spoken { word: word.to_owned(), milliseconds });
        let event = |label, end| Line::Word { label, start: end - 300, end, percent: 90 };
        // Right; another word in its place; long after it was said.
        let lines = [event("yes", 1300), event("go", 2700), event("up", 6600)];
        assert_eq!(count_right(&spoken.iter().collect::<Vec<_>>(), &lines), 1);
    }
}
