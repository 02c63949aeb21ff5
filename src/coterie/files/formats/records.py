"""JSON: a list of objects, or one object per line (JSON Lines). An object is a row, its keys are the columns.

Recognized by content, whatever a file is called: read as CSV, the first record would become the names of columns.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from operator import methodcaller
from typing import TYPE_CHECKING, Any, ClassVar

from coterie.errors import DataError
from coterie.files.formats import FileFormat

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.files.input import Raw
    from coterie.files.output import Sink

_TEXT = r'"(?:[^"\\]|\\.)*"'
# As far as a document that is longer than the sample can be recognized: an object's first key, perhaps in lists.
_OBJECT = re.compile(rf"(?:\[\s*)*\{{\s*(?:{_TEXT}\s*:|\}})")
_LISTS = re.compile(rf"\[\s*\[\s*(?:{_TEXT}|-?[0-9][0-9.eE+-]*|true|false|null)\s*[,\]]")
_BATCH_ROWS = 1 << 16
_SHAPE = "coterie reads a list of objects, or one object per line: each object is a row, its keys are the columns."


class Json(FileFormat):
    """A list of objects."""

    name, title = "json", "JSON"
    endings: ClassVar[tuple[str, ...]] = (".json",)
    packs, released_as = True, ".json"
    keeps = "numbers, text and missing values"
    around = ("[\n", ",\n", "\n]\n")
    """the text before, between and after the objects"""

    @classmethod
    def recognizes(cls, start: bytes) -> bool:
        """Return whether a text with this beginning is JSON of this kind."""
        return _kind(start) == cls.name

    @classmethod
    def read(cls, raw: Raw, *, sheet: str | int | None = None) -> pa.Table:
        """Read all objects. A column of numbers is one of numbers; of numbers and texts, one of texts."""
        import pyarrow as pa

        from coterie.files.csv_in import damaged
        from coterie.files.dialect import decode, encoding_of

        try:
            with raw.open() as stream:
                content = stream.read()
        except (pa.ArrowException, OSError, EOFError):
            raise damaged(raw.name) from None
        # RFC 8259 asks for UTF-8; Windows' shells write UTF-16 all the same.
        found = encoding_of(content)
        encoding = found if found.startswith("utf") else "utf-8"
        records = _records(decode(content, encoding, final=True, name=raw.name).lstrip("\ufeff"), raw.name)
        keys = _keys(records, raw.name)
        return pa.table([_column(records, key, raw.name) for key in keys], names=keys)

    @classmethod
    def write(cls, table: pa.Table, sink: Sink) -> None:
        """Write one object per row; missing values are null."""
        from coterie.files.csv_out import text_bytes

        before, between, after = cls.around
        sink.write(before.encode())
        start = len(between)  # written before every object except the first
        for batch in table.to_batches(max_chunksize=_BATCH_ROWS):
            sink.write(memoryview(text_bytes(_objects(batch, between)))[start:])
            start = 0
        sink.write(after.encode())


class JsonLines(Json):
    """One object per line."""

    name, title = "jsonl", "JSON Lines"
    endings = (".jsonl", ".ndjson")
    released_as = ".jsonl"
    around = ("", "\n", "\n")


def _kind(start: bytes) -> str | None:
    """Return which of the two a text with this beginning is, or None."""
    from coterie.files.dialect import encoding_of

    text = start.decode(encoding_of(start), errors="ignore").lstrip("\ufeff \t\r\n")
    if not text.startswith(("{", "[")):
        return None
    lines = [line for line in text.splitlines()[:3] if line.strip()]
    # The last line may be cut short.
    if all(map(_is_json, lines[:2])):
        return "jsonl" if len(lines) > 1 else "json"
    return "json" if _OBJECT.match(text) or _LISTS.match(text) else None


def _is_json(line: str) -> bool:
    """Return whether a line is a JSON object or array and nothing else."""
    with suppress(ValueError, RecursionError):
        return isinstance(json.loads(line), dict | list)
    return False


def _records(text: str, name: str) -> list[dict[str, Any]]:
    """Return the objects of a document, however they are put together."""

    def row(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise DataError(f"{name}: an object has two values under one key.", hint="Give each a different key.")
        return found

    def parsed(document: str) -> Any:  # noqa: ANN401 - any JSON
        return json.loads(document, object_pairs_hook=row, parse_constant=lambda _: None)

    try:
        try:
            found = parsed(text)
        except json.JSONDecodeError as error:
            if not error.msg.startswith("Extra data"):
                raise
            found = parsed(f"[{','.join(line for line in text.split(chr(10)) if line.strip())}]")
    except (json.JSONDecodeError, RecursionError):
        raise _broken(text, name) from None
    records = [found] if isinstance(found, dict) else found
    if set(map(type, records)) - {dict} or (len(records) == 1 and _nested(records[0].values())):
        raise DataError(f"{name} is JSON, but not a table.", hint=_SHAPE)
    if not any(records):
        raise DataError(f"{name} has no rows.", hint="Give a file with at least one row of data.")
    return records


def _broken(text: str, name: str) -> DataError:
    """Say where a text stops being JSON, without quoting it."""
    bad = [at for at, line in enumerate(text.split("\n"), 1) if line.strip() and not _is_json(line)]
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        line = error.lineno if not error.msg.startswith("Extra data") or not bad else bad[0]
    except RecursionError:
        line = 1
    return DataError(f"{name} looks like JSON, but its line {line:,} cannot be parsed.", hint=_SHAPE)


def _nested(values: Any) -> int:  # noqa: ANN401 - an iterable
    return sum(isinstance(value, dict | list) for value in values)


def _keys(records: Sequence[dict[str, Any]], name: str) -> list[str]:
    """Return the keys of all objects in order. If no key is in half of the objects, keys may be data."""
    often = Counter(chain.from_iterable(records))
    if 2 * max(often.values()) < len(records):
        raise DataError(
            f"{name}: its objects share no keys, so the keys may be data rather than names of columns.", hint=_SHAPE
        )
    return list(often)


def _column(records: Sequence[dict[str, Any]], key: str, name: str) -> pa.Array:
    """Return the values of one key; objects that lack it have a missing value."""
    import pyarrow as pa

    values = list(map(methodcaller("get", key), records))
    kinds = set(map(type, values)) - {type(None)}
    if kinds & {dict, list}:
        raise DataError(
            f"{name}: column {key!r} has nested values, lists or objects, in {_nested(values):,} rows.",
            column=key,
            hint="Give each nested value a separate column, for example with pandas.json_normalize, or leave it out.",
        )
    if len(kinds) < 2 or kinds == {int, float}:
        with suppress(pa.ArrowInvalid, OverflowError):  # whole numbers beyond 64 bits stay texts
            return pa.array(values, pa.string() if not kinds else None)
    return pa.array([value if value is None or isinstance(value, str) else json.dumps(value) for value in values])


def _objects(batch: pa.RecordBatch, between: str) -> pa.Array:
    """Write rows as objects. Only distinct values are formatted one by one; Arrow joins them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pieces: list[Any] = []
    before = between + "{"
    for title, column in zip(batch.schema.names, batch.columns, strict=True):
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        texts = pa.array([_spelled(value) for value in coded.dictionary.to_pylist()], pa.large_string())
        key = pa.scalar(f"{before}{json.dumps(title, ensure_ascii=False)}: ", pa.large_string())
        pieces += [key, texts.take(coded.indices).fill_null("null")]
        before = ", "
    end = (pa.scalar("}", pa.large_string()), pa.scalar("", pa.large_string()))
    return pc.binary_join_element_wise(*pieces, *end)


def _spelled(value: object) -> str:
    """Return one value as JSON: types that JSON lacks, such as dates, become text; NaN is missing."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return "null"
    return json.dumps(value, ensure_ascii=False, default=str)
