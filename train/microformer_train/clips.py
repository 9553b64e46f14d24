"""The cache in, rows of clips out: what an epoch of training hears, and which class each word is."""

from pathlib import Path

import torch
from torch import Tensor

from . import features
from .audio import BABBLE, SILENCE

KEYWORDS = "yes,no,up,down,left,right,on,off,stop,go"
UNKNOWN = "_unknown_"


class Clips:
    """All parts of the cache in memory, the rows of each kind, and what an epoch draws from them."""

    # Rows an epoch draws of each kind, besides every clip of a keyword once.
    DRAWS = {UNKNOWN: 4500, SILENCE: 3000, BABBLE: 400, "synthetic keywords": 500, "synthetic words": 1000}

    def __init__(self, cache: Path, keywords: list[str], synthetic: bool, seed: int):
        self.labels = [*keywords, UNKNOWN, SILENCE]
        self.keywords = keywords
        self.random = torch.Generator().manual_seed(seed)
        copies = [features.read(part) for part in sorted(cache.glob("copy*.csv"))]
        self.copies, self.clips, self.signal = len(copies), len(copies[0][1]), copies[0][2]
        words = copies[0][1]
        for keyword in set(keywords) - set(words):
            raise SystemExit(f"no clip of {keyword!r} in {cache}; it has {', '.join(sorted(set(words)))}")
        spoken = torch.tensor([word in keywords for word in words])
        self.spoken = spoken.nonzero()[:, 0]
        self.rows = {UNKNOWN: (~spoken).nonzero()[:, 0]}
        parts = list(copies)
        words = [word for part in parts for word in part[1]]
        for name in ("silence", "babble", *(["synthetic"] if synthetic else [])):
            if (cache / f"{name}.csv").exists():
                parts.append(features.read(cache / f"{name}.csv"))
                first, part_words = len(words), parts[-1][1]
                words += part_words
                rows = torch.arange(first, len(words))
                if name == "synthetic":
                    spoken = torch.tensor([word in keywords for word in part_words])
                    self.rows["synthetic keywords"], self.rows["synthetic words"] = rows[spoken], rows[~spoken]
                else:
                    self.rows[part_words[0]] = rows
        self.features = torch.cat([part[0] for part in parts])
        self.classes = classify(words, self.labels)
        self.noise = self.features[torch.cat((self.rows[SILENCE], self.rows[BABBLE]))]

    def draw_epoch(self, clean: float) -> Tensor:
        """Row numbers of one epoch, shuffled; at least the share `clean` of the clips unaltered."""
        drawn = [self.spoken]
        for kind, rows in self.rows.items():
            drawn.append(rows[torch.randperm(len(rows), generator=self.random)[: self.DRAWS[kind]]])
        drawn = torch.cat(drawn)
        copy = torch.randint(self.copies, drawn.shape, generator=self.random)
        copy = copy.where(torch.rand(copy.shape, generator=self.random) >= clean, 0)
        drawn = torch.where(drawn < self.clips, drawn + copy * self.clips, drawn)
        return drawn[torch.randperm(len(drawn), generator=self.random)]


def classify(words: list[str], labels: list[str]) -> Tensor:
    unknown = labels.index(UNKNOWN)
    return torch.tensor([labels.index(word) if word in labels else unknown for word in words])
