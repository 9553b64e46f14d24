"""The character recipe: text in, a model that continues it out: `models/NAME/float.safetensors`, figures and a plot.

A token is one of 96 characters: printable ASCII and the line end. Text is a plain file, or a folder of HTML whose
paragraphs are read, such as the Rust book that rustup installs (MIT OR Apache-2.0):

    python -m microformer_train.characters --text "$(dirname "$(rustup doc --path --book)")"
"""

import argparse
import json
from html.parser import HTMLParser
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm import tqdm

from .export import export
from .features import ROOT
from .model import CausalTransformer, Shape
from .plot import plot_progress

ALPHABET = "\n" + "".join(chr(code) for code in range(32, 127))
TYPOGRAPHY = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "—": "-", "–": "-", "…": "...", "\xa0": " "})
LENGTH = 128  # tokens of a training sequence
BITS = 1 / 0.6931472  # per natural unit


class Paragraphs(HTMLParser):
    """Collects the text inside <p>, one line a paragraph."""

    def __init__(self):
        super().__init__()
        self.depth, self.pieces, self.lines = 0, [], []

    def handle_starttag(self, tag, attributes):
        self.depth += tag == "p"

    def handle_endtag(self, tag):
        if tag == "p" and self.depth:
            self.depth -= 1
            self.lines.append(" ".join("".join(self.pieces).split()))
            self.pieces = []

    def handle_data(self, data):
        if self.depth:
            self.pieces.append(data)


def read_text(path: Path) -> str:
    if path.is_dir():
        lines = []
        # print.html holds the whole book once more; an index page repeats the first chapter.
        for page in sorted(path.rglob("*.html")):
            if page.name not in ("print.html", "index.html", "404.html"):
                parser = Paragraphs()
                parser.feed(page.read_text(encoding="utf-8"))
                lines += parser.lines
        text = "\n".join(dict.fromkeys(line for line in lines if line))
    else:
        text = path.read_text(encoding="utf-8")
    return "".join(c for c in text.translate(TYPOGRAPHY) if c in ALPHABET)


def encode(text: str) -> Tensor:
    return torch.tensor([ALPHABET.index(c) for c in text])


def bits_per_character(model: CausalTransformer, text: Tensor) -> float:
    """Mean cost of the characters of the second half of each sequence: with a full window before them."""
    model.eval()
    rows = text[: len(text) // LENGTH * LENGTH].view(-1, LENGTH)
    with torch.no_grad():
        scores = torch.cat([model(part) for part in rows.split(64)])
    half = LENGTH // 2
    loss = F.cross_entropy(scores[:, half - 1 : -1].flatten(0, 1), rows[:, half:].flatten())
    return loss.item() * BITS


@torch.no_grad()
def continue_text(model: CausalTransformer, prompt: str, count: int, temperature: float, seed: int) -> str:
    model.eval()
    random = torch.Generator().manual_seed(seed)
    tokens = encode(prompt)
    for _ in range(count):
        scores = model(tokens[None, -4 * model.shape.window :])[0, -1]
        chances = (scores / temperature).softmax(0)
        tokens = torch.cat((tokens, torch.multinomial(chances, 1, generator=random)))
    return "".join(ALPHABET[token] for token in tokens)


def train(options) -> tuple[CausalTransformer, list[dict]]:
    torch.manual_seed(options.seed)
    text = encode(read_text(options.text))
    if len(text) < 20 * LENGTH:
        raise SystemExit(f"{options.text}: {len(text)} characters are too few to learn from")
    # The last twentieth of the text is never trained on.
    held = text[-len(text) // 20 :]
    text = text[: -len(held)]
    shape = Shape(
        input={"tokens": len(ALPHABET)},
        labels=list(ALPHABET),
        embed={"kind": "table"},
        width=64,
        blocks=2,
        heads=4,
        hidden=128,
        window=64,
        convolution=5,
        pool={"kind": "each"},
    )
    model = CausalTransformer(shape)
    optimizer = torch.optim.AdamW(model.parameter_groups(0.05), options.rate, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, options.rate, total_steps=options.steps, pct_start=0.1)
    history, losses = [], []
    every = max(1, options.steps // 20)
    for step in tqdm(range(options.steps), desc="steps"):
        model.train()
        start = torch.randint(len(text) - LENGTH, (options.batch, 1))
        rows = text[start + torch.arange(LENGTH + 1)]
        loss = F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % every == every - 1:
            mean = sum(losses[-every:]) / every
            history.append({"epoch": step + 1, "loss": mean, "held-out bits": bits_per_character(model, held)})
    return model, history


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, required=True, help="a text file, or a folder of HTML")
    parser.add_argument("--name", default="characters")
    parser.add_argument("--models", type=Path, default=ROOT / "models")
    parser.add_argument("--steps", type=int, default=1600)
    parser.add_argument("--batch", type=int, default=16, help="sequences per step")
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    model, history = train(options)
    folder = options.models / options.name
    export(model, folder / "float.safetensors", name=options.name)
    figures = {"parameters": sum(p.numel() for p in model.parameters()), "history": history}
    figures["sample"] = continue_text(model, "The ownership ", 300, 0.6, 1)
    (folder / "training.json").write_text(json.dumps(figures, indent=1) + "\n")
    plot_progress(history, folder / "training.svg", f"{options.name}: bits per character", "bits")
    print(json.dumps(history[-1]), figures["sample"], sep="\n")


if __name__ == "__main__":
    main()
