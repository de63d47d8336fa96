"""Train the judges and write ``reflect/verdicts/model.npz``, or measure them on authors that were left out.

    python fit.py [--seeds 3] [--epochs 10] [--leave-out 1,5] [--out FILE]

Needs torch; what it writes needs numpy alone.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from rows import LABELS, STRENGTHS, claims, read_rows
from student import Student, predict, prepared, train
from variations import variations

OUT = Path(__file__).parent.parent.parent / "reflect" / "verdicts" / "model.npz"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--leave-out", default="")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--scores", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(1)
    left_out = set(filter(None, given.leave_out.split(",")))
    gold, scale, kept, rows = {}, {}, {}, {}
    for task, labels in LABELS.items():
        rows[task] = read_rows(task)
        kept[task] = [row for row in rows[task] if row["author"] not in left_out]
        plain = list(variations(kept[task])) if task == "stance" else []
        # Plain variations weigh half: every other one is drawn.
        kept[task] += plain[:: 1 + (len(plain) > len(kept[task]))]
        items, mean, spread = prepared([claims(task, row) for row in kept[task]])
        gold[task] = (items, np.array([labels.index(row["label"]) for row in kept[task]]))
        scale[task] = (mean, spread)
    nets = [train(gold, {}, seed=seed, epochs=given.epochs) for seed in range(given.seeds)]
    if left_out:
        measure(nets, rows, scale, left_out, given.scores)
        return
    strength = fit_strength(gold["stance"][0], kept["stance"])
    write(given.out, nets, scale, strength)
    print(f"{given.out}: {given.out.stat().st_size:,} bytes")


def measure(nets, rows, scale, left_out, scores) -> None:
    """Accuracy, false contradictions or supersessions, and swapped directions, by author."""
    for task, labels in LABELS.items():
        tested = [row for row in rows[task] if row["author"] in left_out]
        found = predict(nets, prepared([claims(task, row) for row in tested], *scale[task])[0], task)
        said, truth = found.argmax(1), np.array([labels.index(row["label"]) for row in tested])
        if scores:
            np.savez(
                scores.with_name(f"{scores.stem}-{task}.npz"),
                found=found,
                truth=truth,
                author=[r["author"] for r in tested],
            )
        for author in sorted(left_out):
            own = np.array([row["author"] == author for row in tested])
            p, y = said[own], truth[own]
            change = 2 if task == "stance" else 1
            false = ((p == change) & (y != change)).mean()
            line = f"{task} {author}: accuracy {(p == y).mean():.3f}, false {labels[change]} {false:.3f}"
            if task == "stance":
                of_neutral, swapped = ((p == 2) & (y == 0)).mean(), ((p + y == 3) & (p * y > 0)).mean()
                line += f" (of neutral {of_neutral:.3f}), swapped {swapped:.3f}"
            print(line)


def fit_strength(items, rows) -> tuple[np.ndarray, np.ndarray]:
    """A linear model of how strong evidence is, on the numbers of the pair alone: weights (classes x numbers), bias."""
    told = [
        (item[3], STRENGTHS.index(row["strength"])) for item, row in zip(items, rows, strict=True) if row["strength"]
    ]
    x = torch.from_numpy(np.array([row for row, _ in told]))
    y = torch.tensor([label for _, label in told])
    layer = torch.nn.Linear(x.shape[1], len(STRENGTHS))
    optimiser = torch.optim.AdamW(layer.parameters(), lr=0.02, weight_decay=0.05)
    for _ in range(300):
        loss = torch.nn.functional.cross_entropy(layer(x), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return layer.weight.detach().numpy(), layer.bias.detach().numpy()


def write(path: Path, nets: list[Student], scale, strength) -> None:
    """All numbers in 16 bits, in one compressed file."""
    arrays = {}
    for number, net in enumerate(nets):
        for name, value in net.state_dict().items():
            arrays[f"{number}.{name}"] = value.numpy().astype(np.float16)
    for task, (mean, spread) in scale.items():
        arrays[f"mean.{task}"], arrays[f"spread.{task}"] = mean.astype(np.float32), spread.astype(np.float32)
    arrays["strength.weight"], arrays["strength.bias"] = (part.astype(np.float32) for part in strength)
    np.savez_compressed(path, **arrays)


if __name__ == "__main__":
    main()
