#!/usr/bin/env python3
"""Parity with TensorFlow Lite Micro's micro frontend, as in the PyPI package pymicro-features 2.0.2.

    pip install pymicro-features==2.0.2 numpy safetensors soundfile
    python micro_frontend.py compare recording.wav folder/ ...   every feature of the project against the package
    python micro_frontend.py write                                makes micro_frontend.safetensors anew

`compare` runs `cargo microformer features --noise --gain`, so start it inside the repository. `write` also needs
espeak-ng, sox and a C++ compiler: with the package's own sources it computes settings that the package fixes.
"""

import argparse
import ctypes
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

import numpy as np
from pymicro_features import MicroFrontend

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = "pymicro-features==2.0.2"
RATE, STEP, CHANNELS = 16000, 160, 40
UNIT = 10 / 256  # the package gives integers times this, as floats

# Other settings, for the package's sources: window_ms, channels, lower, upper, even, odd smoothing, gain on.
# Without smoothing nothing is subtracted, which is what the project computes with noise suppression off.
SETTINGS = {
    "plain": (30, 40, 125.0, 7500.0, 0.0, 0.0, 0),
    "noise": (30, 40, 125.0, 7500.0, 0.025, 0.06, 0),
    "short": (16, 40, 60.0, 7600.0, 0.025, 0.06, 1),
    "long": (64, 64, 20.0, 7900.0, 0.025, 0.06, 1),
}

WRAPPER = """
#include <cstring>
extern "C" {
#include "tensorflow/lite/experimental/microfrontend/lib/frontend.h"
#include "tensorflow/lite/experimental/microfrontend/lib/frontend_util.h"
int features(const int16_t* samples, size_t count, int window_ms, int channels, float lower, float upper, float even,
             float odd, int gain, uint16_t* output) {
  FrontendConfig config;
  FrontendFillConfigWithDefaults(&config);
  config.window.size_ms = window_ms;
  config.window.step_size_ms = 10;
  config.filterbank.num_channels = channels;
  config.filterbank.lower_band_limit = lower;
  config.filterbank.upper_band_limit = upper;
  config.noise_reduction.even_smoothing = even;
  config.noise_reduction.odd_smoothing = odd;
  config.pcan_gain_control.enable_pcan = gain;
  FrontendState state;
  if (!FrontendPopulateState(&config, &state, 16000)) return -1;
  int frames = 0;
  while (count > 0) {
    size_t read = 0;
    FrontendOutput frame = FrontendProcessSamples(&state, samples, count, &read);
    samples += read;
    count -= read;
    if (frame.values == nullptr) continue;
    memcpy(output + frames++ * channels, frame.values, channels * sizeof(uint16_t));
  }
  FrontendFreeStateContents(&state);
  return frames;
}
}
"""


def by_package(samples):
    """Features of the installed package, as integers."""
    frontend, rows = MicroFrontend(), []
    for start in range(0, len(samples) - STEP + 1, STEP):
        features = frontend.process_samples(samples[start : start + STEP].tobytes()).features
        if features:
            rows.append(features)
    integers = np.array(rows).reshape(-1, CHANNELS) / UNIT
    assert np.all(integers == np.rint(integers)), "the package gave a value that is no multiple of 10/256"
    return integers.astype(np.int64)


def by_project(paths):
    """Features of `microformer features` for each file."""
    with tempfile.TemporaryDirectory() as folder:
        manifest, output = f"{folder}/manifest.csv", f"{folder}/features.safetensors"
        pathlib.Path(manifest).write_text("\n".join(["file", *(f'"{path.resolve()}"' for path in paths)]) + "\n")
        command = ["cargo", "microformer", "features", manifest, "--noise", "--gain", "-o", output]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        from safetensors.numpy import load_file

        tensors = load_file(output)
    return [features[:length] for features, length in zip(tensors["features"], tensors["lengths"])]


def compare(paths):
    import soundfile

    files = [file for path in paths for file in (sorted(path.rglob("*.*")) if path.is_dir() else [path])]
    files = [file for file in files if file.suffix.lower() in {".wav", ".flac"}]
    if not files:
        sys.exit("no WAV or FLAC file among the arguments")
    frames = differences = largest = 0
    for file, ours in zip(files, by_project(files)):
        samples, rate = soundfile.read(file, dtype="int16")
        if rate != RATE or samples.ndim != 1:
            sys.exit(f"{file}: {rate} Hz, {samples.ndim} dimensions; the comparison needs 16 kHz mono")
        theirs = by_package(samples)
        difference = np.abs(ours[: len(theirs)] - theirs)
        frames += len(theirs)
        differences += np.count_nonzero(difference)
        largest = max(largest, difference.max(initial=0))
    print(f"{len(files)} files, {frames} frames, {frames * CHANNELS} values: {differences} differ, by {largest} at most")
    return differences == 0


def signals():
    """Sound of every kind that has gone wrong in some front end."""
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        text = "Yes. No. Seven small transformers listen."
        subprocess.run(["espeak-ng", "-v", "en-us", "-w", f"{folder}/22.wav", text], check=True)
        subprocess.run(["sox", f"{folder}/22.wav", "-r", str(RATE), "-b", "16", f"{folder}/16.raw"], check=True)
        speech = np.fromfile(f"{folder}/16.raw", "<i2")[: 2 * RATE]
    time = np.arange(RATE // 2)
    noise = random.integers(-32768, 32768, RATE // 2)
    burst = np.where((time > 2000) & (time < 4000), noise, 0)
    lowest = np.where(time % 97 == 50, -32768, random.integers(-60, 61, RATE // 2))
    return {
        "speech": speech,
        "noise": noise,
        "quiet": random.integers(-2, 3, RATE // 4),
        "burst": burst,
        "square": np.where(time // 8 % 2 == 0, 32767, -32768),
        "lowest": lowest,
        "silence": np.zeros(RATE // 10),
    }


def sources():
    """The package's sources as a library with the settings as arguments."""
    folder = pathlib.Path(tempfile.mkdtemp())
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", folder, PACKAGE]
    subprocess.run(pip, check=True)
    tarfile.open(next(folder.glob("*.tar.gz"))).extractall(folder, filter="data")
    root = next(path for path in folder.iterdir() if path.is_dir())
    stages = "frontend window fft filterbank noise_reduction pcan_gain_control log_scale".split()
    names = [f"{stage}{suffix}.cc" for stage in stages for suffix in ("", "_util")] + ["kiss_fft_int16.cc", "log_lut.cc"]
    lib = root / "tensorflow/lite/experimental/microfrontend/lib"
    (folder / "wrapper.cc").write_text(WRAPPER)
    library = folder / "library.so"
    command = ["g++", "-O2", "-shared", "-fPIC", "-ffp-contract=off", "-I", root, "-I", root / "kissfft", "-o", library]
    subprocess.run([*command, folder / "wrapper.cc", *(lib / name for name in names)], check=True)
    return ctypes.CDLL(library)


def by_sources(library, samples, settings):
    output = np.zeros((len(samples) // STEP + 1, settings[1]), np.uint16)
    samples = np.ascontiguousarray(samples)
    window_ms, channels, *limits, gain = settings
    floats = [ctypes.c_float(limit) for limit in limits]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (samples, output)]
    count = ctypes.c_size_t(len(samples))
    frames = library.features(pointers[0], count, window_ms, channels, *floats, gain, pointers[1])
    assert frames >= 0
    return output[:frames]


def write():
    from safetensors.numpy import save_file

    library = sources()
    tensors = {}
    for name, samples in signals().items():
        samples = samples.astype(np.int16)
        tensors[f"{name}/samples"] = samples
        tensors[f"{name}/package"] = by_package(samples).astype(np.uint16)
        variants = SETTINGS if name in ("speech", "noise", "lowest") else ["plain"]
        for variant in variants:
            tensors[f"{name}/{variant}"] = by_sources(library, samples, SETTINGS[variant])
    path = HERE / "micro_frontend.safetensors"
    save_file({key: np.ascontiguousarray(value) for key, value in tensors.items()}, path, {"package": PACKAGE})
    print(f"{path.name}: {json.dumps({key: list(value.shape) for key, value in tensors.items()})}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("write")
    commands.add_parser("compare").add_argument("paths", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.command == "write":
        write()
    else:
        sys.exit(0 if compare(arguments.paths) else 1)
