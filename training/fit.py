"""The table fitted to the teacher: rows whose sum points where the teacher's sentence points.

Four terms are made small together, for texts drawn at random: the angle between sum and sentence; the difference
between how the batch's sums and how its sentences lie to each other; the angle between each row and the teacher's view
of the token alone, for tokens that the texts seldom have; and a contrast: a term is to be nearer to its own definition
than to others.
How much a token weighs is learned with it: the length of its row.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

Tokens = Sequence[int]
Floats = NDArray[np.float32]


class Recipe(NamedTuple):
    """How much each term counts (``angle`` is 1), and how it is fitted. ``warmth``: what similarities are divided by
    before they are compared; ``left_out``: share of a text's tokens that are dropped at random."""

    rounds: int = 6
    rate: float = 0.002
    batch: int = 1024
    relations: float = 0.5
    tokens: float = 0.25
    contrast: float = 0.05
    warmth: float = 0.05
    left_out: float = 0.0
    seed: int = 0


class Pairs(NamedTuple):
    """Texts that mean the same, side by side."""

    left: Sequence[Tokens]
    right: Sequence[Tokens]


def start(alone: Floats, first: int) -> Floats:
    """The table before fitting: ``alone`` (tokens x d, centred), weighted by a smooth inverse frequency.

    Tokens stand in the vocabulary by falling frequency from ``first`` on: Zipf's law gives the shares (SIF: Arora et
    al. 2017, a = 1e-4).
    """
    share = 1 / np.maximum(np.arange(len(alone)) - first + 1, 1.0)
    table = alone * (1e-4 / (1e-4 + share / share.sum()))[:, None]
    scaled: Floats = (table / np.sqrt((table**2).sum(1).mean())).astype(np.float32)
    return scaled


def fit(
    table: Floats, alone: Floats, texts: Sequence[Tokens], sentences: Floats, pairs: Pairs, recipe: Recipe
) -> Floats:
    """The fitted table. ``alone``: the teacher's view of each token (rows of zeros take no part); ``sentences``: its
    view of each text."""
    torch.manual_seed(recipe.seed)
    chance = np.random.default_rng(recipe.seed)
    rows = torch.nn.Parameter(torch.tensor(table))
    alone_at = functional.normalize(torch.tensor(alone), dim=1)
    sentences_at = functional.normalize(torch.tensor(sentences), dim=1)
    known = np.flatnonzero(np.abs(alone).sum(1))
    batches = len(texts) // recipe.batch
    optimizer = torch.optim.Adam([rows], lr=recipe.rate, betas=(0.9, 0.99), fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, recipe.rate, total_steps=recipe.rounds * batches + 1, pct_start=0.1
    )
    for turn in range(recipe.rounds):
        order, total = chance.permutation(len(texts)), 0.0
        for batch in range(batches):
            chosen = order[batch * recipe.batch : (batch + 1) * recipe.batch]
            sums = _sums(rows, [_thinned(texts[n], recipe.left_out, chance) for n in chosen])
            aims = sentences_at[chosen]
            loss = (1 - (sums * aims).sum(1)).mean()
            loss = loss + recipe.relations * _relations(sums, aims, recipe.warmth)
            some = chance.choice(known, 512)
            own = functional.normalize(rows[some], dim=1)
            loss = loss + recipe.tokens * (1 - (own * alone_at[some]).sum(1)).mean()
            if recipe.contrast:
                drawn = chance.integers(0, len(pairs.left), 512)
                left, right = (_sums(rows, [side[n] for n in drawn]) for side in pairs)
                loss = loss + recipe.contrast * _contrast(left, right, recipe.warmth)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            total += float(loss)
        print(f"round {turn + 1} of {recipe.rounds}: loss {total / batches:.4f}", flush=True)
    fitted: Floats = rows.detach().numpy()
    return fitted


def _sums(rows: Tensor, texts: Sequence[Tokens]) -> Tensor:
    """The sum of each text's rows, of length 1."""
    numbers = torch.from_numpy(np.concatenate([np.asarray(text, np.int64) for text in texts]))
    starts = torch.from_numpy(np.cumsum([0, *map(len, texts[:-1])]))
    return functional.normalize(functional.embedding_bag(numbers, rows, starts, mode="sum"), dim=1)


def _thinned(text: Tokens, left_out: float, chance: np.random.Generator) -> Tokens:
    if not left_out or len(text) < 4:
        return text
    return [token for token, drawn in zip(text, chance.random(len(text)), strict=True) if drawn >= left_out] or text


def _relations(sums: Tensor, aims: Tensor, warmth: float) -> Tensor:
    """How much of the teacher's ordering of the others around each text is lost (Kullback-Leibler, per text)."""
    itself = torch.eye(len(sums), dtype=torch.bool)
    found, wanted = (
        functional.log_softmax((side @ side.T / warmth).masked_fill(itself, -1e4), 1) for side in (sums, aims)
    )
    return functional.kl_div(found, wanted, log_target=True, reduction="batchmean")


def _contrast(left: Tensor, right: Tensor, warmth: float) -> Tensor:
    """Cross-entropy of finding each one's partner among all of the batch, both ways."""
    likeness, own = left @ right.T / warmth, torch.arange(len(left))
    return (functional.cross_entropy(likeness, own) + functional.cross_entropy(likeness.T, own)) / 2
