"""Speech Commands in, augmented sound out: for each part one 16 kHz WAV with a CSV manifest beside it.

The manifest's columns are file, start, samples and label, where the label is the word itself: which words are
keywords is decided later, at training. Only windows of the noise recordings marked `train` are ever mixed in.
"""

import csv
import io
import tarfile
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import resample
from tqdm import tqdm

RATE = 16_000
SILENCE = "_silence_"
BABBLE = "_babble_"


class Part:
    """One WAV of clips end to end, and its manifest. Used as a context manager."""

    def __init__(self, folder: Path, name: str):
        self.wav = folder / f"{name}.wav"
        self.rows, self.start = [], 0

    def __enter__(self):
        self.sound = soundfile.SoundFile(self.wav, "w", RATE, 1, "PCM_16")
        return self

    def add(self, clip: np.ndarray, label: str):
        self.rows.append((self.wav.name, self.start, len(clip), label))
        self.start += len(clip)
        self.sound.write(np.clip(clip, -1, 32767 / 32768))

    def __exit__(self, *_):
        self.sound.close()
        with open(self.wav.with_suffix(".csv"), "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("file", "start", "samples", "label"))
            writer.writerows(self.rows)


def fit(clip: np.ndarray, start: int = 0) -> np.ndarray:
    """Exactly one second of `clip`, whose first sample falls at `start`; zeros where there is no sound."""
    out = np.zeros(RATE, np.float32)
    source = clip[max(0, -start) :][: RATE - max(0, start)]
    out[max(0, start) : max(0, start) + len(source)] = source
    return out


def level(clip: np.ndarray) -> float:
    """Root mean square of the loudest half of the clip, in 10 ms pieces: the level of the word, not of the pause."""
    power = np.sort((clip[: len(clip) // 160 * 160].reshape(-1, 160) ** 2).mean(1))
    return float(np.sqrt(power[len(power) // 2 :].mean()) + 1e-5)


class Noise:
    """Endless supply of one-second noises: stretches of recordings, and white, pink and brown noise."""

    SYNTHETIC = 0.3

    def __init__(self, recordings: list[np.ndarray], random: np.random.Generator):
        self.recordings, self.random = recordings, random

    def coloured(self) -> np.ndarray:
        """Noise whose power falls with frequency to the power of 0 (white) to 2 (brown)."""
        slope = self.random.choice([0.0, 0.5, 1.0, 1.5, 2.0])
        spectrum = np.fft.rfft(self.random.standard_normal(RATE))
        frequency = np.maximum(np.arange(len(spectrum)), 20.0)
        sound = np.fft.irfft(spectrum * frequency ** (-slope / 2), RATE)
        return (sound / np.sqrt((sound**2).mean()) * 0.1).astype(np.float32)

    def recorded(self) -> np.ndarray:
        recording = self.recordings[self.random.integers(len(self.recordings))]
        start = self.random.integers(len(recording) - RATE)
        return recording[start : start + RATE]

    def draw(self) -> np.ndarray:
        return self.coloured() if self.random.random() < self.SYNTHETIC else self.recorded()


def decibels(gain: float) -> float:
    return 10 ** (gain / 20)


def augment(clip: np.ndarray, noise: Noise, random: np.random.Generator) -> np.ndarray:
    """Another speaker's tempo and pitch, another place in the second, another room, another distance."""
    speed = random.uniform(0.85, 1.15)
    # A multiple of 80 samples keeps the FFT of the resampler fast.
    resampled = resample(clip, max(80, round(len(clip) / speed / 80) * 80)).astype(np.float32)
    centre = (RATE - len(resampled)) // 2 if len(clip) == RATE else 0
    clip = fit(resampled, centre + random.integers(-RATE // 10, RATE // 10 + 1))
    if random.random() < 0.7:
        sound = noise.draw()
        ratio = random.uniform(0, 30)
        clip = clip + sound * level(clip) / level(sound) / decibels(ratio)
    clip = clip * decibels(random.uniform(-12, 6))
    return clip / max(1.0, np.abs(clip).max())


def read_train(data: Path) -> list[tuple[np.ndarray, str]]:
    rows = list(csv.DictReader(open(data / "train.csv")))
    files = {}
    for name in tqdm(sorted({row["file"] for row in rows}), desc="decode"):
        files[name] = soundfile.read(data / name, dtype="float32")[0]
    return [
        (files[row["file"]][int(row["start"]) :][: int(row["samples"])], row["word"]) for row in rows
    ]


def read_val(data: Path) -> list[tuple[np.ndarray, str]]:
    words = {row["file"]: row["word"] for row in csv.DictReader(open(data / "val.csv"))}
    clips = []
    with tarfile.open(data / "val.tar") as archive:
        for member in archive.getmembers():
            name = member.name.removeprefix("./").removeprefix("val/")
            if name in words:
                content = io.BytesIO(archive.extractfile(member).read())
                clips.append((soundfile.read(content, dtype="float32")[0], words[name]))
    if len(clips) != len(words):
        raise SystemExit(f"val.tar holds {len(clips)} of the {len(words)} clips that val.csv names")
    return clips


def read_noise(data: Path, split: str) -> list[np.ndarray]:
    """The stretch of each recording that belongs to `split`."""
    spans = {}
    for row in csv.DictReader(open(data / "silence_windows.csv")):
        if row["split"] == split:
            start, end = int(row["offset"]), int(row["offset"]) + int(row["samples"])
            first, last = spans.get(row["noise_path"], (start, end))
            spans[row["noise_path"]] = (min(first, start), max(last, end))
    return [
        soundfile.read(data / "noise" / Path(path).name, dtype="float32")[0][start:end]
        for path, (start, end) in sorted(spans.items())
    ]


def write_silences(part: Part, noise: Noise, count: int, random: np.random.Generator):
    """Rooms without speech: any noise at any level, down to the converter's last bit."""
    for _ in range(count):
        part.add(noise.draw() * decibels(random.uniform(-50, 0)) + random.normal(0, 2e-5, RATE), SILENCE)


def write_babble(part: Part, clips: list, count: int, random: np.random.Generator):
    """Several people at once, none of whom can be understood."""
    for _ in range(count):
        sum_of_voices = np.zeros(RATE, np.float32)
        for index in random.integers(len(clips), size=random.integers(4, 9)):
            sum_of_voices += np.roll(fit(clips[index][0]), random.integers(RATE))
        part.add(sum_of_voices / max(0.1, np.abs(sum_of_voices).max()) * random.uniform(0.05, 0.9), BABBLE)


def fill(data: Path, cache: Path, copies: int = 6, seed: int = 1):
    """Writes the parts `copy0` (unaltered) to `copyN`, `silence`, `babble` and `val`."""
    cache.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    noise = Noise(read_noise(data, "train"), random)
    clips = read_train(data)
    for copy in range(copies):
        with Part(cache, f"copy{copy}") as part:
            for clip, word in tqdm(clips, desc=f"copy {copy}"):
                part.add(fit(clip) if copy == 0 else augment(clip, noise, random), word)
    with Part(cache, "silence") as part:
        write_silences(part, noise, 6000, random)
    with Part(cache, "babble") as part:
        write_babble(part, clips, 2000, random)
    with Part(cache, "val") as part:
        for clip, word in read_val(data):
            part.add(fit(clip), word)
        write_silences(part, Noise(read_noise(data, "val"), np.random.default_rng(7)), 150, random)
