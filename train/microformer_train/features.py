"""Manifests of sound in, features out, by the project's own integer front-end: what is learned is what the chip hears.

The front-end runs through `cargo microformer features`; its result is kept beside the manifest and reused.
"""

import json
import subprocess
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor

# The repository around the current folder, wherever this package is installed; else the current folder itself.
HERE = Path.cwd()
ROOT = next((folder for folder in (HERE, *HERE.parents) if (folder / "train" / "pyproject.toml").exists()), HERE)
# Plain log-mel, 30 ms window, 10 ms step: without the stages that need seconds to settle.
SETTINGS = ("--lower-hz", "60", "--upper-hz", "7600")


def extract(manifest: Path, seconds: int) -> Path:
    """The features of `manifest`, each clip padded or cut to `seconds`, computed unless they are there already."""
    result = manifest.with_suffix(".safetensors")
    if not result.exists():
        command = ("cargo", "microformer", "features", manifest.resolve(), "--seconds", seconds, *SETTINGS)
        command += ("-o", result.resolve())
        subprocess.run([str(part) for part in command], cwd=ROOT, check=True)
    return result


def read(manifest: Path, seconds: int = 1) -> tuple[Tensor, list[str], dict]:
    """Features (clips, frames, channels) i16, the label of each clip, and the settings of the front-end."""
    with safe_open(extract(manifest, seconds), "pt") as file:
        description = json.loads(file.metadata()["features"])
        features, labels = file.get_tensor("features"), file.get_tensor("labels")
    return features, [description["labels"][label] for label in labels.tolist()], description["settings"]
