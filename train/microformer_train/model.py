"""The causal transformer of the engine as an ordinary `nn.Module`, with every option the engine has.

Frames (batch, frames, features) or tokens (batch, tokens) enter; scores (batch, tokens, labels) leave, one row per
token. A token sees itself and the `window - 1` tokens before it, never one after it. Parameters carry the names and
shapes of the float model file, so that export is a copy.
"""

import math
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class Shape:
    """The configuration in the model file, field for field; `docs/model-format.md` explains each."""

    input: dict
    labels: list[str]
    embed: dict = field(default_factory=lambda: {"kind": "linear", "frames": 1, "stride": 1})
    width: int = 48
    blocks: int = 4
    heads: int = 4
    hidden: int = 96
    window: int = 24
    positions: str = "alibi"
    context: int = 0
    norm: str = "layer"
    norm_first: bool = True
    norm_epsilon: float = 1e-5
    final_norm: bool = True
    activation: str = "gelu"
    convolution: int = 0
    pool: dict = field(default_factory=lambda: {"kind": "mean", "tokens": 0})

    def __post_init__(self):
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not a multiple of heads {self.heads}")
        choices = {
            "positions": ("none", "alibi", "learned", "sinusoidal"),
            "norm": ("layer", "rms"),
            "activation": ("relu", "gelu", "silu"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} is {getattr(self, name)!r}, not one of {', '.join(allowed)}")
        if self.positions in ("learned", "sinusoidal") and self.context < 1:
            raise ValueError(f"{self.positions} positions need a context: the longest sequence, in tokens")

    @property
    def stride(self) -> int:
        """Frames from one token to the next."""
        stride = self.embed.get("stride", 1)
        return stride if isinstance(stride, int) else stride[0]


class LinearEmbed(nn.Linear):
    """`frames` frames, side by side and oldest first, through one matrix; a token every `stride` frames."""

    def __init__(self, features: int, width: int, frames: int, stride: int):
        super().__init__(frames * features, width)
        self.frames, self.stride = frames, stride

    def forward(self, x: Tensor) -> Tensor:
        x = x[:, : x.shape[1] // self.stride * self.stride]
        x = F.pad(x, (0, 0, self.frames - self.stride, 0))
        patches = x.unfold(1, self.frames, self.stride).transpose(2, 3)
        return super().forward(patches.flatten(2))


class ConvolutionEmbed(nn.Module):
    """A causal 2-D stem, time by frequency: convolution, depthwise convolution, projection to the width.

    Zeros stand before the first frame and beyond both ends of the frequency axis. While training, a batch norm follows
    each convolution; `fold` moves it into the weights, which is how the file holds them.
    """

    def __init__(self, features: int, width: int, embed: dict, batch_norm: bool):
        super().__init__()
        channels = embed["channels"]
        self.kernel, self.stride = embed["kernel"], embed["stride"]
        self.depthwise_kernel, self.depthwise_stride = embed["depthwise_kernel"], embed["depthwise_stride"]
        self.convolution = nn.Conv2d(1, channels, self.kernel, self.stride)
        self.depthwise = nn.Conv2d(channels, channels, self.depthwise_kernel, self.depthwise_stride, groups=channels)
        self.convolution_norm = nn.BatchNorm2d(channels) if batch_norm else nn.Identity()
        self.depthwise_norm = nn.BatchNorm2d(channels) if batch_norm else nn.Identity()
        bands = features
        for kernel, stride in ((self.kernel, self.stride), (self.depthwise_kernel, self.depthwise_stride)):
            bands = (bands + (kernel[1] - 1) // 2 * 2 - kernel[1]) // stride[1] + 1
        self.projection = nn.Linear(bands * channels, width)

    def forward(self, x: Tensor) -> Tensor:
        x = self.pad(x[:, None], self.kernel, self.stride)
        x = F.relu(self.convolution_norm(self.convolution(x)))
        x = self.pad(x, self.depthwise_kernel, self.depthwise_stride)
        x = F.relu(self.depthwise_norm(self.depthwise(x)))
        return self.projection(x.permute(0, 2, 3, 1).flatten(2))

    @staticmethod
    def pad(x: Tensor, kernel: list[int], stride: list[int]) -> Tensor:
        sides = (kernel[1] - 1) // 2
        return F.pad(x, (sides, sides, kernel[0] - stride[0], 0))

    @torch.no_grad()
    def fold(self):
        """Multiplies each batch norm into the convolution before it."""
        for name in ("convolution", "depthwise"):
            norm, convolution = getattr(self, f"{name}_norm"), getattr(self, name)
            if isinstance(norm, nn.BatchNorm2d):
                gain = norm.weight / torch.sqrt(norm.running_var + norm.eps)
                convolution.bias.copy_((convolution.bias - norm.running_mean) * gain + norm.bias)
                convolution.weight.mul_(gain[:, None, None, None])
                setattr(self, f"{name}_norm", nn.Identity())


class Attention(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.heads = shape.heads
        self.query, self.key, self.value, self.output = (nn.Linear(shape.width, shape.width) for _ in range(4))

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        batch, tokens, width = x.shape
        weight = torch.cat((self.query.weight, self.key.weight, self.value.weight))
        offset = torch.cat((self.query.bias, self.key.bias, self.value.bias))
        x = F.linear(x, weight, offset).view(batch, tokens, 3, self.heads, width // self.heads)
        query, key, value = x.permute(2, 0, 3, 1, 4)
        if bias.dim() == 4:
            query, key, value = self.pieces(query, bias), self.bands(key, bias), self.bands(value, bias)
        scores = query @ key.transpose(-1, -2) / math.sqrt(width // self.heads) + bias
        mixed = (scores.softmax(-1) @ value).reshape(batch, self.heads, -1, width // self.heads)[:, :, :tokens]
        return self.output(mixed.transpose(1, 2).reshape(batch, tokens, width))

    @staticmethod
    def pieces(x: Tensor, bias: Tensor) -> Tensor:
        """(batch, heads, tokens, head_len) → (batch, heads, pieces, window, head_len)."""
        window = bias.shape[2]
        x = F.pad(x, (0, 0, 0, -x.shape[2] % window))
        return x.unflatten(2, (-1, window))

    @classmethod
    def bands(cls, x: Tensor, bias: Tensor) -> Tensor:
        """Each piece behind the one before it, zeros before the first: all that a query of the piece may see."""
        x = cls.pieces(x, bias)
        before = F.pad(x, (0, 0, 0, 0, 1, -1))
        return torch.cat((before, x), 3)


class CausalConvolution(nn.Module):
    """One filter over time for each hidden unit, oldest tap first. It starts as the identity plus a little."""

    def __init__(self, hidden: int, taps: int):
        super().__init__()
        weight = (torch.rand(hidden, taps) * 2 - 1) / math.sqrt(taps)
        weight[:, -1] += 1
        self.weight = nn.Parameter(weight)
        self.bias = nn.Parameter(torch.zeros(hidden))

    def forward(self, x: Tensor) -> Tensor:
        taps, tokens = self.weight.shape[1], x.shape[1]
        x = F.pad(x, (0, 0, taps - 1, 0))
        return sum(x[:, tap : tap + tokens] * self.weight[:, tap] for tap in range(taps)) + self.bias


class Mlp(nn.Module):
    ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu}

    def __init__(self, shape: Shape):
        super().__init__()
        self.up = nn.Linear(shape.width, shape.hidden)
        self.convolution = CausalConvolution(shape.hidden, shape.convolution) if shape.convolution else nn.Identity()
        self.down = nn.Linear(shape.hidden, shape.width)
        self.activation = self.ACTIVATIONS[shape.activation]

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.activation(self.convolution(self.up(x))))


def make_norm(shape: Shape) -> nn.Module:
    kind = nn.LayerNorm if shape.norm == "layer" else nn.RMSNorm
    return kind(shape.width, eps=shape.norm_epsilon)


class Block(nn.Module):
    def __init__(self, shape: Shape, dropout: float):
        super().__init__()
        self.norm_first = shape.norm_first
        self.attention_norm, self.mlp_norm = make_norm(shape), make_norm(shape)
        self.attention, self.mlp = Attention(shape), Mlp(shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        if self.norm_first:
            x = x + self.dropout(self.attention(self.attention_norm(x), bias))
            return x + self.dropout(self.mlp(self.mlp_norm(x)))
        x = self.attention_norm(x + self.dropout(self.attention(x, bias)))
        return self.mlp_norm(x + self.dropout(self.mlp(x)))


class Positions(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        weight = torch.randn(shape.context, shape.width) * 0.02
        if shape.positions == "sinusoidal":
            angle = torch.arange(shape.context)[:, None] / 10_000 ** (torch.arange(0, shape.width, 2) / shape.width)
            weight = torch.stack((angle.sin(), angle.cos()), -1).flatten(1)[:, : shape.width]
        self.weight = nn.Parameter(weight.contiguous(), requires_grad=shape.positions == "learned")

    def forward(self, x: Tensor) -> Tensor:
        return x + self.weight[: x.shape[1]]


def attention_bias(tokens: int, shape: Shape, device=None) -> Tensor:
    """(heads, tokens, tokens): minus infinity outside the band, minus slope times distance inside it.

    Where the band is narrow, (heads, pieces, window, 2 · window): the same for pieces of the sequence, each with the
    piece before it, so that what lies outside the band is not computed at all.
    """
    step = torch.arange(tokens, device=device)
    query, key = step[:, None], step[None, :]
    if tokens > 2 * shape.window:
        first = torch.arange(0, tokens, shape.window, device=device)[:, None, None]
        query = first + torch.arange(shape.window, device=device)[:, None]
        key = first + torch.arange(-shape.window, shape.window, device=device)
    distance = (query - key).float()
    slopes = torch.zeros(shape.heads, device=device)
    if shape.positions == "alibi":
        slopes = 2.0 ** (-8.0 * torch.arange(1, shape.heads + 1, device=device) / shape.heads)
    outside = (distance < 0) | (distance >= shape.window) | (key < 0)
    return (-slopes.view(-1, *(1 for _ in distance.shape)) * distance).masked_fill(outside, -torch.inf)


class CausalTransformer(nn.Module):
    def __init__(self, shape: Shape, dropout: float = 0.0, batch_norm: bool = True):
        """`batch_norm`: train the convolution stem with batch norms; false for weights read from a file."""
        super().__init__()
        self.shape = shape
        kind = shape.embed["kind"]
        if kind == "table":
            self.embed = nn.Embedding(shape.input["tokens"], shape.width)
        elif kind == "linear":
            frames, stride = shape.embed.get("frames", 1), shape.embed.get("stride", 1)
            self.embed = LinearEmbed(shape.input["features"], shape.width, frames, stride)
        elif kind == "convolution":
            self.embed = ConvolutionEmbed(shape.input["features"], shape.width, shape.embed, batch_norm)
        else:
            raise ValueError(f"embed.kind is {kind!r}, not table, linear or convolution")
        tabulated = shape.positions in ("learned", "sinusoidal")
        self.positions = Positions(shape) if tabulated else nn.Identity()
        self.blocks = nn.ModuleList(Block(shape, dropout) for _ in range(shape.blocks))
        self.norm = make_norm(shape) if shape.final_norm else nn.Identity()
        self.head = nn.Linear(shape.width, len(shape.labels))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        x = self.dropout(self.positions(self.embed(x)))
        bias = attention_bias(x.shape[1], self.shape, x.device)
        for block in self.blocks:
            x = block(x, bias)
        return self.head(self.norm(x))

    def pool(self, scores: Tensor) -> Tensor:
        """Scores of each token to what the engine reports after that token, by the shape's rule. Same shape."""
        if self.shape.pool["kind"] != "mean":
            return scores
        tokens = self.shape.pool["tokens"] or scores.shape[1]
        sums = scores.cumsum(1)
        sums = torch.cat((sums[:, :tokens], sums[:, tokens:] - sums[:, :-tokens]), 1)
        counts = torch.arange(1, scores.shape[1] + 1, device=scores.device).clamp(max=tokens)
        return sums / counts[:, None]

    def parameter_groups(self, decay: float) -> list[dict]:
        """For AdamW: matrices decay; biases, norms and the filters over time, which start at the identity, do not."""
        decays, keeps = [], []
        for name, parameter in self.named_parameters():
            if parameter.requires_grad:
                small = parameter.ndim < 2 or "mlp.convolution" in name
                (keeps if small else decays).append(parameter)
        return [{"params": decays, "weight_decay": decay}, {"params": keeps, "weight_decay": 0.0}]
