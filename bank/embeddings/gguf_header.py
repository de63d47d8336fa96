"""What a GGUF file says of itself, read without llama.cpp: its architecture, width, context, tensors.

The header is a row of typed key-value pairs and the tensors' names and places, little-endian, at the start of the
file (GGUF versions 2 and 3). Reading it takes some hundredths of a second where loading the model takes half a second
or more, and it finds out a file that llama.cpp had better not be given: text, a web page, half a download.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from .protocol import EmbeddingFault

MAGIC = b"GGUF"
VERSIONS = (2, 3)
#: Type code → struct format of a number.
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
FIRST_READ, LONGEST_HEADER = 16 << 20, 256 << 20
SAMPLE = 1 << 20
AGAIN = "download the file again"
Value = str | int | float | bool


class GgufHeader(NamedTuple):
    """``metadata``: keys with a single value; ``lengths``: number of elements by keys of arrays; ``size``: bytes."""

    metadata: Mapping[str, Value]
    lengths: Mapping[str, int]
    tensors: frozenset[str]
    size: int

    @property
    def architecture(self) -> str:
        return self.text("general.architecture")

    @property
    def vocabulary(self) -> int:
        """Number of tokens, 0 where the file has no list of them."""
        return self.lengths.get("tokenizer.ggml.tokens", 0)

    def text(self, key: str) -> str:
        value = self.metadata.get(key)
        return value if isinstance(value, str) else ""

    def number(self, key: str) -> int | None:
        """The whole number under ``<architecture>.<key>``."""
        value = self.metadata.get(f"{self.architecture}.{key}")
        return value if isinstance(value, int) else None


def read_header(path: Path) -> GgufHeader:
    """The header of a GGUF file. Raises ``EmbeddingFault`` (``missing``) for anything else."""
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            data = file.read(FIRST_READ)
            while True:
                try:
                    return _parse(data, size, path)
                except (struct.error, IndexError):
                    more = file.read(LONGEST_HEADER) if len(data) < LONGEST_HEADER else b""
                    if not more:
                        raise _fault("the GGUF file is cut short", path) from None
                    data += more
    except OSError as error:
        what = f"the model file cannot be read: {error.strerror or type(error).__name__}"
        raise EmbeddingFault(what, str(path), "check its permissions", kind="missing", lasting=True) from None


def content_mark(path: Path, size: int) -> str:
    """Sixteen hexadecimal digits for the first and the last MiB of a file: another model of equal size has others."""
    mark = blake2b(digest_size=8)
    try:
        with path.open("rb") as file:
            mark.update(file.read(SAMPLE))
            file.seek(max(0, size - SAMPLE))
            mark.update(file.read(SAMPLE))
    except OSError as error:
        what = f"the model file cannot be read: {error.strerror or type(error).__name__}"
        raise EmbeddingFault(what, str(path), "check its permissions", kind="missing", lasting=True) from None
    return mark.hexdigest()


def _fault(what: str, path: Path, remedy: str = AGAIN) -> EmbeddingFault:
    return EmbeddingFault(what, str(path), remedy, kind="missing", lasting=True)


def _parse(data: bytes, size: int, path: Path) -> GgufHeader:
    """Raises ``struct.error`` or ``IndexError`` where ``data`` ends too soon."""
    if data[:4] != MAGIC:
        raise _fault("the model is not a GGUF file", path, "set local.modelPath to a .gguf file")
    version, tensor_count, pair_count = struct.unpack_from("<IQQ", data, 4)
    if version not in VERSIONS:
        raise _fault(f"GGUF version {version} is not read", path, "convert the model again")
    if max(tensor_count, pair_count) > size:
        raise _fault("the GGUF file is damaged", path)
    at = 24
    metadata: dict[str, Value] = {}
    lengths: dict[str, int] = {}
    for _ in range(pair_count):
        key, at = _string(data, at)
        (kind,) = struct.unpack_from("<I", data, at)
        at += 4
        if kind == ARRAY:
            (element, lengths[key]) = struct.unpack_from("<IQ", data, at)
            at = _skip(data, at + 12, element, lengths[key], path)
        elif kind == STRING:
            metadata[key], at = _string(data, at)
        elif kind in NUMBERS:
            (metadata[key],) = struct.unpack_from("<" + NUMBERS[kind], data, at)
            at += struct.calcsize(NUMBERS[kind])
        else:
            raise _fault("the GGUF file is damaged", path)
    tensors, furthest = set(), 0
    for _ in range(tensor_count):
        name, at = _string(data, at)
        tensors.add(name)
        (axes,) = struct.unpack_from("<I", data, at)
        if axes > 8:
            raise _fault("the GGUF file is damaged", path)
        (offset,) = struct.unpack_from("<Q", data, at + 8 + 8 * axes)
        furthest, at = max(furthest, offset), at + 16 + 8 * axes
    if at + furthest >= size and tensors:
        raise _fault("the GGUF file is cut short", path)
    return GgufHeader(metadata, lengths, frozenset(tensors), size)


def _string(data: bytes, at: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<Q", data, at)
    end = at + 8 + length
    if end > len(data):
        raise IndexError(end)
    return data[at + 8 : end].decode("utf-8", "replace"), end


def _skip(data: bytes, at: int, element: int, count: int, path: Path) -> int:
    """The place after an array of ``count`` elements."""
    if element in NUMBERS:
        at += count * struct.calcsize(NUMBERS[element])
    elif element == STRING:
        length = struct.Struct("<Q").unpack_from
        for _ in range(count):
            at += 8 + length(data, at)[0]
    else:
        raise _fault("the GGUF file is damaged", path)
    if at > len(data):
        raise IndexError(at)
    return at
