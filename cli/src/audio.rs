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
    read(bytes, name).with_context(|| format!("cannot read {name}"))
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
