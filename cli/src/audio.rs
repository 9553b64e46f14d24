//! Audio files: the bytes of a WAV, FLAC or Ogg file in, 16-bit mono samples out.
//!
//! Channels are averaged; wider samples are rounded to 16 bits; 16-bit mono passes through unchanged. A file that is
//! empty, damaged or shorter than it claims is an error that names it.

use anyhow::{Context, Result, bail, ensure};
use rubato::audioadapter_buffers::direct::InterleavedSlice;
use rubato::{Fft, FixedSync, Resampler};
use std::io::Cursor;
use symphonia::core::errors::Error;
use symphonia::core::formats::TrackType;
use symphonia::core::formats::probe::Hint;
use symphonia::core::io::MediaSourceStream;

/// File names that [`decode`] understands end so.
pub const EXTENSIONS: [&str; 4] = ["wav", "flac", "ogg", "oga"];

/// Mono sound.
pub struct Sound {
    /// Samples per second.
    pub rate: u32,
    /// The samples.
    pub samples: Vec<i16>,
}

/// Decodes a whole file; `name` is for messages, and its ending a hint at the format.
pub fn decode(bytes: Vec<u8>, name: &str) -> Result<Sound> {
    ensure!(!bytes.is_empty(), "{name} is empty (0 bytes)");
    ensure!(!is_cut_ogg(&bytes), "cannot read {name}: truncated: the page that ends an Ogg stream is missing");
    read(bytes, name).with_context(|| format!("cannot read {name}"))
}

/// Whether this is an Ogg file whose last page is incomplete or does not end the stream: Ogg states no length.
fn is_cut_ogg(bytes: &[u8]) -> bool {
    const MARK: &[u8] = b"OggS";
    // Inside a page: the flags, of which one marks the last page, and the number of segments, whose lengths follow.
    const FLAGS: usize = 5;
    const LAST: u8 = 4;
    const SEGMENTS: usize = 26;
    if !bytes.starts_with(MARK) {
        return false;
    }
    let Some(page) = bytes.windows(MARK.len()).rposition(|window| window == MARK).map(|start| &bytes[start..]) else {
        return true;
    };
    let ends = page.get(FLAGS).is_some_and(|flags| flags & LAST != 0);
    let segments = page.get(SEGMENTS).map_or(0, |&segments| usize::from(segments));
    let lengths = page.get(SEGMENTS + 1..SEGMENTS + 1 + segments).unwrap_or_default();
    let body: usize = lengths.iter().map(|&length| usize::from(length)).sum();
    !ends || page.len() < SEGMENTS + 1 + segments + body
}

fn read(bytes: Vec<u8>, name: &str) -> Result<Sound> {
    let stream = MediaSourceStream::new(Box::new(Cursor::new(bytes)), Default::default());
    let mut hint = Hint::new();
    if let Some((_, extension)) = name.rsplit_once('.') {
        hint.with_extension(extension);
    }
    let mut format = symphonia::default::get_probe()
        .probe(&hint, stream, Default::default(), Default::default())
        .context("neither WAV, FLAC nor Ogg Vorbis, or its header is damaged")?;
    let track = format.default_track(TrackType::Audio).context("it holds no audio track")?;
    let parameters = track
        .codec_params
        .as_ref()
        .and_then(|parameters| parameters.audio())
        .context("it does not say how its audio is coded")?;
    let rate = parameters.sample_rate.context("it does not state its sample rate")?;
    let (track_id, promised) = (track.id, track.num_frames);
    let mut decoder = symphonia::default::get_codecs()
        .make_audio_decoder(parameters, &Default::default())
        .context("its audio coding is not supported; convert it to 16-bit WAV")?;

    let mut samples = Vec::new();
    let mut block: Vec<i32> = Vec::new();
    loop {
        let packet = match format.next_packet() {
            Ok(Some(packet)) => packet,
            Ok(None) => break,
            Err(Error::IoError(error)) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                break;
            }
            Err(error) => return Err(error.into()),
        };
        if packet.track_id != track_id {
            continue;
        }
        let decoded = decoder.decode(&packet).with_context(|| format!("damaged after {} samples", samples.len()))?;
        let channels = decoded.spec().channels().count();
        decoded.copy_to_vec_interleaved(&mut block);
        samples.extend(block.chunks_exact(channels.max(1)).map(mix));
    }
    if let Some(promised) = promised
        && (samples.len() as u64) < promised
    {
        bail!("truncated: its header promises {promised} samples, but {} are there", samples.len());
    }
    ensure!(!samples.is_empty(), "it holds no samples");
    Ok(Sound { rate, samples })
}

/// Averages the channels of one moment, given at 32 bits, and rounds to 16.
fn mix(channels: &[i32]) -> i16 {
    let sum: i64 = channels.iter().map(|&value| i64::from(value)).sum();
    let mean = sum / channels.len() as i64;
    ((mean + (1 << 15)) >> 16).clamp(-32768, 32767) as i16
}

/// Converts to another sample rate; a sound that has that rate already stays as it is.
pub fn resample(sound: Sound, rate: u32) -> Result<Vec<i16>> {
    if sound.rate == rate {
        return Ok(sound.samples);
    }
    ensure!(
        (4000..=384_000).contains(&sound.rate),
        "a sample rate of {} Hz is not supported; convert it to {rate} Hz",
        sound.rate
    );
    let input: Vec<f64> = sound.samples.iter().map(|&sample| f64::from(sample)).collect();
    let length = input.len();
    let mut resampler = Fft::<f64>::new(sound.rate as usize, rate as usize, 1024, 1, FixedSync::Both)?;
    let mut output = vec![0.0; resampler.process_all_needed_output_len(length)];
    let capacity = output.len();
    let (_, produced) = resampler.process_all_into_buffer(
        &InterleavedSlice::new(&input, 1, length)?,
        &mut InterleavedSlice::new_mut(&mut output, 1, capacity)?,
        length,
        None,
    )?;
    // The cast saturates.
    Ok(output.iter().take(produced).map(|value| value.round() as i16).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A WAV file of integer samples, given as little-endian bytes.
    fn wav(rate: u32, channels: u16, bits: u16, data: &[u8]) -> Vec<u8> {
        let block = channels * bits / 8;
        let mut bytes = b"RIFF".to_vec();
        bytes.extend((36 + data.len() as u32).to_le_bytes());
        bytes.extend(b"WAVEfmt ");
        bytes.extend(16u32.to_le_bytes());
        bytes.extend([1u16, channels].map(u16::to_le_bytes).concat());
        bytes.extend([rate, rate * u32::from(block)].map(u32::to_le_bytes).concat());
        bytes.extend([block, bits].map(u16::to_le_bytes).concat());
        bytes.extend(b"data");
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(data);
        bytes
    }

    fn message(bytes: Vec<u8>, name: &str) -> String {
        format!("{:#}", decode(bytes, name).err().expect("this file is bad"))
    }

    #[test]
    fn sixteen_bits_pass_unchanged() {
        let samples = [0, 1, -1, 32767, -32768];
        let sound = decode(wav(16000, 1, 16, &samples.map(i16::to_le_bytes).concat()), "a.wav").unwrap();
        assert_eq!((sound.rate, sound.samples), (16000, samples.to_vec()));
    }

    #[test]
    fn channels_are_averaged() {
        let data = [100i16, 300, -32768, 32767].map(i16::to_le_bytes).concat();
        assert_eq!(decode(wav(44100, 2, 16, &data), "a.wav").unwrap().samples, [200, 0]);
    }

    #[test]
    fn twenty_four_bits_are_rounded() {
        // 256 is one step of 16 bits; the largest value must not wrap.
        let data: Vec<u8> = [127i32, 128, -129, 0x7F_FFFF].iter().flat_map(|v| v.to_le_bytes()[..3].to_vec()).collect();
        assert_eq!(decode(wav(16000, 1, 24, &data), "a.wav").unwrap().samples, [0, 1, -1, 32767]);
    }

    #[test]
    fn floats_are_rounded_and_saturate() {
        let mut bytes =
            wav(16000, 1, 32, &[0.5f32, -1.0, 2.0, -9.0, f32::NAN, f32::INFINITY].map(f32::to_le_bytes).concat());
        // The format tag of IEEE floats.
        bytes[20] = 3;
        assert_eq!(decode(bytes, "a.wav").unwrap().samples, [16384, -32768, 32767, -32768, 0, 32767]);
    }

    #[test]
    fn ten_minutes_of_silence_are_ten_minutes_of_zeros() {
        let sound = decode(wav(44100, 2, 16, &vec![0; 44100 * 600 * 4]), "a.wav").unwrap();
        let samples = resample(sound, 16000).unwrap();
        assert_eq!(samples.len(), 16000 * 600);
        assert!(samples.iter().all(|&sample| sample == 0));
    }

    #[test]
    fn bad_files_are_named_with_what_is_wrong() {
        assert_eq!(message(Vec::new(), "a.wav"), "a.wav is empty (0 bytes)");
        let whole = wav(16000, 1, 16, &[0; 2000]);
        let cut = message(whole[..1044].to_vec(), "b.wav");
        assert!(cut.contains("b.wav") && cut.contains("promises 1000 samples, but 500 are there"), "{cut}");
        assert!(message(wav(16000, 1, 16, &[]), "c.wav").contains("no samples"));
        assert!(message(b"hello".to_vec(), "d.wav").contains("neither WAV, FLAC nor Ogg"));
        assert!(message(b"OggS\0\x02 and no end".to_vec(), "e.ogg").contains("truncated"));
    }

    #[test]
    fn resampling_keeps_length_pitch_and_level() {
        for rate in [8000, 11025, 44100, 48000] {
            let wave =
                |rate: u32| (0..rate).map(move |k| f64::from(k) * 440.0 * std::f64::consts::TAU / f64::from(rate));
            let samples = wave(rate).map(|angle| (10000.0 * angle.sin()).round() as i16).collect();
            let found = resample(Sound { rate, samples }, 16000).unwrap();
            assert_eq!(found.len(), 16000, "from {rate} Hz");
            // The ends ring. Between them it may lie up to a sample early or late, where the wave moves by 1727 at most.
            let middle = || found.iter().map(|&sample| f64::from(sample)).zip(wave(16000)).skip(500).take(15000);
            let worst = middle().map(|(found, angle)| (found - 10000.0 * angle.sin()).abs()).fold(0.0, f64::max);
            assert!(worst < 1800.0, "from {rate} Hz: off by {worst}");
            let level = (middle().map(|(found, _)| found * found).sum::<f64>() / 7500.0).sqrt();
            assert!((level - 10000.0).abs() < 50.0, "from {rate} Hz: an amplitude of {level}");
        }
    }
}
