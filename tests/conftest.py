"""What holds for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from openclaw_memory.bank import background
from openclaw_memory.bank.transcripts import background as transcripts_background
from openclaw_memory.recall.qmd import background as qmd_background


@pytest.fixture(scope="session", autouse=True)
def _no_process_outlives_the_tests() -> Iterator[None]:
    """What the memory leaves to processes of their own ends with the tests that asked for it."""
    yield
    for module in (background, transcripts_background, qmd_background):
        for process in module._started.values():
            process.kill()
            process.wait()
