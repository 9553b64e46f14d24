"""The sensor recipes: a set of labelled sequences in, `models/NAME/float.safetensors` with its figures and a plot out.

A set is a folder with train.npz and test.npz: x float (sequences, steps, channels), zero padded, y int, length.
Settings were chosen by cross-validation inside train.npz; test.npz is scored once per seed, at the end.

    python -m microformer_train.sequences --data ../shared/data/sequences/GunPoint
    python -m microformer_train.sequences --data ../shared/data/sequences/GunPoint --cross-validate
    python -m microformer_train.sequences --data my/set --name mine --set width=24 --set epochs=200
"""

import argparse
import json
import re
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm import tqdm

from .export import export
from .features import ROOT
from .model import CausalTransformer, Shape
from .plot import plot_progress
from .warp import augment


@dataclass
class Recipe:
    frames: int = 8  # steps in a patch
    stride: int = 4  # steps from patch to patch
    width: int = 24
    blocks: int = 2
    hidden: int = 48
    window: int = 32
    convolution: int = 5
    positions: str = "alibi"
    epochs: int = 300
    rate: float = 3e-3
    decay: float = 0.05
    dropout: float = 0.1
    warp: float = 0.2  # how much the tempo varies
    scale: float = 0.1  # how much the amplitude varies
    noise: float = 0.05
    quiet: float = 0.0  # values this small, in raw units, that end a sequence are padding
    crop: float = 0.0  # share of a sequence's beginning that may be missing
    mix: float = 0.0  # chance that a batch is mixed with another, labels too
    beta: float = 0.4  # of the distribution of shares: 1 for any share alike, less for shares near 0 and 1
    members: int = 1  # models whose mean opinion the exported one learns from; 1 for none


RECIPES = {
    "JapaneseVowels": Recipe(frames=2, stride=1, epochs=150),
    # Every beat lies alike in its 96 samples: where a wave stands tells as much as its shape, so nothing is warped.
    "ECG200": Recipe(frames=24, stride=8, positions="learned", epochs=300, warp=0.0, mix=1.0, beta=1.0),
    # The archive fills its gestures, 11 to 385 steps long, with noise below 0.001 up to 500 steps. With 31 tokens of 16
    # steps the window holds all of them.
    "AllGestureWiimoteX": Recipe(
        frames=48, stride=16, width=32, hidden=64, epochs=400, quiet=0.002, crop=0.1, scale=0.2, mix=0.5
    ),
    "BasicMotions": Recipe(frames=10, stride=5, epochs=150),
    "GunPoint": Recipe(frames=10, stride=5, epochs=200),
}


@dataclass
class Sequences:
    x: Tensor  # (sequences, steps, channels)
    labels: Tensor
    lengths: Tensor  # steps after which the model must answer
    ends: Tensor  # steps that hold a signal: from there on to the length there is only silence

    @classmethod
    def read(cls, path: Path, quiet: float = 0.0) -> tuple["Sequences", list[str]]:
        if not path.exists():
            raise SystemExit(f"{path} is missing: a set is a folder with train.npz and test.npz")
        with np.load(path, allow_pickle=False) as file:
            x = torch.tensor(file["x"], dtype=torch.float32)
            lengths = torch.tensor(file["length"]) if "length" in file else torch.full((len(x),), x.shape[1])
            classes = [str(name) for name in file["classes"]] if "classes" in file else None
            labels = torch.tensor(file["y"]).long()
        lengths = lengths.long()
        loud = (x.abs() > quiet).any(2) * torch.arange(1, x.shape[1] + 1)
        ends = torch.minimum(loud.amax(1), lengths).clamp(min=1) if quiet else lengths
        return cls(x, labels, lengths, ends), classes or [str(label) for label in range(int(labels.max()) + 1)]

    def pick(self, index: Tensor) -> "Sequences":
        return Sequences(self.x[index], self.labels[index], self.lengths[index], self.ends[index])

    def valid(self) -> Tensor:
        return torch.arange(self.x.shape[1]) < self.lengths[:, None]

    def statistics(self) -> tuple[Tensor, Tensor]:
        values = self.x[self.valid()]
        return values.mean(0), values.std(0).clamp(min=1e-6)

    def normalized(self, mean: Tensor, std: Tensor) -> "Sequences":
        x = ((self.x - mean) / std) * self.valid()[:, :, None]
        return replace(self, x=x)

    def varied(self, recipe: Recipe) -> "Sequences":
        """The same sequences made a little differently. One that ends in silence keeps its length."""
        x, ends = augment(self.x, self.ends, recipe.warp, recipe.scale, recipe.noise, recipe.crop)
        lengths = torch.where(self.ends < self.lengths, self.lengths, ends) if recipe.quiet else ends
        return Sequences(x, self.labels, lengths, ends)

    def mix(self, classes: int, beta: float) -> Tensor:
        """Each sequence with a share of another; returns the labels, which are mixed alike."""
        share, other = torch.distributions.Beta(beta, beta).sample(), torch.randperm(len(self.x))
        self.x = torch.lerp(self.x[other], self.x, share)
        self.lengths = torch.maximum(self.lengths, self.lengths[other])
        truth = F.one_hot(self.labels, classes).float()
        return torch.lerp(truth[other], truth, share)


def build(recipe: Recipe, steps: int, channels: int, classes: list[str]) -> CausalTransformer:
    """`steps` are those of the longest sequence: so many positions are tabulated, where they are."""
    tabulated = recipe.positions in ("learned", "sinusoidal")
    shape = Shape(
        input={"features": channels},
        labels=classes,
        embed={"kind": "linear", "frames": recipe.frames, "stride": recipe.stride},
        width=recipe.width,
        blocks=recipe.blocks,
        hidden=recipe.hidden,
        window=recipe.window,
        convolution=recipe.convolution,
        positions=recipe.positions,
        context=steps // recipe.stride if tabulated else 0,
    )
    return CausalTransformer(shape, recipe.dropout)


def final_scores(model: CausalTransformer, data: Sequences) -> Tensor:
    """What the engine reports after the last whole patch of each sequence."""
    pooled = model.pool(model(data.x))
    last = (data.lengths // model.shape.stride).clamp(1, pooled.shape[1]) - 1
    return pooled[torch.arange(len(last)), last]


@torch.no_grad()
def predict(model: CausalTransformer, data: Sequences) -> Tensor:
    model.eval()
    return final_scores(model, data)


def accuracy(model: CausalTransformer, data: Sequences) -> float:
    return 100 * (predict(model, data).argmax(1) == data.labels).float().mean().item()


def fit(recipe: Recipe, train: Sequences, classes: list[str], seed: int, teachers=(), batch=32):
    """One model, and its history. `teachers` are models whose mean opinion joins the labels."""
    torch.manual_seed(seed)
    model = build(recipe, *train.x.shape[1:], classes)
    steps = -(-len(train.x) // batch)
    optimizer = torch.optim.AdamW(model.parameter_groups(recipe.decay), recipe.rate, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, recipe.rate, total_steps=recipe.epochs * steps, pct_start=0.15
    )
    history = []
    for epoch in tqdm(range(recipe.epochs), desc=f"seed {seed}", leave=False):
        model.train()
        losses = 0.0
        for index in torch.randperm(len(train.x)).split(batch):
            part = train.pick(index).varied(recipe)
            truth = part.labels
            if recipe.mix and torch.rand(()) < recipe.mix:
                truth = part.mix(len(classes), recipe.beta)
            scores = final_scores(model, part)
            loss = F.cross_entropy(scores, truth, label_smoothing=0.1)
            if teachers:
                opinion = torch.stack([predict(teacher, part).softmax(1) for teacher in teachers]).mean(0)
                loss = 0.3 * loss + 0.7 * F.cross_entropy(scores, opinion)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses += loss.item() / steps
        if epoch % 10 == 9:
            history.append({"epoch": epoch + 1, "loss": losses, "train": accuracy(model, train)})
    return model, history


def fit_distilled(recipe: Recipe, train: Sequences, classes: list[str], seed: int):
    if recipe.members < 2:
        return fit(recipe, train, classes, seed)
    teachers = [fit(recipe, train, classes, 1000 * (member + 1) + seed)[0] for member in range(recipe.members)]
    return fit(recipe, train, classes, seed, teachers)


def cross_validate(recipe: Recipe, train: Sequences, classes: list[str], folds: int, seed: int) -> float:
    """Mean accuracy over folds of train, each class spread evenly over the folds."""
    order = torch.randperm(len(train.x), generator=torch.Generator().manual_seed(seed))
    order = order[train.labels[order].argsort(stable=True)]
    results = []
    for fold in range(folds):
        held = torch.zeros(len(order), dtype=torch.bool)
        held[fold::folds] = True
        part = train.pick(order[~held])
        mean, std = part.statistics()
        model, _ = fit_distilled(recipe, part.normalized(mean, std), classes, 100 * seed + fold)
        results.append(accuracy(model, train.pick(order[held]).normalized(mean, std)))
        print(f"fold {fold} of {folds}: {results[-1]:.1f} %", flush=True)
    return sum(results) / folds


def overrides(recipe: Recipe, settings: list[str]) -> Recipe:
    kinds = {field.name: field.type for field in fields(Recipe)}
    for setting in settings:
        name, _, value = setting.partition("=")
        if name not in kinds:
            raise SystemExit(f"--set {setting}: the settings are {', '.join(kinds)}")
        recipe = replace(recipe, **{name: kinds[name](value)})
    return recipe


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with train.npz and test.npz")
    parser.add_argument("--name", help="folder under models; by default the data folder's name in lower case")
    parser.add_argument("--models", type=Path, default=ROOT / "models")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--every-seed", type=Path, metavar="FOLDER", help="export the models of all seeds here as well")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="change one setting")
    parser.add_argument("--cross-validate", action="store_true", help="score the settings inside train.npz and stop")
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    recipe = overrides(RECIPES.get(options.data.name, Recipe()), options.set)
    raw, classes = Sequences.read(options.data / "train.npz", recipe.quiet)
    if options.cross_validate:
        results = [cross_validate(recipe, raw, classes, options.folds, seed) for seed in range(options.seeds)]
        print(f"{options.data.name} {options.set}: {np.mean(results):.1f} % ± {np.std(results):.1f}", flush=True)
        return
    test, _ = Sequences.read(options.data / "test.npz", recipe.quiet)
    mean, std = raw.statistics()
    train, test = raw.normalized(mean, std), test.normalized(mean, std)
    runs = [fit_distilled(recipe, train, classes, seed) for seed in range(options.seeds)]
    scores = [accuracy(model, test) for model, _ in runs]
    # Seed 0 is exported whatever it scored: choosing among seeds by the test set would be tuning on it.
    model, history = runs[0]
    name = options.name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", options.data.name).lower()
    folder = options.models / name
    normalize = {"mean": mean.tolist(), "std": std.tolist()}
    export(model, folder / "float.safetensors", name=name, normalize=normalize)
    for seed, (other, _) in enumerate(runs if options.every_seed else []):
        export(other, options.every_seed / f"{name}.{seed}.safetensors", name=name, normalize=normalize)
    figures = {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "test": [round(score, 2) for score in scores],
        "mean": round(float(np.mean(scores)), 2),
        "spread": round(float(np.std(scores)), 2),
        "recipe": vars(recipe),
    }
    (folder / "training.json").write_text(json.dumps(figures, indent=1) + "\n")
    plot_progress(history, folder / "training.svg", f"{name}: training")
    print(f"{name}: {figures}")


if __name__ == "__main__":
    main()
