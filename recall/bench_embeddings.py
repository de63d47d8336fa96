"""Providers of embeddings compared on somebody's own workspace: how long they take, how large, how good.

Everything is done on a copy (``bench_sample``) with an index of its own; each provider in turn fills the copy's space
for models and is asked from there as recall asks it. What the workspace itself holds is only read.
"""

import os
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime
from statistics import fmean, median
from typing import NamedTuple

from ..bank import spaces, static_space
from ..bank.driver import Connection
from ..bank.embeddings.choice import Choice, choose
from ..bank.embeddings.models import Models
from ..bank.embeddings.protocol import Embedder, EmbeddingFault
from ..bank.embeddings.services import REMOTE, canonical, is_known, meant
from ..bank.embeddings.settings import BatchSettings, EmbeddingSettings, RemoteSettings
from ..bank.errors import MemoryFault, UsageFault, one_line
from ..bank.index import open_to_write, transaction
from ..bank.model_space import fill
from ..bank.sync import Progress, sync
from ..bank.vectors import Query, quantised
from ..bank.vectors import width as vector_width
from ..bank.workspace import Workspace
from . import bench_questions
from .bench_questions import Asked, Quality
from .bench_sample import Extent, copy_sample, read_files, without_models

#: Passages that are tried on, where nothing else is asked for.
DEFAULT_SAMPLE = 500
#: Texts that each provider is timed with and compared by, and how many of the nearest passages are compared.
PROBES, NEAREST = 20, 10
#: Why it is not tried.
_NOT_TRIED = {
    "auto": "it stands for whichever is found",
    "none": "it embeds nothing; what words alone find is measured beside all others when there are --questions",
}


class Wish(NamedTuple):
    """A provider to try. ``name``: what it is called in the answer; ``settings``: those it is made with."""

    name: str
    settings: EmbeddingSettings


class Tried(NamedTuple):
    """What came of one provider. ``fault``: one line, "" where all went well; then the rest is known.

    ``load``: seconds until it has answered for the first time; ``query``: median seconds for a question after that;
    ``pace``: passages embedded and written in a second; ``size``: bytes that the index holds of a passage's vector.
    ``agreement``: the mean share of the ten nearest passages that it has in common with each other provider.
    """

    name: str
    model: str = ""
    fault: str = ""
    dimensions: int = 0
    load: float = 0.0
    query: float = 0.0
    pace: float = 0.0
    size: int = 0
    nearest: tuple[frozenset[int], ...] = ()
    agreement: tuple[tuple[str, float], ...] = ()
    ranks: tuple[int, ...] = ()
    quality: Quality | None = None


class Comparison(NamedTuple):
    """``whole``, ``sample``: how large the workspace is, and what of it was tried on. ``probes``: how many texts were
    asked; those of the questions, or of passages where there are none. ``missing``: questions of which no expected line
    is in a passage. ``words``: quality by words alone. ``best``: a name, "" where nothing tells; ``why``: a line."""

    whole: Extent
    sample: Extent
    probes: int
    asked: int
    missing: int
    tried: list[Tried]
    words: Quality | None
    best: str
    why: str


def wishes(models: Models, names: Sequence[str], paths: Sequence[str]) -> list[Wish]:
    """Which providers to try: the named ones and each model file, after the built-in model; where none is named the
    configured one too, and a local model that is on this machine.

    Raises ``UsageFault`` for a name that is no provider's.
    """
    settings = models.settings
    own = settings.provider
    if own == "auto":
        chosen = choose(settings._replace(enabled=True), os.environ, models.agent).embedder
        own = chosen.provider if chosen else "none"
    wanted = [canonical(name) for name in names]
    for given, name in zip(names, wanted, strict=True):
        if name in _NOT_TRIED:
            raise UsageFault(f"--provider {given!r}: {_NOT_TRIED[name]}", remedy="name the providers to compare")
        if not is_known(name):
            raise UsageFault(f"--provider {given!r}: no such provider", remedy=meant(name, _NOT_TRIED))
    if not wanted:
        wanted = ["static", *([own] if own != "none" else [])]
        if not paths and _made(_settings_for("local", own, models), models).embedder:
            wanted.append("local")
    found = {name: Wish(name, _settings_for(name, own, models)) for name in wanted}
    for path in paths:
        found.setdefault(path, Wish(path, _settings_for("local", own, models)._replace(model_path=path)))
    return list(found.values())


def _settings_for(name: str, own: str, models: Models) -> EmbeddingSettings:
    """What is configured for ``name``. What stands below ``remote`` is one provider's, and is kept from any other."""
    settings = models.settings._replace(enabled=True, fallback="none")
    if name == own:
        # Answers of batches take hours, and what they take says nothing of the model.
        provider = "auto" if settings.provider == "auto" and name in REMOTE else name
        return settings._replace(provider=provider, remote=settings.remote._replace(batch=BatchSettings()))
    return settings._replace(provider=name, model="", dimensions=None, remote=RemoteSettings())


def _made(settings: EmbeddingSettings, models: Models) -> Choice:
    return choose(settings, os.environ, models.agent)


def compare(
    workspace: Workspace,
    wanted: Sequence[Wish],
    asked: Sequence[Asked] = (),
    *,
    now: datetime,
    most: int = DEFAULT_SAMPLE,
    progress: Progress | None = None,
) -> Comparison:
    """Try providers on at most ``most`` passages (and all files that a question expects its answer in).

    What a provider does is never a fault of the call. Raises ``MemoryFault`` for a workspace without passages.
    """
    files = read_files(workspace, progress)
    whole = Extent(len(files), sum(map(len, files.values())))
    if not whole.passages:
        raise MemoryFault("there is nothing to try models on", workspace.root, "write some notes first")
    with tempfile.TemporaryDirectory(prefix="openclaw-memory-bench-", ignore_cleanup_errors=True) as folder:
        expected = {place.path for one in asked for place in one.expect}
        sample = copy_sample(workspace.root, folder, files, most, expected)
        copy = without_models(Workspace(folder, models=workspace.models))
        sync(copy)
        connection = open_to_write(copy)[0]
        try:
            missing = _missing(connection, asked)
            probes = [(-1, one.question) for one in asked[:PROBES]] or _passages(connection)
            tried = [
                _Trial(copy, connection, wish, workspace.models).run(probes, asked, now, progress) for wish in wanted
            ]
        finally:
            connection.close()
        words = bench_questions.ask(copy, asked, now, "none")[0]
    tried = _with_agreement(tried)
    best, why = _verdict([one for one in tried if not one.fault], words)
    by_words = bench_questions.quality(words) if words else None
    return Comparison(whole, sample, len(probes), len(asked), missing, tried, by_words, best, why)


def _missing(connection: Connection, asked: Sequence[Asked]) -> int:
    """How many questions expect nothing that is there."""
    statement = (
        "SELECT 1 FROM passages p JOIN files f ON f.id = p.file WHERE f.path = ? AND line <= ? AND end_line >= ?"
    )

    def is_there(path: str, first: int, last: int) -> bool:
        return connection.execute(statement, (path, last, first)).fetchone() is not None

    return sum(1 for one in asked if not any(is_there(*place) for place in one.expect))


def _passages(connection: Connection) -> list[tuple[int, str]]:
    """Passages whose texts stand in for questions: whichever have the smallest keys, which are hashes."""
    rows = connection.execute(
        "SELECT id, text FROM passages WHERE length(text) > 20 ORDER BY substr(key, 3), id LIMIT ?", (PROBES,)
    )
    return [(passage, text[:300]) for passage, text in rows]


class _Trial:
    """One provider on the copy."""

    def __init__(self, copy: Workspace, connection: Connection, wish: Wish, models: Models) -> None:
        self.copy, self.connection, self.wish, self.models = copy, connection, wish, models

    def run(
        self, probes: Sequence[tuple[int, str]], asked: Sequence[Asked], now: datetime, progress: Progress | None
    ) -> Tried:
        began = time.perf_counter()
        choice = _made(self.wish.settings, self.models)
        embedder = choice.embedder
        if embedder is None:
            refused = f"the embedding provider {self.wish.settings.provider} cannot be used: "
            fault = (choice.warning or choice.reason).removeprefix(refused)
            return Tried(self.wish.name, fault=fault.removesuffix("; keyword search answers"))
        try:
            embedder.embed_query("first")
            loaded = time.perf_counter() - began
            return self._measured(embedder, probes, asked, now, progress)._replace(load=loaded)
        except MemoryFault as fault:
            return Tried(self.wish.name, embedder.model, one_line(str(fault)))
        finally:
            close = getattr(embedder, "close", None)
            if close:
                close()

    def _measured(
        self,
        embedder: Embedder,
        probes: Sequence[tuple[int, str]],
        asked: Sequence[Asked],
        now: datetime,
        progress: Progress | None,
    ) -> Tried:
        space = spaces.STATIC if embedder.provider == "static" else spaces.MODEL
        settings = EmbeddingSettings(
            fallback="none",
            cache_enabled=False,
            vector_extension=self.models.settings.vector_extension,
            extension_path=self.models.settings.extension_path,
        )
        given = Models(settings, choice=Choice(embedder, embedder.provider, ""))
        workspace = Workspace(self.copy.root, models=given)
        self._empty(space)
        began = time.perf_counter()
        if space == spaces.STATIC:
            self._fill_static()
        else:
            report = fill(workspace, embedder, progress=progress)
            if report.pending:
                raise EmbeddingFault((report.notes or ["not every passage got a vector"])[-1], kind="answer")
        spent = time.perf_counter() - began
        count = int(self.connection.execute("SELECT count(*) FROM passages").fetchone()[0])
        width, size = self.connection.execute(
            f"SELECT length(vector), length(vector) + length(code) FROM {space}_vectors LIMIT 1"
        ).fetchone() or (embedder.dimensions or 0, 0)
        times, nearest = self._asked(embedder, space, probes)
        ranks, fault = bench_questions.ask(workspace, asked, now, embedder.provider)
        return Tried(
            self.wish.name,
            embedder.model,
            one_line(fault),
            dimensions=vector_width(width) if size else width,
            query=median(times) if times else 0.0,
            pace=count / spent,
            size=size,
            nearest=tuple(nearest),
            ranks=tuple(ranks),
            quality=bench_questions.quality(ranks) if ranks and not fault else None,
        )

    def _empty(self, space: str) -> None:
        """Leave nothing of what filled the space before, were it the same model."""
        with transaction(self.connection):
            spaces.clear(self.connection, space)
            if space == spaces.MODEL:
                self.connection.execute("DELETE FROM meta WHERE key = ?", (spaces.FINGERPRINT,))

    def _fill_static(self) -> None:
        """The built-in model's own way into its own space."""
        files = [file for (file,) in self.connection.execute("SELECT id FROM files ORDER BY id").fetchall()]
        with transaction(self.connection):
            static_space.fill(self.connection, files, {})

    def _asked(
        self, embedder: Embedder, space: str, probes: Sequence[tuple[int, str]]
    ) -> tuple[list[float], list[frozenset[int]]]:
        """The seconds that each text takes to be embedded as a question, and the passages nearest to it but itself."""
        times, nearest = [], []
        for passage, text in probes:
            began = time.perf_counter()
            vector = quantised(embedder.embed_query(text))
            times.append(time.perf_counter() - began)
            found = spaces.nearest(self.connection, space, Query(vector), NEAREST + 1) if vector else {}
            nearest.append(frozenset([one for one in found if one != passage][:NEAREST]))
        return times, nearest


def _with_agreement(tried: Sequence[Tried]) -> list[Tried]:
    """Each with the share of its nearest passages that it has in common with each other one."""

    def shared(one: Tried, other: Tried) -> float:
        pairs = [(a, b) for a, b in zip(one.nearest, other.nearest, strict=True) if a or b]
        return fmean(len(a & b) / max(len(a), len(b)) for a, b in pairs) if pairs else 0.0

    whole = [one for one in tried if not one.fault]
    return [
        one
        if one.fault
        else one._replace(agreement=tuple((other.name, shared(one, other)) for other in whole if other is not one))
        for one in tried
    ]


def _verdict(tried: Sequence[Tried], words: Sequence[int]) -> tuple[str, str]:
    if not tried:
        return "", "no provider could be tried"
    quickest = sorted(tried, key=lambda one: one.query)
    if not words:
        pace = max(tried, key=lambda one: one.pace).name
        why = f"{quickest[0].name} is the quickest to ask and {pace} to index" if len(tried) > 1 else ""
        return "", "; ".join(filter(None, (why, "which one finds better only --questions can tell")))
    ranks = {one.name: list(one.ranks) for one in tried}
    return bench_questions.verdict(ranks, [one.name for one in quickest], words)
