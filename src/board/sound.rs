//! Where samples come from: a WAV file of the laptop, a WAV in flash, or a microphone. 16 kHz, one channel, 16 bits.

use super::File;

/// Samples in the order in which they were heard.
pub trait Source {
    /// Fills `buffer` as far as there is sound; shorter only at its end. A microphone waits, and never ends.
    fn read<'b>(&mut self, buffer: &'b mut [i16]) -> &'b [i16];

    /// Samples that were lost because nobody fetched them in time.
    fn overruns(&self) -> u32 {
        0
    }
}

/// Bytes in their order: what a WAV is read from.
pub trait Bytes {
    fn read<'b>(&mut self, buffer: &'b mut [u8]) -> &'b [u8];
}

impl Bytes for File {
    fn read<'b>(&mut self, buffer: &'b mut [u8]) -> &'b [u8] {
        File::read(self, buffer)
    }
}

impl Bytes for &[u8] {
    fn read<'b>(&mut self, buffer: &'b mut [u8]) -> &'b [u8] {
        let count = buffer.len().min(self.len());
        let (now, later) = self.split_at(count);
        *self = later;
        let (filled, _) = buffer.split_at_mut(count);
        filled.copy_from_slice(now);
        filled
    }
}

const NOT_A_WAV: &str = "the file is no WAV, or it ends before its sound";
const OTHER_FORMAT: &str = "the firmware hears 16 kHz, one channel, 16 bits: `cargo demo FILE` converts";

/// The sound of a WAV file, read piece by piece.
pub struct Wav<B> {
    bytes: B,
    /// Bytes of sound that are left.
    left: usize,
}

impl Wav<File> {
    pub fn open(path: &str) -> Result<Self, &'static str> {
        Self::begin(File::open(path)?)
    }
}

impl Wav<&'static [u8]> {
    pub fn in_flash(bytes: &'static [u8]) -> Result<Self, &'static str> {
        Self::begin(bytes)
    }
}

impl<B: Bytes> Wav<B> {
    /// Reads up to the sound: the form, then chunks, of which only `fmt ` and `data` matter.
    fn begin(mut bytes: B) -> Result<Self, &'static str> {
        let mut form = [0; 12];
        exact(&mut bytes, &mut form)?;
        if &form[..4] != b"RIFF" || &form[8..] != b"WAVE" {
            return Err(NOT_A_WAV);
        }
        let mut is_ours = false;
        loop {
            let mut head = [0; 8];
            exact(&mut bytes, &mut head)?;
            let [a, b, c, d, size @ ..] = head;
            let size = u32::from_le_bytes(size) as usize;
            match &[a, b, c, d] {
                b"fmt " if size >= 16 => {
                    let mut format = [0; 16];
                    exact(&mut bytes, &mut format)?;
                    // PCM, one channel, 16,000 a second; then the rates that follow from it, and 16 bits.
                    is_ours = format == [1, 0, 1, 0, 0x80, 0x3e, 0, 0, 0, 0x7d, 0, 0, 2, 0, 16, 0];
                    skip(&mut bytes, size - 16 + size % 2)?;
                }
                b"data" if is_ours => return Ok(Self { bytes, left: size & !1 }),
                b"data" => return Err(OTHER_FORMAT),
                _ => skip(&mut bytes, size + size % 2)?,
            }
        }
    }
}

impl<B: Bytes> Source for Wav<B> {
    fn read<'b>(&mut self, buffer: &'b mut [i16]) -> &'b [i16] {
        let wanted = buffer.len().min(self.left / 2);
        let (wanted, _) = buffer.split_at_mut(wanted);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(wanted);
        let count = self.bytes.read(bytes).len() / 2;
        self.left = if count < wanted.len() { 0 } else { self.left - 2 * count };
        let (read, _) = wanted.split_at_mut(count);
        read.iter_mut().for_each(|sample| *sample = i16::from_le(*sample));
        read
    }
}

fn exact(bytes: &mut impl Bytes, buffer: &mut [u8]) -> Result<(), &'static str> {
    let wanted = buffer.len();
    if bytes.read(buffer).len() == wanted { Ok(()) } else { Err(NOT_A_WAV) }
}

fn skip(bytes: &mut impl Bytes, mut count: usize) -> Result<(), &'static str> {
    let mut buffer = [0; 32];
    while count > 0 {
        let piece = count.min(buffer.len());
        exact(bytes, &mut buffer[..piece])?;
        count -= piece;
    }
    Ok(())
}
