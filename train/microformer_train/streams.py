"""Clips in, short streams out: seconds of sound end to end, so that a model learns words as it will hear them.

Every second of a stream is both an example and the sound before the next one. A stream's last frames of each second
are copies of the neighbour's, where the analysis window would have seen both.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

FRAMES = 98  # of a clip of one second: (16,000 - 480) / 160 + 1
SECOND = 100  # frames from the start of one clip to the start of the next
POOL = 96  # frames that the answer is pooled over: all whole tokens of a clip
EARLY = 12  # frames at most before the end of a second
DECIBEL = 64 * 2.302585 / 20  # one decibel in the front-end's units: 64 · ln(amplitude)
MEAN, STD = 500.0, 150.0
OTHER = 2  # classes after the keywords: other words, and silence


def normalize(features: Tensor) -> Tensor:
    return (features.float() - MEAN) / STD


@dataclass
class Batch:
    frames: Tensor  # (streams, frames, features), normalised
    labels: Tensor  # (streams, seconds)
    ends: list[int]  # how many frames each second is judged after
    possible: Tensor  # (streams, tokens, classes): true where a part of the class lies in the pool, and for all but keywords


def join(clips: Tensor) -> Tensor:
    """(streams, seconds, FRAMES, features) → (streams, seconds · SECOND, features)."""
    padded = torch.cat((clips, clips[:, :, -2:]), 2)
    padded[:, :-1, -1] = clips[:, 1:, 0]
    return padded.flatten(1, 2)


def mix(stream: Tensor, noise: Tensor, ratio: Tensor) -> Tensor:
    """Adds the powers of noise (streams, frames, features) `ratio` (streams) decibels below the stream's loud frames."""
    loud = stream.mean(2).quantile(0.9, dim=1)
    shift = loud - noise.mean((1, 2)) - ratio * DECIBEL
    # Features are 64 · ln(amplitude), so a power is exp(feature / 32); digital silence stays at or above zero.
    return 32 * torch.logaddexp(stream / 32, (noise + shift[:, None, None]).clamp(min=0) / 32)


def mask_stretches(x: Tensor, length: int, dimension: int, random: torch.Generator):
    """SpecAugment: in each row one stretch of at most `length` along `dimension` becomes the mean, zero."""
    count, size = x.shape[0], x.shape[dimension]
    span = (torch.rand(count, 1, generator=random) * (length + 1)).long()
    start = (torch.rand(count, 1, generator=random) * (size - span)).long()
    position = torch.arange(size)
    hit = (position >= start) & (position < start + span)
    x.masked_fill_(hit.unsqueeze(2 if dimension == 1 else 1), 0.0)


class Composer:
    """Packs clips into streams of `seconds` seconds, for a model that makes a token of every `stride` frames."""

    def __init__(self, seconds: int, stride: int, classes: int, noise: Tensor, seed: int):
        self.seconds, self.stride, self.classes, self.noise = seconds, stride, classes, noise
        self.keywords = classes - OTHER
        self.noisy = 0.5  # share of the streams with a noise mixed in
        self.random = torch.Generator().manual_seed(seed)

    def uniform(self, shape, low: float, high: float) -> Tensor:
        return torch.rand(shape, generator=self.random) * (high - low) + low

    def background(self, streams: int) -> Tensor:
        """A noise as long as a stream: a second, then the same second backwards, and so on, without a seam."""
        rows = torch.randint(len(self.noise), (streams,), generator=self.random)
        noise = self.noise[rows].float()
        turns = [noise.flip(1) if turn % 2 else noise for turn in range(self.seconds + 1)]
        return torch.cat(turns, 1)[:, : self.seconds * SECOND]

    def attenuate(self, clips: Tensor) -> Tensor:
        """Every third clip up to 18 dB quieter: the noise of a room does not follow the speaker's level."""
        quiet = self.uniform(len(clips), 0, 1) < 1 / 3
        decibels = torch.where(quiet, self.uniform(len(clips), 0, 18), torch.tensor(0.0))
        return (clips.float() - decibels[:, None, None] * DECIBEL).clamp(min=0)

    def colour(self, streams: int, features: int) -> Tensor:
        """Another microphone, another room: a smooth curve over the frequencies, of one or two decibels, for each stream."""
        place = (torch.arange(features) + 0.5) * (math.pi / features)
        waves = torch.stack([(wave * place).cos() for wave in range(4)])
        weight = torch.randn(streams, 4, generator=self.random) * torch.tensor([0.15, 0.1, 0.07, 0.05])
        return (weight @ waves)[:, None]

    def compose(self, clips: Tensor, labels: Tensor) -> Batch:
        """(clips, FRAMES, features) i16 and their labels, a multiple of `seconds` of them."""
        labels = labels.view(-1, self.seconds)
        streams = len(labels)
        stream = join(self.attenuate(clips).view(streams, self.seconds, FRAMES, -1))
        noisy = self.uniform(streams, 0, 1) < self.noisy
        ratio = torch.where(noisy, self.uniform(streams, 3, 50), torch.tensor(200.0))
        stream = mix(stream, self.background(streams), ratio)
        x = normalize(stream) + self.colour(streams, stream.shape[2])
        for second in range(self.seconds):
            piece = x[:, second * SECOND : (second + 1) * SECOND]
            mask_stretches(piece, 7, 2, self.random)
            mask_stretches(piece, 16, 1, self.random)
        stride, latest = self.stride, EARLY // self.stride
        phase = int(torch.randint(stride, (), generator=self.random))
        # In a stream the word may lie anywhere in the pool: some batches are judged a little before the second is over.
        early = int(torch.randint(-latest, latest + 1, (), generator=self.random).clamp(min=0))
        ends = [((second * SECOND + FRAMES - phase) // stride - early) * stride for second in range(self.seconds)]
        # A constant length, so that a compiled model stays compiled.
        frames = self.seconds * SECOND - stride + 1
        return Batch(x[:, phase : phase + frames], labels, ends, self.find_possible(labels, frames // stride, phase))

    def find_possible(self, labels: Tensor, tokens: int, phase: int) -> Tensor:
        """A keyword may be heard while any of it is in the pool, and never else; no class besides is ever wrong."""
        end = phase + (torch.arange(tokens) + 1) * self.stride
        start = torch.arange(self.seconds) * SECOND
        in_pool = (end[:, None] > start) & (end[:, None] - POOL < start + FRAMES)
        said = F.one_hot(labels, self.classes).float()
        possible = torch.einsum("ts,nsc->ntc", in_pool.float(), said) > 0
        possible[..., self.keywords :] = True
        return possible
