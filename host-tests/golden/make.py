"""Golden vectors: small models that PyTorch's own layers compute, exported by the names of docs/model-format.md.

    python host-tests/golden/make.py

writes, for each case, NAME.model.safetensors (a float model file) and NAME.expected.safetensors (`input`, and activations
under the names by which the reference shows them). Weights are rounded to the type they are stored in, everything is then
computed in float64, so the reference has to agree to far less than 1e-5. Needs torch and safetensors.
"""

import json
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn

FOLDER = Path(__file__).parent


def config(name, **fields):
    """A configuration, complete but for the fields given."""
    return {
        "format": 1,
        "name": name,
        "width": 16,
        "blocks": 2,
        "heads": 2,
        "hidden": 24,
        "window": 16,
        "positions": "none",
        "norm": "layer",
        "norm_first": True,
        "activation": "gelu",
        "pool": {"kind": "each"},
        "labels": ["a", "b", "c"],
    } | fields


def linear(name, layer, tensors):
    tensors[f"{name}.weight"] = layer.weight
    if layer.bias is not None:
        tensors[f"{name}.bias"] = layer.bias


def attention(name, layer, tensors):
    """nn.MultiheadAttention keeps queries, keys and values in one matrix."""
    weights, biases = layer.in_proj_weight.chunk(3), layer.in_proj_bias.chunk(3)
    for part, weight, bias in zip(["query", "key", "value"], weights, biases):
        tensors[f"{name}.{part}.weight"], tensors[f"{name}.{part}.bias"] = weight, bias
    linear(f"{name}.output", layer.out_proj, tensors)


def encoder(layers, tensors):
    """The blocks of an nn.TransformerEncoder."""
    for index, layer in enumerate(layers):
        linear(f"blocks.{index}.attention_norm", layer.norm1, tensors)
        attention(f"blocks.{index}.attention", layer.self_attn, tensors)
        linear(f"blocks.{index}.mlp_norm", layer.norm2, tensors)
        linear(f"blocks.{index}.mlp.up", layer.linear1, tensors)
        linear(f"blocks.{index}.mlp.down", layer.linear2, tensors)


def settle(module, dtype):
    """Random weights that are exact in `dtype`, with norms and biases away from one and zero."""
    for parameter in module.parameters():
        values = torch.randn_like(parameter)
        values = 0.3 + 0.5 * values if parameter.dim() == 1 else 1.3 * values / parameter[0].numel() ** 0.5
        parameter.data = values.to(dtype).to(torch.float64)
    return module.eval()


def save(config, tensors, expected, dtype=torch.float32):
    name = config["name"]
    tensors = {key: tensor.detach().to(dtype).contiguous() for key, tensor in tensors.items()}
    save_file(tensors, FOLDER / f"{name}.model.safetensors", metadata={"microformer": json.dumps(config)})
    expected = {key: tensor.detach().contiguous() for key, tensor in expected.items()}
    save_file(expected, FOLDER / f"{name}.expected.safetensors")


def causal(tokens):
    return nn.Transformer.generate_square_subsequent_mask(tokens, dtype=torch.float64)


def transformer(width, heads, hidden, blocks, norm_first, activation, final_norm):
    layer = nn.TransformerEncoderLayer(
        width, heads, hidden, dropout=0.0, activation=activation, batch_first=True, norm_first=norm_first
    )
    norm = nn.LayerNorm(width) if final_norm else None
    return nn.TransformerEncoder(layer, blocks, norm=norm, enable_nested_tensor=False)


def norm_first_gelu():
    """nn.TransformerEncoder, norms first, GELU, a final norm, learned positions."""
    shape = config("norm-first-gelu", input={"features": 5}, embed={"kind": "linear"}, positions="learned", context=20)
    model = settle(
        nn.ModuleDict({
            "embed": nn.Linear(5, 16),
            "encoder": transformer(16, 2, 24, 2, True, "gelu", True),
            "head": nn.Linear(16, 3),
            "positions": nn.Embedding(20, 16),
        }),
        torch.float32,
    )
    tensors = {"positions.weight": model["positions"].weight}
    linear("embed", model["embed"], tensors)
    encoder(model["encoder"].layers, tensors)
    linear("norm", model["encoder"].norm, tensors)
    linear("head", model["head"], tensors)
    frames = torch.randn(15, 5)
    stream = model["embed"](frames) + model["positions"].weight[:15]
    encoded = model["encoder"](stream[None], mask=causal(15), is_causal=True)[0]
    save(shape, tensors, {"input": frames, "embed": stream, "norm": encoded, "scores": model["head"](encoded)})


def norm_last_relu():
    """nn.TransformerEncoder, norms last, ReLU, no final norm, sinusoids, overlapping patches of three frames."""
    shape = config(
        "norm-last-relu", input={"features": 3}, embed={"kind": "linear", "frames": 3, "stride": 2}, heads=4,
        positions="sinusoidal", context=12, norm_first=False, final_norm=False, activation="relu",
        pool={"kind": "mean", "tokens": 4},
    )
    model = settle(
        nn.ModuleDict({
            "embed": nn.Linear(9, 16, bias=False),
            "encoder": transformer(16, 4, 24, 2, False, "relu", False),
            "head": nn.Linear(16, 3),
        }),
        torch.float64,
    )
    tensors = {}
    linear("embed", model["embed"], tensors)
    encoder(model["encoder"].layers, tensors)
    linear("head", model["head"], tensors)
    frames = torch.randn(23, 3)
    patches = F.pad(frames, (0, 0, 1, 0)).unfold(0, 3, 2).transpose(1, 2).flatten(1)
    position, column = torch.arange(12.0)[:, None], torch.arange(0, 16, 2)
    angles = position / 10000 ** (column / 16)
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    stream = model["embed"](patches) + table[: len(patches)]
    encoded = model["encoder"](stream[None], mask=causal(len(patches)), is_causal=True)[0]
    scores = model["head"](encoded)
    pooled = torch.stack([scores[max(0, token - 3) : token + 1].mean(0) for token in range(len(scores))])
    expected = {"input": frames, "embed": stream, "blocks.1.mlp_norm": encoded, "scores": scores, "pooled": pooled}
    save(shape, tensors, expected, torch.float64)


def tokens_gelu():
    """nn.Embedding and nn.TransformerEncoder, norms last, GELU, stored in 16-bit floats."""
    shape = config("tokens-gelu", input={"tokens": 11}, embed={"kind": "table"}, heads=4, norm_first=False)
    model = settle(
        nn.ModuleDict({
            "embed": nn.Embedding(11, 16),
            "encoder": transformer(16, 4, 24, 2, False, "gelu", True),
            "head": nn.Linear(16, 3, bias=False),
        }),
        torch.float16,
    )
    tensors = {}
    tensors["embed.weight"] = model["embed"].weight
    encoder(model["encoder"].layers, tensors)
    linear("norm", model["encoder"].norm, tensors)
    linear("head", model["head"], tensors)
    words = torch.randint(11, (14,))
    encoded = model["encoder"](model["embed"](words)[None], mask=causal(14), is_causal=True)[0]
    save(shape, tensors, {"input": words, "norm": encoded, "scores": model["head"](encoded)}, torch.float16)


def banded_alibi():
    """nn.MultiheadAttention under a band with ALiBi, nn.RMSNorm, a causal depthwise F.conv1d, SiLU, every step shown."""
    width, heads, hidden, window, taps, tokens = 12, 3, 20, 5, 4, 17
    shape = config(
        "banded-alibi", input={"features": 4}, embed={"kind": "linear"}, width=width, heads=heads, hidden=hidden,
        window=window, positions="alibi", norm="rms", norm_epsilon=1e-3, activation="silu", convolution=taps,
    )
    blocks = [
        nn.ModuleDict({
            "attention_norm": nn.RMSNorm(width, eps=1e-3),
            "attention": nn.MultiheadAttention(width, heads, batch_first=True),
            "mlp_norm": nn.RMSNorm(width, eps=1e-3),
            "up": nn.Linear(width, hidden),
            "convolution": nn.Conv1d(hidden, hidden, taps, groups=hidden),
            "down": nn.Linear(hidden, width),
        })
        for _ in range(2)
    ]
    model = settle(
        nn.ModuleDict({
            "embed": nn.Linear(4, width),
            "blocks": nn.ModuleList(blocks),
            "norm": nn.RMSNorm(width, eps=1e-3),
            "head": nn.Linear(width, 3),
        }),
        torch.bfloat16,
    )
    distance = torch.arange(tokens)[:, None] - torch.arange(tokens)
    slopes = 2.0 ** (-8.0 * torch.arange(1, heads + 1) / heads)
    mask = -slopes[:, None, None] * distance
    mask = mask.masked_fill((distance < 0) | (distance >= window), float("-inf"))

    tensors = {}
    linear("embed", model["embed"], tensors)
    frames = torch.randn(tokens, 4)
    stream = model["embed"](frames)
    expected = {"input": frames, "embed": stream}
    for index, block in enumerate(model["blocks"]):
        name = f"blocks.{index}"
        tensors[f"{name}.attention_norm.weight"] = block["attention_norm"].weight
        tensors[f"{name}.mlp_norm.weight"] = block["mlp_norm"].weight
        attention(f"{name}.attention", block["attention"], tensors)
        linear(f"{name}.mlp.up", block["up"], tensors)
        linear(f"{name}.mlp.down", block["down"], tensors)
        tensors[f"{name}.mlp.convolution.weight"] = block["convolution"].weight[:, 0]
        tensors[f"{name}.mlp.convolution.bias"] = block["convolution"].bias

        normed = block["attention_norm"](stream)
        mixed, weights = block["attention"](
            normed[None], normed[None], normed[None], attn_mask=mask, need_weights=True, average_attn_weights=False
        )
        stream = stream + mixed[0]
        expected[f"{name}.attention_norm"] = normed
        expected[f"{name}.attention"] = mixed[0]
        expected |= {f"{name}.head.{head}.weights": weights[0, head] for head in range(heads)}
        expected[f"{name}.attention_sum"] = stream

        normed = block["mlp_norm"](stream)
        up = block["up"](normed)
        convolved = block["convolution"](F.pad(up.T, (taps - 1, 0))).T
        down = block["down"](F.silu(convolved))
        stream = stream + down
        expected[f"{name}.up"] = up
        expected[f"{name}.convolution"] = convolved
        expected[f"{name}.activation"] = F.silu(convolved)
        expected[f"{name}.mlp"] = down
        expected[f"{name}.mlp_sum"] = stream
    tensors["norm.weight"] = model["norm"].weight
    linear("head", model["head"], tensors)
    save(shape, tensors, expected | {"scores": model["head"](model["norm"](stream))}, torch.bfloat16)


def stem(name, features, kernel, stride, depthwise_kernel, hop):
    """F.conv2d, causal in time, with the padding of the stem, then one block."""
    channels, width, frames = 6, 8, 19
    pad, depth_pad = (kernel[1] - 1) // 2, (depthwise_kernel[1] - 1) // 2
    places = (features + 2 * pad - kernel[1]) // stride[1] + 1
    depth_places = (places + 2 * depth_pad - depthwise_kernel[1]) // hop + 1
    shape = config(
        name, input={"features": features}, width=width, blocks=1, hidden=12, window=4,
        embed={
            "kind": "convolution", "channels": channels, "kernel": kernel, "stride": stride,
            "depthwise_kernel": depthwise_kernel, "depthwise_stride": [1, hop],
        },
        pool={"kind": "mean"},
    )
    model = settle(
        nn.ModuleDict({
            "convolution": nn.Conv2d(1, channels, kernel),
            "depthwise": nn.Conv2d(channels, channels, depthwise_kernel, groups=channels),
            "projection": nn.Linear(depth_places * channels, width),
            "encoder": transformer(width, 2, 12, 1, True, "gelu", True),
            "head": nn.Linear(width, 3),
        }),
        torch.float32,
    )
    tensors = {}
    for part in ["convolution", "depthwise", "projection"]:
        linear(f"embed.{part}", model[part], tensors)
    encoder(model["encoder"].layers, tensors)
    linear("norm", model["encoder"].norm, tensors)
    linear("head", model["head"], tensors)

    sound = torch.randn(frames, features)
    padded = F.pad(sound[None, None], (pad, pad, kernel[0] - stride[0], 0))
    wide = F.relu(F.conv2d(padded, model["convolution"].weight, model["convolution"].bias, stride=stride))
    padded = F.pad(wide, (depth_pad, depth_pad, depthwise_kernel[0] - 1, 0))
    deep = F.relu(
        F.conv2d(padded, model["depthwise"].weight, model["depthwise"].bias, stride=(1, hop), groups=channels)
    )
    stream = model["projection"](deep[0].permute(1, 2, 0).flatten(1))
    distance = torch.arange(len(stream))[:, None] - torch.arange(len(stream))
    mask = torch.zeros(len(stream), len(stream)).masked_fill((distance < 0) | (distance >= 4), float("-inf"))
    encoded = model["encoder"](stream[None], mask=mask)[0]
    scores = model["head"](encoded)
    expected = {
        "input": sound,
        "embed.convolution": wide[0].permute(1, 2, 0).flatten(1),
        "embed.depthwise": deep[0].permute(1, 2, 0).flatten(1),
        "embed": stream,
        "scores": scores,
        "pooled": scores.cumsum(0) / torch.arange(1, len(scores) + 1)[:, None],
    }
    save(shape, tensors, expected)


if __name__ == "__main__":
    torch.manual_seed(2017)
    torch.set_default_dtype(torch.float64)
    with torch.no_grad():
        norm_first_gelu()
        norm_last_relu()
        tokens_gelu()
        banded_alibi()
        stem("stem-odd", 13, [6, 5], [4, 2], [3, 3], 2)
        stem("stem-even", 10, [3, 4], [3, 1], [2, 4], 3)
