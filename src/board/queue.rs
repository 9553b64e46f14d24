//! Samples on their way from an interrupt to the program: a lock-free queue with one writer and one reader.
//!
//! Neither end ever waits for the other. What does not fit is dropped by the writer and counted, so that the reader can
//! tell how much it has not heard.

use core::sync::atomic::{AtomicU32, Ordering};
use heapless::spsc;

/// Room for `N - 1` samples.
pub struct Queue<const N: usize> {
    samples: spsc::Queue<i16, N>,
    lost: AtomicU32,
}

/// The interrupt's end.
pub struct Writer<'q> {
    samples: spsc::Producer<'q, i16>,
    lost: &'q AtomicU32,
}

/// The program's end.
pub struct Reader<'q> {
    samples: spsc::Consumer<'q, i16>,
    lost: &'q AtomicU32,
}

impl<const N: usize> Queue<N> {
    pub const fn new() -> Self {
        Self { samples: spsc::Queue::new(), lost: AtomicU32::new(0) }
    }

    pub fn split(&mut self) -> (Writer<'_>, Reader<'_>) {
        let (producer, consumer) = self.samples.split();
        (Writer { samples: producer, lost: &self.lost }, Reader { samples: consumer, lost: &self.lost })
    }
}

impl Writer<'_> {
    /// Appends what there is room for; the rest is lost.
    pub fn write(&mut self, samples: &[i16]) {
        let lost = samples.iter().filter(|&&sample| self.samples.enqueue(sample).is_err()).count();
        self.lose(lost as u32);
    }

    /// Counts samples that never came this far. Only this end writes the count, so a Cortex-M0 can keep it too.
    pub fn lose(&mut self, samples: u32) {
        self.lost.store(self.lost.load(Ordering::Relaxed).wrapping_add(samples), Ordering::Relaxed);
    }
}

impl Reader<'_> {
    /// Fills `buffer` as far as samples have come; returns how many.
    pub fn read(&mut self, buffer: &mut [i16]) -> usize {
        let mut count = 0;
        for place in buffer {
            let Some(sample) = self.samples.dequeue() else { break };
            *place = sample;
            count += 1;
        }
        count
    }

    /// Samples lost since the start, modulo 2³².
    pub fn lost(&self) -> u32 {
        self.lost.load(Ordering::Relaxed)
    }
}

/// Pieces of `piece` microseconds that went by unseen between two that were seen `elapsed` apart: an interrupt that
/// comes too late finds one piece where there were several.
pub const fn missed(elapsed: u32, piece: u32) -> u32 {
    (elapsed.wrapping_add(piece / 2) / piece).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted() {
        let mut queue = Queue::<8>::new();
        let (mut writer, mut reader) = queue.split();
        let mut buffer = [0; 16];
        writer.write(&[1, 2, 3, 4, 5]);
        assert_eq!(reader.lost(), 0);
        // Seven fit; five are there already.
        writer.write(&[6, 7, 8, 9, 10]);
        assert_eq!(reader.lost(), 3);
        assert_eq!(reader.read(&mut buffer), 7);
        assert_eq!(buffer[..7], [1, 2, 3, 4, 5, 6, 7]);
        // Room again: nothing more is lost, and the order holds over the ring's end.
        writer.write(&[11, 12, 13]);
        assert_eq!((reader.read(&mut buffer[..2]), buffer[0], buffer[1]), (2, 11, 12));
        writer.write(&[14, 15, 16, 17, 18, 19, 20]);
        assert_eq!((reader.read(&mut buffer), reader.lost()), (7, 4));
        assert_eq!(buffer[..7], [13, 14, 15, 16, 17, 18, 19]);
        writer.lose(160);
        assert_eq!(reader.lost(), 164);
    }

    #[test]
    fn an_interrupt_and_a_program_at_once() {
        const SAMPLES: i16 = 30000;
        let mut queue = Queue::<64>::new();
        let (mut writer, mut reader) = queue.split();
        let mut heard = std::vec::Vec::new();
        std::thread::scope(|scope| {
            let interrupt = scope.spawn(move || {
                for sample in 0..SAMPLES {
                    writer.write(&[sample]);
                }
            });
            let mut buffer = [0; 7];
            loop {
                let is_over = interrupt.is_finished();
                let count = reader.read(&mut buffer);
                heard.extend_from_slice(&buffer[..count]);
                if is_over && count == 0 {
                    break;
                }
            }
        });
        // Every sample was heard, in order, or counted.
        assert!(heard.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(heard.len() + reader.lost() as usize, SAMPLES as usize);
    }

    #[test]
    fn late_interrupts_are_noticed() {
        assert_eq!([9_900, 10_000, 14_900, 15_100, 30_000].map(|elapsed| missed(elapsed, 10_000)), [0, 0, 0, 1, 2]);
    }
}
