//! A stream's report as text.

use super::Report;
use super::judge::Point;

pub fn report(report: &Report) {
    println!(
        "{} on {}: {:.2} h, {} words to hear, {} others; {:.0} times real time",
        report.model, report.data, report.hours, report.words, report.other_words, report.times_real_time
    );
    if report.tuned {
        println!("thresholds chosen on this sound and written to {}: judge them on other sound", report.model);
    }
    println!(
        "{:>10} {:>7} {:>9} {:>11} {:>13} {:>9}",
        "threshold", "heard", "misses", "wrong word", "false alarms", "an hour"
    );
    line("own", &report.own);
    for point in &report.curve {
        line(&point.threshold.map_or(String::new(), |threshold| format!("{threshold:.2}")), point);
    }
    println!(
        "\n{:>10} {:>10} {:>6} {:>7} {:>11} {:>13}",
        "word", "threshold", "said", "heard", "wrong word", "false alarms"
    );
    for word in &report.by_word {
        println!(
            "{:>10} {:10.3} {:6} {:7} {:11} {:13}",
            word.word, word.threshold, word.said, word.heard, word.wrong, word.false_alarms
        );
    }
    if let Some(chip) = &report.qemu {
        println!(
            "\n{} in QEMU, {:.0} s: {} events, of {} here; {} identical to the sample and bit",
            chip.board, chip.seconds, chip.events, chip.events_here, chip.identical
        );
    }
}

/// A wrong word is a miss too; a false alarm is an event where no word was said.
fn line(name: &str, point: &Point) {
    println!(
        "{name:>10} {:7} {:>7.1} % {:11} {:13} {:9.2}",
        point.heard,
        100.0 * point.miss_rate,
        point.wrong,
        point.false_alarms,
        point.false_alarms_per_hour
    );
}
