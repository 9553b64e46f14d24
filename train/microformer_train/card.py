"""The figures of a keyword model in, its card out: `models/NAME/card.md`."""

import json
import shlex
import sys
from pathlib import Path

from .export import load

ROWS = {
    "clips": "clips alone",
    "after two seconds": "after two seconds of other words or noise",
    "20 dB": "20 dB, noise never trained on",
    "10 dB": "10 dB",
    "0 dB": "0 dB",
}

CARD = """# {name}

{classes} classes from sound: {labels}. Causal, for endless streams.

| | |
|---|---|
| parameters | {parameters:,} |
| input | {channels} log-mel values every 10 ms (60–7600 Hz, 30 ms window, no noise suppression, no gain control); a token every {token} ms |
| shape | {embed}, width {width}, {blocks} blocks, {heads} heads, hidden {hidden} with a {convolution}-tap convolution, window {window} tokens, ALiBi |
| answer | mean of the last {pool} tokens' scores |
| training | {epochs} epochs, seed {seed}{teachers} |

## Accuracy, float, on validation clips
Speakers never heard in training; 1,100 keywords, 400 other words and, in the first row, 150 silences of held-out noise.

| | per cent |
|---|---|
{rows}

Noise never trained on: held-out stretches of the four recordings and, for every fifth clip, babble of validation speakers.
The official test clips chose nothing here, and have not been scored by this recipe.

## Data and recipe
Google Speech Commands v0.01 (Pete Warden, 2017), CC BY 4.0, official partition, from Vorbis copies; synthetic speech by espeak-ng and flite.

```
{command}
```

![progress](training.svg)
"""


def write(folder: Path):
    _, shape = load(folder / "float.safetensors")
    training = json.loads((folder / "training.json").read_text())
    figures = json.loads((folder / "validation.json").read_text())
    embed = shape["embed"]
    convolved = embed["kind"] == "convolution"
    taught = ", ".join(training["teachers"])
    text = CARD.format(
        name=folder.name,
        classes=len(shape["labels"]),
        labels=" ".join(f"`{label}`" if label.startswith("_") else label for label in shape["labels"]),
        parameters=training["parameters"],
        channels=shape["input"]["features"],
        token=10 * (embed["stride"][0] if convolved else embed["stride"]),
        embed="2-D stem" if convolved else f"a matrix over {embed['frames']} frames",
        pool=shape["pool"]["tokens"],
        epochs=training["epochs"],
        seed=training["seed"],
        teachers=f"; taught by {taught}" if taught else "",
        rows="\n".join(f"| {ROWS[name]} | {value} |" for name, value in figures.items()),
        command=shlex.join(("python", "-m", "microformer_train.keyword", *sys.argv[1:])),
        **{key: shape[key] for key in ("width", "blocks", "heads", "hidden", "convolution", "window")},
    )
    (folder / "card.md").write_text(text)
