"""A float keyword model in, its accuracy on validation clips out: alone, after other sound, and in noise.

The noise is never heard in training: held-out stretches of the recordings, and babble of validation speakers.

    python -m microformer_train.evaluate --data ../shared/data/speech_commands --cache cache models/keyword
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from . import features
from .audio import RATE, Noise, Part, decibels, fit, level, read_noise, read_val
from .export import load
from .clips import KEYWORDS, classify

RATIOS = (20, 10, 0)  # decibels of word over noise


def babble(clips: list, random: np.random.Generator) -> np.ndarray:
    return sum(np.roll(fit(clips[index][0]), random.integers(RATE)) for index in random.integers(len(clips), size=6))


def write_checks(data: Path, cache: Path):
    """The parts `check_NdB` and `check_stream`, with a generator of their own so that they never change."""
    random = np.random.default_rng(5)
    clips = read_val(data)
    noise = Noise(read_noise(data, "val"), random)
    for ratio in RATIOS:
        with Part(cache, f"check_{ratio}dB") as part:
            for number, (clip, word) in enumerate(clips):
                sound = babble(clips, random) if number % 5 == 0 else noise.recorded()
                mixed = fit(clip) + sound * level(clip) / level(sound) / decibels(ratio)
                part.add(mixed / max(1.0, np.abs(mixed).max()), word)
    others = [clip for clip, word in clips if word not in KEYWORDS.split(",")]
    with Part(cache, "check_stream") as part:
        for number, (clip, word) in enumerate(clips):
            if number % 2:
                before = [fit(others[index]) for index in random.integers(len(others), size=2)]
            else:
                before = [noise.recorded() * decibels(random.uniform(-30, 0)) for _ in range(2)]
            part.add(np.concatenate((*before, fit(clip))), word)


@torch.no_grad()
def accuracy(model, normalize: dict, manifest: Path, seconds: int) -> float:
    clips, words, _ = features.read(manifest, seconds)
    classes = classify(words, model.shape.labels)
    x = (clips.float() - normalize["mean"]) / normalize["std"]
    scores = torch.cat([model.pool(model(part))[:, -1] for part in x.split(128)])
    return 100 * (scores.argmax(1) == classes).float().mean().item()


def judge(folder: Path, data: Path, cache: Path) -> dict:
    """Writes `validation.json` beside the model, and returns what is in it."""
    if not (cache / "check_stream.csv").exists():
        write_checks(data, cache)
    model, configuration = load(folder / "float.safetensors")
    figures = {"clips": accuracy(model, configuration["normalize"], cache / "val.csv", 1)}
    figures["after two seconds"] = accuracy(model, configuration["normalize"], cache / "check_stream.csv", 3)
    for ratio in RATIOS:
        figures[f"{ratio} dB"] = accuracy(model, configuration["normalize"], cache / f"check_{ratio}dB.csv", 1)
    figures = {name: round(value, 1) for name, value in figures.items()}
    (folder / "validation.json").write_text(json.dumps(figures, indent=1) + "\n")
    print(folder.name, figures)
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, nargs="+", help="folders with float.safetensors")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("cache"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    for folder in options.model:
        judge(folder, options.data, options.cache)


if __name__ == "__main__":
    main()
