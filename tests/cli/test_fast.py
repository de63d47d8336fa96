"""The fast way into recall, search and get takes a command line as the full one does, or not at all."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from typer.main import get_command

from openclaw_memory import answers, fast
from openclaw_memory.commands import reading
from openclaw_memory.commands.application import application

NAMES = ("recall", "search", "get")
FUNCTIONS = {name: getattr(answers, f"{name}_command") for name in NAMES}
VALUES = [
    "",
    " ",
    "5",
    "-5",
    "+5",
    "05",
    " 5 ",
    "5_0",
    "5.0",
    ".5",
    "1e2",
    "nan",
    "inf",
    "٣",
    "0x5",
    "true",
    "-",
    "--",
    "a=b",
]
VALUES += [
    "30d",
    "a question?",
    "王芳",
    "memory.md#L3",
    "x" * 50,
    "\udcff",
    "-x",
    "--help",
    "-h",
    "5" * 40,
    "--k",
    "é\n",
]


@pytest.fixture(scope="module")
def typed():
    """``typed(argv)``: the function that the Typer application calls and its keyword arguments; None for wrong
    usage."""
    seen: list[tuple[str, dict[str, Any]]] = []

    def recorder(name: str):
        def record(*_: Any, **given: Any) -> int:
            seen.append((name, given))
            return 0

        return record

    with pytest.MonkeyPatch.context() as patch:
        for name in NAMES:
            patch.setattr(reading, f"{name}_command", recorder(name))
        command = get_command(application())

        def call(arguments: list[str]) -> tuple[str, dict[str, Any]] | None:
            seen.clear()
            try:
                command.main(args=list(arguments), prog_name="test", standalone_mode=False)
            except Exception:
                return None
            return seen[0] if seen else None

        yield call


def complete(name: str, given: dict[str, Any]) -> dict[str, str]:
    """All arguments of a command's function, the defaults filled in; as text, so that nan equals nan."""
    bound = inspect.signature(FUNCTIONS[name]).bind(**given)
    bound.apply_defaults()
    return {key: repr(value) for key, value in bound.arguments.items()}


def words() -> st.SearchStrategy[list[str]]:
    values = st.sampled_from(VALUES) | st.text(max_size=6) | st.integers(-9, 999).map(str) | st.floats().map(str)

    def of(name: str) -> st.SearchStrategy[list[str]]:
        options = st.sampled_from([*fast.OPTIONS[name], "--nonsense", "--sinc", "-K", "--no-json"])
        one = st.one_of(
            st.tuples(options, values).map(list),
            st.tuples(options, values).map(lambda pair: ["=".join(pair)]),
            st.tuples(options, values).map(lambda pair: ["".join(pair)]),
            options.map(lambda option: [option]),
            values.map(lambda value: [value]),
        )
        return st.lists(one, max_size=6).map(lambda parts: [name, *(word for part in parts for word in part)])

    return st.sampled_from(NAMES).flatmap(of)


@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words())
@example(["recall", "x", "-k", "٣"])
@example(["recall", "x", "-k", "5_0"])
@example(["recall", "x", "-k", " 5 "])
@example(["recall", "x", "--min-confidence", "1_0.5"])
@example(["recall", "x", "--min-confidence", "nan"])
@example(["recall", "x", "--workspace", ""])
@example(["recall", "x", "--workspace="])
@example(["recall", "x", "-k5"])
@example(["recall", "x", "-k=5"])
@example(["recall", "x", "--json="])
@example(["recall", "--", "-x"])
@example(["recall", "-"])
@example(["search", "x", "--query", "y"])
@example(["search", "", "--query", "y"])
@example(["get", "x", "--from=-3"])
@example(["get", "x", "--lines", "9" * 5000])
def test_taken_alike_or_not_at_all(typed, argv: list[str]) -> None:
    plain = fast.parse(argv)
    if plain is not None:
        full = typed(argv)
        assert full is not None, "taken, but wrong usage"
        assert (plain[0], complete(*plain)) == (full[0], complete(*full))


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_known(name: str) -> None:
    parameters = get_command(application()).commands[name].params  # type: ignore[attr-defined]
    real = {option: parameter.name for parameter in parameters for option in parameter.opts if option[0] == "-"}
    assert {option: target for option, (target, _) in fast.OPTIONS[name].items()} == real
    assert fast.ARGUMENT[name] in {parameter.name for parameter in parameters}


@pytest.mark.parametrize(
    "argv",
    [
        ["recall", "what does Peter prefer?"],
        ["recall", "x", "--since", "30d", "--k=25", "--budget", "1200", "--json", "--now", "2025-12-06", "--explain"],
        ["recall", "-k", "3", "x", "--kind", "opinion", "--workspace", "/w", "--agent", "ops", "--no-sync", "--debug"],
        ["search", "x", "--max-results", "3", "--min-score", "0.25", "--corpus", "all", "--json"],
        ["search", "--query", "x"],
        ["get", "memory/2025-11-27.md#L12-L14", "--json"],
        ["get", "memory.md", "--from", "5", "--lines", "10"],
    ],
    ids=" ".join,
)
def test_what_agents_write_is_taken(typed, argv: list[str]) -> None:
    plain, full = fast.parse(argv), typed(argv)
    assert plain is not None
    assert full is not None
    assert (plain[0], complete(*plain)) == (full[0], complete(*full))


@pytest.mark.parametrize(
    "argv", [[], ["--help"], ["recall"], ["recall", "--help"], ["recall", "a", "b"], ["status"], ["recal", "x"]]
)
def test_what_is_not_plain_is_left(argv: list[str]) -> None:
    assert fast.parse(argv) is None
