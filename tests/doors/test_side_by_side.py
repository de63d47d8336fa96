"""Two processes on one workspace, one writing and one reading, for some seconds; and many questions in one process.

``benchmarks/resident.py`` takes as long as it is told to.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from openclaw_memory import Memory

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def resident() -> ModuleType:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location("resident", BENCHMARKS / "resident.py")
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        # The writer is a process of its own, which finds the module by its name.
        sys.modules["resident"] = module
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(BENCHMARKS))
        sys.modules.pop("resident", None)


def test_a_reader_sees_all_of_what_a_writer_wrote(resident: ModuleType, workspace: Path) -> None:
    told = resident.side_by_side(workspace, 5.0)
    assert (told["lost"], told["faults"]) == (0, [])
    assert told["reads"] > 3
    assert told["batches"] > 3


@pytest.mark.skipif(sys.platform != "linux", reason="the memory held is read from /proc")
def test_asking_on_does_not_take_more_memory(resident: ModuleType, workspace: Path) -> None:
    questions = ["What does Mara prefer?", "cargo bike", "ZX-4417", "who lives in Flensburg?"]
    with Memory(str(workspace)) as memory:
        for _ in range(40):
            for question in questions:
                memory.recall(question)
        before = resident.resident_bytes()
        for _ in range(60):
            for question in questions:
                memory.recall(question)
        assert resident.resident_bytes() < 1.05 * before
