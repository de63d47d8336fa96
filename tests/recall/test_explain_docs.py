"""Every signal that ``--explain`` can show is explained to the reader."""

from pathlib import Path

import pytest
from openclaw_memory.recall.signals import WEIGHTS

TEXT = (Path(__file__).parents[2] / "docs" / "json.md").read_text("utf-8")


@pytest.mark.parametrize("name", [*WEIGHTS, "repeat"])
def test_it_is_in_the_docs(name: str) -> None:
    assert f"`{name}` (" in TEXT
