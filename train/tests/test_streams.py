"""Streams: what may be heard when, and where the seconds end."""

import unittest

import torch

from microformer_train.streams import FRAMES, Composer, join

LABELS = torch.tensor([1, 10, 11, 2, 3, 11])  # two streams of three seconds; ten keywords, other words, silence


def compose(stride: int):
    noise = torch.randint(200, 800, (10, FRAMES, 40))
    return Composer(3, stride, 12, noise, seed=1).compose(torch.randint(200, 800, (6, FRAMES, 40)), LABELS)


class Streams(unittest.TestCase):
    def test_a_keyword_is_possible_while_it_is_in_the_pool(self):
        for stride in (2, 4):
            batch = compose(stride)
            possible, ends = batch.possible, [end // stride for end in batch.ends]
            self.assertTrue(possible[0, : ends[0], 1].all())
            self.assertFalse(possible[0, ends[1] + 1 :, 1].any(), "a second later all of it has left the pool")
            self.assertFalse(possible[1, : ends[0] - 1 - 12 // stride, 3].any(), "it has not begun")
            self.assertTrue(possible[1, ends[1] - 1, 3])
            self.assertFalse(possible[:, :, 5].any(), "nobody said it")
            self.assertTrue(possible[:, :, 10:].all(), "other words and silence are always possible")

    def test_tokens_fit_frames(self):
        for stride in (2, 4):
            batch = compose(stride)
            self.assertEqual(batch.possible.shape[1], batch.frames.shape[1] // stride)
            self.assertLessEqual(max(batch.ends), batch.possible.shape[1] * stride)

    def test_seconds_follow_each_other(self):
        clips = torch.arange(2 * FRAMES).view(1, 2, FRAMES, 1)
        stream = join(clips)[0, :, 0]
        self.assertEqual(stream[:FRAMES].tolist(), list(range(FRAMES)))
        self.assertEqual(stream[100 : 100 + FRAMES].tolist(), list(range(FRAMES, 2 * FRAMES)))


if __name__ == "__main__":
    unittest.main()
