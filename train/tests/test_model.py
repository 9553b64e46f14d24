"""The narrow band that training computes is the wide mask that it stands for."""

import unittest

import torch

from microformer_train.model import CausalTransformer, Shape


class Band(unittest.TestCase):
    def test_a_token_sees_its_window_and_nothing_else(self):
        """Far into a long sequence, scores equal those of a sequence that begins as late as the blocks can see."""
        for window, positions in ((1, "none"), (5, "alibi"), (16, "alibi")):
            torch.manual_seed(0)
            shape = Shape({"features": 3}, ["a", "b"], width=12, blocks=2, heads=3, hidden=8, window=window)
            shape.positions = positions
            model = CausalTransformer(shape).double().eval()
            x = torch.randn(2, 4 * window + 3, 3).double()
            reach = 2 * (window - 1) + 1  # of two blocks: short enough that the mask is dense
            whole, tail = model(x)[:, -1], model(x[:, -reach:])[:, -1]
            self.assertLess((whole - tail).abs().max().item(), 1e-12)


if __name__ == "__main__":
    unittest.main()
