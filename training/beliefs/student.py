"""The small network that judges pairs: words of both sides aligned with each other, and the cascade's numbers beside.

Decomposable attention (Parikh et al. 2016, arXiv 1606.01933) over the built-in model's word vectors, after a window of
three words; what is pooled goes with ``features.pair_features`` through one hidden layer. Two heads: stance and
succession. The same arithmetic, in numpy, is ``reflect/verdicts/learned.py``.
"""

from __future__ import annotations

import numpy as np
import torch
from openclaw_memory.reflect.verdicts.features import FEATURES, pair_features, pair_words
from torch import nn
from torch.nn import functional

WIDTH, HIDDEN, VECTOR = 96, 96, 256
CLASSES = {"stance": 3, "succession": 4}


class Student(nn.Module):
    """Logits of a batch for one of the two tasks."""

    def __init__(self) -> None:
        super().__init__()
        self.window = nn.Linear(3 * VECTOR, WIDTH)
        self.compare = nn.Linear(4 * WIDTH + 1, WIDTH)
        self.hidden = nn.ModuleDict({task: nn.Linear(4 * WIDTH + len(FEATURES), HIDDEN) for task in CLASSES})
        self.out = nn.ModuleDict({task: nn.Linear(HIDDEN, count) for task, count in CLASSES.items()})
        self.drop_words, self.drop = nn.Dropout(0.25), nn.Dropout(0.35)

    def forward(self, batch: dict[str, torch.Tensor], task: str) -> torch.Tensor:
        a, b = self._encoded(batch["a"]), self._encoded(batch["b"])
        shut = torch.where(batch["mask_a"][:, :, None] & batch["mask_b"][:, None, :], 0.0, -1e4)
        scores = a @ b.transpose(1, 2) / WIDTH**0.5 + 3.0 * batch["same"] + shut
        to_b, to_a = scores.softmax(2), scores.transpose(1, 2).softmax(2)
        pooled = [
            *self._compared(a, to_b @ b, batch["same"].amax(2), batch["mask_a"]),
            *self._compared(b, to_a @ a, batch["same"].amax(1), batch["mask_b"]),
        ]
        x = torch.cat([*pooled, batch["features"]], 1)
        return self.out[task](self.drop(torch.relu(self.hidden[task](self.drop(x)))))

    def _encoded(self, words: torch.Tensor) -> torch.Tensor:
        words = self.drop_words(words)
        before = functional.pad(words[:, :-1], (0, 0, 1, 0))
        after = functional.pad(words[:, 1:], (0, 0, 0, 1))
        return torch.relu(self.window(torch.cat([before, words, after], 2)))

    def _compared(self, own: torch.Tensor, other: torch.Tensor, same: torch.Tensor, mask: torch.Tensor):
        x = torch.cat([own, other, own * other, own - other, same[..., None]], 2)
        x = torch.relu(self.compare(self.drop(x))) * mask[..., None]
        return x.sum(1) / mask.sum(1, keepdim=True).clamp(min=1), x.amax(1)


def prepared(pairs, mean=None, spread=None):
    """Pairs of claims as arrays, and the mean and spread that features were brought to one scale with."""
    rows = np.array([pair_features(*pair) for pair in pairs], dtype=np.float32)
    if mean is None:
        mean, spread = rows.mean(0), rows.std(0) + 1e-3
    rows = np.clip((rows - mean) / spread, -4, 4)
    return [(*pair_words(*pair), row) for pair, row in zip(pairs, rows, strict=True)], mean, spread


def batch_of(items) -> dict[str, torch.Tensor]:
    """Arrays of one length, from ``prepared`` ones."""
    longest_a, longest_b = max(len(i[0]) for i in items), max(len(i[1]) for i in items)
    a = np.zeros((len(items), longest_a, VECTOR), np.float32)
    b = np.zeros((len(items), longest_b, VECTOR), np.float32)
    same = np.zeros((len(items), longest_a, longest_b), np.float32)
    for n, (left, right, shared, _) in enumerate(items):
        a[n, : len(left)], b[n, : len(right)], same[n, : len(left), : len(right)] = left, right, shared
    lengths_a, lengths_b = (torch.tensor([len(i[k]) for i in items]) for k in (0, 1))
    return {
        "a": torch.from_numpy(a),
        "b": torch.from_numpy(b),
        "same": torch.from_numpy(same),
        "mask_a": torch.arange(longest_a) < lengths_a[:, None],
        "mask_b": torch.arange(longest_b) < lengths_b[:, None],
        "features": torch.from_numpy(np.array([i[3] for i in items])),
    }


def train(gold, soft, *, seed: int, epochs: int = 14, rate: float = 2e-3, trust: float = 1.0) -> Student:
    """``gold``: task to (items, labels, weights); ``soft``: task to (items, a teacher's probabilities)."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    net = Student()
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=0.02)
    steps = []
    for task in gold:
        steps += [(task, "gold")] * (len(gold[task][0]) // 32) * 2
        steps += [(task, "soft")] * (len(soft[task][0]) // 64 if task in soft else 0)
    total = epochs * len(steps)
    done = 0
    for _ in range(epochs):
        random.shuffle(steps)
        net.train()
        for task, kind in steps:
            for group in optimiser.param_groups:
                group["lr"] = rate * min(1.0, done / (0.05 * total)) * max(0.02, 1 - done / total)
            done += 1
            items, target = (gold if kind == "gold" else soft)[task]
            chosen = random.integers(0, len(items), 32 if kind == "gold" else 64)
            logits = net(batch_of([items[n] for n in chosen]), task)
            if kind == "gold":
                loss = functional.cross_entropy(logits, torch.tensor(target[chosen]), label_smoothing=0.05)
            else:
                goal = torch.tensor(target[chosen], dtype=torch.float32)
                loss = trust * functional.kl_div(logits.log_softmax(1), goal, reduction="batchmean")
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    net.eval()
    return net


def predict(nets, items, task: str) -> np.ndarray:
    """The mean of several networks' probabilities (items x classes)."""
    found = []
    with torch.inference_mode():
        for start in range(0, len(items), 256):
            batch = batch_of(items[start : start + 256])
            found.append(np.mean([net(batch, task).softmax(1).numpy() for net in nets], axis=0))
    return np.concatenate(found)
