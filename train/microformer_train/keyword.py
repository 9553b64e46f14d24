"""The keyword recipe: sound in, `models/NAME/float.safetensors`, its figures and a plot of its progress out.

    python -m microformer_train.keyword --data ../shared/data/speech_commands
    KEYWORDS=bed,cat,dog python -m microformer_train.keyword --data ../shared/data/speech_commands --name pets
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
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from tqdm import tqdm

from . import audio, card, evaluate, features, synthesize
from .clips import KEYWORDS, Clips, classify
from .export import export, load, transformer_tensors
from .model import CausalTransformer, Shape
from .plot import plot_progress
from .streams import FRAMES, MEAN, POOL, STD, Batch, Composer, join, normalize

STEM = {
    "kind": "convolution",
    "channels": 16,
    "kernel": [6, 5],
    "depthwise_kernel": [3, 3],
    "depthwise_stride": [1, 2],
}
SIZES = {
    "keyword": dict(width=48, blocks=4, heads=4, hidden=96),
    "keyword-small": dict(width=32, blocks=6, heads=4, hidden=64),
}
WINDOW = 64  # frames that a token attends to
SECONDS = 3  # of a training stream
AVERAGING = 0.998  # what the average of the weights keeps of itself at each step: some 500 steps count


def describe(options, features: int, labels: list[str]) -> Shape:
    stride = options.token // 10
    linear = {"kind": "linear", "frames": stride + 2, "stride": stride}
    return Shape(
        input={"features": features},
        labels=labels,
        embed=STEM | {"stride": [stride, 2]} if options.stem else linear,
        convolution=5,
        window=WINDOW // stride,
        pool={"kind": "mean", "tokens": POOL // stride},
        **SIZES[options.size],
    )


def load_trained(folder: Path, shape: Shape) -> CausalTransformer:
    """A model already trained, of any size and any rate of tokens, for the same words."""
    model, _ = load(folder / "float.safetensors")
    if model.shape.labels != shape.labels:
        raise SystemExit(f"{folder} knows {', '.join(model.shape.labels)}, not {', '.join(shape.labels)}")
    return model


def answers(model: CausalTransformer, pooled: Tensor, batch: Batch) -> Tensor:
    """(seconds, labels): what the model says at the end of every second, after its last whole token."""
    return pooled[:, [end // model.shape.stride - 1 for end in batch.ends]].flatten(0, 1)


class Teachers:
    """Models already trained: what they think of a second is a softer truth than its label.

    Each batch asks one of them. The loss is linear in its target, so on average they are asked all.
    """

    TEMPERATURE = 2.0
    SHARE = 0.6  # of the loss

    def __init__(self, folders: list[Path], shape: Shape, compile: bool):
        self.models = []
        for folder in folders:
            model = load_trained(folder, shape)
            self.models.append((model, torch.compile(model, dynamic=False) if compile else model))

    @torch.no_grad()
    def judge(self, batch: Batch) -> Tensor:
        """(seconds, labels): probabilities at the temperature."""
        model, forward = self.models[int(torch.randint(len(self.models), ()))]
        scores = answers(model, model.pool(forward(batch.frames)), batch)
        return (scores / self.TEMPERATURE).softmax(-1)


def loss_of(model: CausalTransformer, scores: Tensor, batch: Batch, teachers: Teachers) -> Tensor:
    """The right class at the end of every second; at every token no keyword of which nothing was said."""
    pooled = model.pool(scores)
    seconds = answers(model, pooled, batch)
    # Smoothed labels make right and wrong words equally sure, and then no threshold tells them apart in a stream; teachers
    # smooth where there is doubt, and only there.
    words = F.cross_entropy(seconds, batch.labels.flatten(), label_smoothing=0.0 if teachers.models else 0.05)
    if teachers.models:
        temperature, share = teachers.TEMPERATURE, teachers.SHARE
        softened = F.cross_entropy(seconds / temperature, teachers.judge(batch)) * temperature**2
        words = (1 - share) * words + share * softened
    possible = pooled.masked_fill(~batch.possible, -torch.inf)
    return words + (pooled.logsumexp(-1) - possible.logsumexp(-1)).mean()


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
    clips = Clips(options.cache, options.keywords, options.synthetic, options.seed)
    validation = Validation(options.cache, clips.labels)
    shape = describe(options, clips.features.shape[2], clips.labels)
    model = CausalTransformer(shape)
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(AVERAGING), use_buffers=True)
    compiled = torch.compile(model, dynamic=False) if options.compile else model
    teachers = Teachers(options.teacher, shape, options.compile)
    optimizer = torch.optim.AdamW(model.parameter_groups(0.05), options.rate, betas=(0.9, 0.98), fused=True)
    composer = Composer(SECONDS, options.token // 10, len(clips.labels), clips.noise, options.seed)
    first, history = 0, []
    if options.resume:
        state = torch.load(options.resume)
        model.load_state_dict(state["model"])
        average.load_state_dict(state["average"])
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
        composer.noisy = 0.5 - 0.2 * fade
        steps = len(rows) // batch_len
        losses = 0.0
        for step, picked in enumerate(tqdm(rows[: steps * batch_len].split(batch_len), desc=f"epoch {epoch + 1}")):
            rate = options.rate * learning_rate((epoch + step / steps) / options.epochs, options)
            for group in optimizer.param_groups:
                group["lr"] = rate
            batch = composer.compose(clips.features[picked], clips.classes[picked])
            loss = loss_of(model, compiled(batch.frames), batch, teachers)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            average.update_parameters(model)
            losses += loss.item()
        alone, stream = validation.accuracies(average.module)
        history.append({"epoch": epoch + 1, "loss": losses / steps, "clips": alone, "streams": stream})
        print(f"{options.name}: {history[-1]} rate {rate:.5f} minutes {(time.time() - started) / 60:.1f}", flush=True)
        if rate == options.rate:
            state = {"model": model.state_dict(), "average": average.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save(state | {"epoch": epoch + 1, "history": history}, checkpoint)
    write(options, average.module, clips, history)


def prepare(options):
    """Fills the cache, where that has not been done."""
    if not (options.cache / "val.csv").exists():
        audio.fill(options.data, options.cache)
    if not (options.cache / "synthetic.csv").exists():
        synthesize.fill(options.data, options.cache)


def write(options, model: CausalTransformer, clips: Clips, history: list[dict]):
    folder = options.models / options.name
    normalization = {"mean": MEAN, "std": STD}
    export(model, folder / "float.safetensors", name=options.name, signal=clips.signal, normalize=normalization)
    parameters = sum(tensor.numel() for tensor in transformer_tensors(model).values())
    figures = {"parameters": parameters, "seed": options.seed, "epochs": options.epochs, **history[-1]}
    figures["teachers"] = [folder.name for folder in options.teacher]
    (folder / "training.json").write_text(json.dumps(figures | {"history": history}, indent=1) + "\n")
    plot_progress(history, folder / "training.svg", f"{options.name}: validation")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the Speech Commands set")
    parser.add_argument("--cache", type=Path, default=Path("cache"), help="augmented sound and features (7 GB), made once")
    parser.add_argument("--models", type=Path, default=features.ROOT / "models")
    parser.add_argument("--name", default="keyword", help="folder under models")
    parser.add_argument("--size", choices=SIZES, help="by default the size named like the model, else keyword")
    parser.add_argument("--epochs", type=int, default=32)
    parser.add_argument("--rate", type=float, default=3e-3, help="learning rate of the plateau")
    parser.add_argument("--warmup", type=float, default=0.03, help="share of the epochs")
    parser.add_argument("--decay", type=float, default=0.7, help="share of the epochs")
    parser.add_argument("--batch", type=int, default=129, help="clips per step")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--teacher", type=Path, nargs="*", default=[], help="folders of trained models to learn from as well")
    parser.add_argument("--resume", type=Path, help="checkpoint of the plateau to go on from")
    parser.add_argument("--token", type=int, choices=(20, 40), default=20, help="milliseconds from one token to the next")
    parser.add_argument("--stem", action=argparse.BooleanOptionalAction, default=True, help="convolve before the blocks")
    parser.add_argument("--synthetic", action=argparse.BooleanOptionalAction, default=True, help="synthetic speech too")
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True, help="torch.compile, needs g++")
    options = parser.parse_args()
    options.keywords = os.environ.get("KEYWORDS", KEYWORDS).split(",")
    options.size = options.size or (options.name if options.name in SIZES else "keyword")
    prepare(options)
    train(options)
    folder = options.models / options.name
    evaluate.judge(folder, options.data, options.cache)
    card.write(folder)


if __name__ == "__main__":
    main()
