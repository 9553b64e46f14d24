"""The keyword recipe: sound in, `models/NAME/float.safetensors`, its figures and a plot of its progress out.

    python -m microformer_train.audio --data ../shared/data/speech_commands --cache cache
    python -m microformer_train.keyword --cache cache --name keyword
    KEYWORDS=bed,cat,dog python -m microformer_train.keyword --cache cache --name pets
"""

import argparse
import json
import math
import os
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm import tqdm

from . import features
from .audio import BABBLE, SILENCE
from .export import export, transformer_tensors
from .model import CausalTransformer, Shape
from .plot import plot_progress
from .streams import FRAMES, MEAN, POOL, STD, STRIDE, Batch, Composer, join, normalize

KEYWORDS = "yes,no,up,down,left,right,on,off,stop,go"
UNKNOWN = "_unknown_"
STEM = {
    "kind": "convolution",
    "channels": 16,
    "kernel": [6, 5],
    "stride": [STRIDE, 2],
    "depthwise_kernel": [3, 3],
    "depthwise_stride": [1, 2],
}
SIZES = {
    "keyword": dict(width=48, blocks=4, heads=4, hidden=96, window=16),
    "keyword-small": dict(width=32, blocks=6, heads=4, hidden=64, window=16),
}
SECONDS = 3  # of a training stream


class Clips:
    """All parts of the cache in memory, the rows of each kind, and what an epoch draws from them."""

    # Rows an epoch draws of each kind, besides every clip of a keyword once.
    DRAWS = {UNKNOWN: 3000, SILENCE: 2000, BABBLE: 400, "synthetic keywords": 500, "synthetic words": 1000}

    def __init__(self, cache: Path, keywords: list[str], seed: int):
        self.labels = [*keywords, UNKNOWN, SILENCE]
        self.keywords = keywords
        self.random = torch.Generator().manual_seed(seed)
        copies = [features.read(part) for part in sorted(cache.glob("copy*.csv"))]
        self.copies, self.clips, self.signal = len(copies), len(copies[0][1]), copies[0][2]
        words = copies[0][1]
        for keyword in set(keywords) - set(words):
            raise SystemExit(f"no clip of {keyword!r} in {cache}; it has {', '.join(sorted(set(words)))}")
        spoken = torch.tensor([word in keywords for word in words])
        self.spoken = spoken.nonzero()[:, 0]
        self.rows = {UNKNOWN: (~spoken).nonzero()[:, 0]}
        parts = list(copies)
        words = [word for part in parts for word in part[1]]
        for name in ("silence", "babble", "synthetic"):
            if (cache / f"{name}.csv").exists():
                parts.append(features.read(cache / f"{name}.csv"))
                first, part_words = len(words), parts[-1][1]
                words += part_words
                rows = torch.arange(first, len(words))
                if name == "synthetic":
                    spoken = torch.tensor([word in keywords for word in part_words])
                    self.rows["synthetic keywords"], self.rows["synthetic words"] = rows[spoken], rows[~spoken]
                else:
                    self.rows[part_words[0]] = rows
        self.features = torch.cat([part[0] for part in parts])
        self.classes = classify(words, self.labels)
        self.noise = self.features[torch.cat((self.rows[SILENCE], self.rows[BABBLE]))]

    def draw_epoch(self, clean: float) -> Tensor:
        """Row numbers of one epoch, shuffled; at least the share `clean` of the clips unaltered."""
        drawn = [self.spoken]
        for kind, rows in self.rows.items():
            drawn.append(rows[torch.randperm(len(rows), generator=self.random)[: self.DRAWS[kind]]])
        drawn = torch.cat(drawn)
        copy = torch.randint(self.copies, drawn.shape, generator=self.random)
        copy = copy.where(torch.rand(copy.shape, generator=self.random) >= clean, 0)
        drawn = torch.where(drawn < self.clips, drawn + copy * self.clips, drawn)
        return drawn[torch.randperm(len(drawn), generator=self.random)]


def classify(words: list[str], labels: list[str]) -> Tensor:
    unknown = labels.index(UNKNOWN)
    return torch.tensor([labels.index(word) if word in labels else unknown for word in words])


def loss_of(model: CausalTransformer, scores: Tensor, batch: Batch, keywords: int) -> Tensor:
    """The right class at the end of every second; between seconds without a keyword, none of the keywords."""
    pooled = model.pool(scores)
    words = F.cross_entropy(pooled[:, batch.ends].flatten(0, 1), batch.labels.flatten(), label_smoothing=0.05)
    other = pooled.log_softmax(-1)[..., keywords:].logsumexp(-1)
    false_alarms = -(other * batch.negatives).sum() / batch.negatives.sum().clamp(min=1)
    return words + 0.2 * false_alarms


class Validation:
    """Clips alone, and the same clips after two seconds of other sound: other words, noise, the floor of a room."""

    def __init__(self, cache: Path, labels: list[str]):
        clips, words, _ = features.read(cache / "val.csv")
        self.classes = classify(words, labels)
        self.clips = normalize(clips)
        random = torch.Generator().manual_seed(11)
        others = clips[self.classes >= len(labels) - 2]
        before = others[torch.randint(len(others), (len(clips), 2), generator=random)]
        self.streams = normalize(join(torch.cat((before, clips[:, None]), 1).float()))[:, : 2 * 100 + FRAMES]

    @torch.no_grad()
    def accuracies(self, model: CausalTransformer) -> tuple[float, float]:
        model.eval()
        results = [self.accuracy(model, self.clips), self.accuracy(model, self.streams)]
        model.train()
        return tuple(results)

    def accuracy(self, model: CausalTransformer, x: Tensor) -> float:
        scores = torch.cat([model.pool(model(part))[:, -1] for part in x.split(256)])
        return 100 * (scores.argmax(1) == self.classes).float().mean().item()


def learning_rate(progress: float, options) -> float:
    """Warm-up, a plateau, and a cosine down to nothing over the last `decay` of the epochs."""
    if progress < options.warmup:
        return progress / options.warmup
    start = 1 - options.decay
    return 1.0 if progress < start else 0.5 + 0.5 * math.cos(math.pi * (progress - start) / options.decay)


def train(options):
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    clips = Clips(options.cache, options.keywords, options.seed)
    validation = Validation(options.cache, clips.labels)
    shape = Shape(
        input={"features": clips.features.shape[2]},
        labels=clips.labels,
        embed=STEM,
        convolution=5,
        pool={"kind": "mean", "tokens": POOL},
        **SIZES[options.size],
    )
    model = CausalTransformer(shape)
    compiled = torch.compile(model, dynamic=False) if options.compile else model
    optimizer = torch.optim.AdamW(model.parameter_groups(0.05), options.rate, betas=(0.9, 0.98), fused=True)
    composer = Composer(SECONDS, len(clips.keywords), clips.noise, options.seed)
    first, history = 0, []
    if options.resume:
        state = torch.load(options.resume)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first, history = state["epoch"], state["history"]
        clips.random.manual_seed(options.seed + first)
        composer.random.manual_seed(options.seed + first)
    batch_len = options.batch // SECONDS * SECONDS
    started = time.time()
    checkpoint = options.cache / f"{options.name}.{options.seed}.pt"
    for epoch in range(first, options.epochs):
        # Augmentation fades with the learning rate: the last steps see the words mostly as they are.
        fade = 1 - learning_rate(epoch / options.epochs, options) if history else 0.0
        rows = clips.draw_epoch(0.3 * fade)
        composer.noisy = 0.4 - 0.25 * fade
        steps = len(rows) // batch_len
        losses = 0.0
        for step, picked in enumerate(tqdm(rows[: steps * batch_len].split(batch_len), desc=f"epoch {epoch + 1}")):
            rate = options.rate * learning_rate((epoch + step / steps) / options.epochs, options)
            for group in optimizer.param_groups:
                group["lr"] = rate
            batch = composer.compose(clips.features[picked], clips.classes[picked])
            loss = loss_of(model, compiled(batch.frames), batch, len(clips.keywords))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses += loss.item()
        alone, stream = validation.accuracies(model)
        history.append({"epoch": epoch + 1, "loss": losses / steps, "clips": alone, "streams": stream})
        print(f"{options.name}: {history[-1]} rate {rate:.5f} minutes {(time.time() - started) / 60:.1f}", flush=True)
        if rate == options.rate:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save(state | {"epoch": epoch + 1, "history": history}, checkpoint)
    write(options, model, clips, history)


def write(options, model: CausalTransformer, clips: Clips, history: list[dict]):
    folder = options.models / options.name
    normalization = {"mean": MEAN, "std": STD}
    export(model, folder / "float.safetensors", name=options.name, signal=clips.signal, normalize=normalization)
    parameters = sum(tensor.numel() for tensor in transformer_tensors(model).values())
    figures = {"parameters": parameters, "seed": options.seed, "epochs": options.epochs, **history[-1]}
    (folder / "training.json").write_text(json.dumps(figures | {"history": history}, indent=1) + "\n")
    plot_progress(history, folder / "training.svg", f"{options.name}: validation")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True, help="folder that microformer_train.audio has filled")
    parser.add_argument("--models", type=Path, default=features.ROOT / "models")
    parser.add_argument("--name", default="keyword", help="folder under models")
    parser.add_argument("--size", choices=SIZES, help="by default the size named like the model, else keyword")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--rate", type=float, default=3e-3, help="learning rate of the plateau")
    parser.add_argument("--warmup", type=float, default=0.03, help="share of the epochs")
    parser.add_argument("--decay", type=float, default=0.5, help="share of the epochs")
    parser.add_argument("--batch", type=int, default=129, help="clips per step")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--resume", type=Path, help="checkpoint of the plateau to go on from")
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True, help="torch.compile, needs g++")
    options = parser.parse_args()
    options.keywords = os.environ.get("KEYWORDS", KEYWORDS).split(",")
    options.size = options.size or (options.name if options.name in SIZES else "keyword")
    train(options)


if __name__ == "__main__":
    main()
