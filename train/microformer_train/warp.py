"""Sequences in, the same gestures made a little differently out: tempo, amplitude and sensor noise vary."""

import torch
from torch import Tensor


def augment(x: Tensor, lengths: Tensor, warp: float, scale: float, noise: float, crop: float) -> tuple[Tensor, Tensor]:
    """(sequences, steps, channels) and lengths in, the same shapes out; steps beyond a length stay zero."""
    x, lengths = warp_time(*crop_start(x, lengths, crop), warp)
    count, steps, channels = x.shape
    x = x * (1 + scale * torch.randn(count, 1, channels)) + scale * torch.randn(count, 1, channels)
    x = x + noise * torch.randn_like(x)
    return x * (torch.arange(steps) < lengths[:, None])[:, :, None], lengths


def crop_start(x: Tensor, lengths: Tensor, crop: float) -> tuple[Tensor, Tensor]:
    """Leaves up to a share of `crop` out where a sequence begins."""
    if crop == 0:
        return x, lengths
    start = (crop * torch.rand(len(x)) * lengths).long()
    place = torch.arange(x.shape[1]) + start[:, None]
    kept = x.gather(1, place.clamp(max=x.shape[1] - 1)[:, :, None].expand(-1, -1, x.shape[2]))
    lengths = lengths - start
    return kept * (torch.arange(x.shape[1]) < lengths[:, None])[:, :, None], lengths


def warp_time(x: Tensor, lengths: Tensor, warp: float) -> tuple[Tensor, Tensor]:
    """Plays each sequence at a speed that drifts by about `warp`, and to another total length."""
    if warp == 0:
        return x, lengths
    count, steps, channels = x.shape
    total = (lengths * torch.exp(warp * torch.randn(count).clamp(-2, 2))).long().clamp(min=2)
    total = torch.minimum(total, torch.full_like(total, steps))
    knots = torch.exp(warp * torch.randn(count, 1, 6))
    speed = torch.nn.functional.interpolate(knots, steps, mode="linear", align_corners=True)[:, 0]
    place = (speed * (torch.arange(steps) < total[:, None])).cumsum(1)
    place = (place - place[:, :1]) / (place[:, -1:] - place[:, :1]).clamp(min=1e-6) * (lengths[:, None] - 1)
    low = place.long().clamp(max=steps - 1)
    high = torch.minimum(low + 1, (lengths - 1)[:, None])
    share = (place - low)[:, :, None]
    pick = lambda index: x.gather(1, index[:, :, None].expand(-1, -1, channels))  # noqa: E731
    warped = pick(low) * (1 - share) + pick(high) * share
    return warped * (torch.arange(steps) < total[:, None])[:, :, None], total
