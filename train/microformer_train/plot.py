"""Figures of a training run in, a picture out."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (after the choice of a backend without a screen)


def plot_progress(history: list[dict], path: Path, title: str, unit: str = "per cent"):
    """Every figure of `history` over its epochs: the loss on the left axis, the others, in `unit`, on the right."""
    epochs = [entry["epoch"] for entry in history]
    figure, left = pyplot.subplots(figsize=(7, 4))
    right = left.twinx()
    left.plot(epochs, [entry["loss"] for entry in history], color="grey", label="loss")
    for name in history[-1].keys() - {"epoch", "loss"}:
        right.plot(epochs, [entry[name] for entry in history], label=name)
    left.set(xlabel="epochs" if unit == "per cent" else "steps", ylabel="loss", title=title)
    right.set_ylabel(unit)
    right.legend(loc="center right")
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
