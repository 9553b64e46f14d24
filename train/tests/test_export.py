"""What leaves in a model file computes what the module computed. Run with `python -m unittest` in train/."""

import tempfile
import unittest
from pathlib import Path

import torch
from torch import nn

from microformer_train.export import Encoder, export, load
from microformer_train.model import CausalTransformer, Shape

STEM = {
    "kind": "convolution",
    "channels": 4,
    "kernel": [6, 5],
    "stride": [4, 2],
    "depthwise_kernel": [3, 3],
    "depthwise_stride": [1, 2],
}


def shape(**changes) -> Shape:
    settings = dict(input={"features": 12}, labels=["a", "b", "c"], width=16, blocks=2, hidden=24, window=5)
    return Shape(**(settings | changes))


class Export(unittest.TestCase):
    def round_trip(self, model: nn.Module, x: torch.Tensor):
        model.eval()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model" / "float.safetensors"
            export(model, path, name="model")
            copy, configuration = load(path)
        self.assertEqual(configuration["name"], "model")
        with torch.no_grad():
            torch.testing.assert_close(copy(x), model(x), rtol=1e-4, atol=1e-4)

    def test_every_option(self):
        x = torch.randn(3, 41, 12)
        for changes in (
            {},
            {"positions": "learned", "context": 41, "norm": "rms", "activation": "silu"},
            {"positions": "sinusoidal", "context": 41, "norm_first": False, "final_norm": False},
            {"embed": {"kind": "linear", "frames": 6, "stride": 4}, "convolution": 5, "activation": "relu"},
            {"embed": STEM, "convolution": 3},
        ):
            with self.subTest(changes):
                model = CausalTransformer(shape(**changes))
                model(x)  # moves the batch norms away from their start
                self.round_trip(model, x)

    def test_tokens(self):
        model = CausalTransformer(shape(input={"tokens": 9}, embed={"kind": "table"}, pool={"kind": "each"}))
        self.round_trip(model, torch.randint(9, (2, 30)))

    def test_encoder_of_pytorch(self):
        for norm_first in (False, True):
            for activation in ("relu", "gelu"):
                with self.subTest(norm_first=norm_first, activation=activation):
                    layer = nn.TransformerEncoderLayer(
                        16, 4, 24, activation=activation, norm_first=norm_first, batch_first=True
                    )
                    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
                    model = Encoder(nn.Linear(12, 16), encoder, nn.Linear(16, 3), "abc", window=7, context=41)
                    for parameter in model.parameters():
                        nn.init.normal_(parameter, std=0.3)
                    self.round_trip(model, torch.randn(2, 41, 12))

    def test_refuses_what_is_not_finite(self):
        model = CausalTransformer(shape())
        model.head.weight.data[0, 0] = float("nan")
        with self.assertRaisesRegex(ValueError, "head.weight"):
            self.round_trip(model, torch.randn(1, 4, 12))


class Causality(unittest.TestCase):
    def test_the_future_leaves_the_past_untouched(self):
        for embed in ({"kind": "linear", "frames": 6, "stride": 4}, STEM):
            model = CausalTransformer(shape(embed=embed, convolution=5)).eval()
            x = torch.randn(1, 40, 12)
            changed = x.clone()
            changed[:, 24:] += 1
            before, after = model(x), model(changed)
            torch.testing.assert_close(before[:, :6], after[:, :6])
            self.assertFalse(torch.allclose(before[:, 6], after[:, 6]))

    def test_the_window_ends(self):
        model = CausalTransformer(shape(blocks=1)).eval()
        x = torch.randn(1, 12, 12)
        changed = x.clone()
        changed[:, 3] += 1
        same = torch.isclose(model(x), model(changed), atol=1e-6).all(-1)[0].tolist()
        self.assertEqual(same, [True] * 3 + [False] * 5 + [True] * 4)

    def test_the_pool_is_a_running_mean(self):
        scores = torch.randn(1, 9, 3)
        pooled = CausalTransformer(shape(pool={"kind": "mean", "tokens": 4})).pool(scores)
        torch.testing.assert_close(pooled[:, 1], scores[:, :2].mean(1))
        torch.testing.assert_close(pooled[:, 8], scores[:, 5:].mean(1))


if __name__ == "__main__":
    unittest.main()
