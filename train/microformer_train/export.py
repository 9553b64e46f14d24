"""A trained module in, the float model file out: safetensors with the configuration in its metadata.

`export(model, path, …)` takes a `CausalTransformer`, or an `Encoder`: PyTorch's own `nn.TransformerEncoder` with an
embedding before it and a head behind it. `load(path)` reads a file back.
"""

import copy
import json
from dataclasses import asdict, fields
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from .model import CausalTransformer, Positions, Shape

FORMAT = 1


class Encoder(nn.Module):
    """PyTorch's own encoder, causal: `embed` → (+ positions) → `encoder` → `head`.

    `embed` is an `nn.Linear` over the features of a frame or an `nn.Embedding`; `window` is how many tokens a token
    sees (itself included), `labels` the names of the head's outputs, `pool` how token scores become the sequence's.
    """

    def __init__(self, embed, encoder: nn.TransformerEncoder, head: nn.Linear, labels, window, pool=None, context=0):
        super().__init__()
        self.embed, self.encoder, self.head = embed, encoder, head
        self.shape = encoder_shape(embed, encoder, list(labels), window, pool or {"kind": "last"}, context)
        self.positions = Positions(self.shape) if context else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        x = self.positions(self.embed(x))
        step = torch.arange(x.shape[1], device=x.device)
        distance = step[:, None] - step[None, :]
        return self.head(self.encoder(x, mask=(distance < 0) | (distance >= self.shape.window)))


def activation_name(activation) -> str:
    if isinstance(activation, nn.Module):
        activation = {nn.ReLU: F.relu, nn.GELU: F.gelu, nn.SiLU: F.silu}.get(type(activation))
    names = {F.relu: "relu", F.gelu: "gelu", F.silu: "silu", torch.relu: "relu"}
    if activation not in names:
        raise ValueError(f"activation {activation}: the engine has relu, gelu and silu")
    return names[activation]


def encoder_shape(embed, encoder, labels, window, pool, context) -> Shape:
    layer = encoder.layers[0]
    if isinstance(embed, nn.Embedding):
        input, kind = {"tokens": embed.num_embeddings}, {"kind": "table"}
    elif isinstance(embed, nn.Linear):
        input, kind = {"features": embed.in_features}, {"kind": "linear", "frames": 1, "stride": 1}
    else:
        raise ValueError(f"embed is {type(embed).__name__}: use nn.Linear for frames or nn.Embedding for tokens")
    if not layer.self_attn.batch_first:
        raise ValueError("build the encoder layer with batch_first=True: sequences are (batch, tokens, features)")
    return Shape(
        input=input,
        labels=labels,
        embed=kind,
        width=layer.self_attn.embed_dim,
        blocks=len(encoder.layers),
        heads=layer.self_attn.num_heads,
        hidden=layer.linear1.out_features,
        window=window,
        positions="learned" if context else "none",
        context=context,
        norm_first=layer.norm_first,
        norm_epsilon=layer.norm1.eps,
        final_norm=encoder.norm is not None,
        activation=activation_name(layer.activation),
        pool=pool,
    )


def encoder_tensors(model: Encoder) -> dict[str, Tensor]:
    """PyTorch's parameter names to the file's; `in_proj_weight` holds query, key and value one above the other."""
    tensors = {}

    def put(name: str, module: nn.Module):
        tensors[f"{name}.weight"] = module.weight
        bias = getattr(module, "bias", None)
        if bias is None and isinstance(module, (nn.Linear, nn.LayerNorm)):
            bias = torch.zeros(module.weight.shape[0])
        if bias is not None:
            tensors[f"{name}.bias"] = bias

    put("embed", model.embed)
    if model.shape.context:
        tensors["positions.weight"] = model.positions.weight
    for index, layer in enumerate(model.encoder.layers):
        block = f"blocks.{index}"
        attention = layer.self_attn
        in_bias = attention.in_proj_bias
        in_bias = torch.zeros(3 * model.shape.width) if in_bias is None else in_bias
        for part, weight, bias in zip(
            ("query", "key", "value"), attention.in_proj_weight.chunk(3), in_bias.chunk(3)
        ):
            tensors[f"{block}.attention.{part}.weight"] = weight
            tensors[f"{block}.attention.{part}.bias"] = bias
        put(f"{block}.attention.output", attention.out_proj)
        put(f"{block}.attention_norm", layer.norm1)
        put(f"{block}.mlp_norm", layer.norm2)
        put(f"{block}.mlp.up", layer.linear1)
        put(f"{block}.mlp.down", layer.linear2)
    if model.encoder.norm is not None:
        put("norm", model.encoder.norm)
    put("head", model.head)
    return tensors


def transformer_tensors(model: CausalTransformer) -> dict[str, Tensor]:
    model = copy.deepcopy(model)
    if hasattr(model.embed, "fold"):
        model.embed.fold()
    return model.state_dict()


def export(model: nn.Module, path, **metadata):
    """Writes the float model file. `metadata` joins the configuration: `name`, `signal`, `normalize`, …"""
    tensors = encoder_tensors(model) if isinstance(model, Encoder) else transformer_tensors(model)
    tensors = {name: tensor.detach().float().contiguous().clone() for name, tensor in tensors.items()}
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{name} holds a value that is not finite: the training diverged")
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    configuration = {"format": FORMAT, "name": path.parent.name} | asdict(model.shape) | metadata
    save_file(tensors, path, {"microformer": json.dumps(configuration)})


def load(path) -> tuple[CausalTransformer, dict]:
    """A float model file back as a module, and its whole configuration."""
    with safe_open(path, "pt") as file:
        configuration = json.loads(file.metadata()["microformer"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}
    known = {f.name for f in fields(Shape)}
    model = CausalTransformer(Shape(**{k: v for k, v in configuration.items() if k in known}), batch_norm=False)
    model.load_state_dict(tensors)
    return model.eval(), configuration
