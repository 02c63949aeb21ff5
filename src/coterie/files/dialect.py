"""Detect a text table's dialect from its first bytes: encoding, delimiter, quoting and line endings.

Only the content decides, never the file's name: the same bytes from a file, a gzip or standard
input are read alike. The result is kept in a Dialect, so that the table can be written the same way.
"""

from __future__ import annotations

import codecs
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict, cast

from coterie.errors import ConfigError, DataError, Problem
from coterie.files.header import PREAMBLE, ROWS, generated, generated_names, refuse_data, refuse_preamble

if TYPE_CHECKING:
    from coterie.settings.config import Config

SAMPLE_BYTES = 1 << 18
DELIMITERS = (",", ";", "\t", "|")

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ASCII_AND_LATIN = bytes(range(0x80)) + bytes(range(0xA0, 0x100))
_NOT_IN_CP1252 = frozenset(b"\x81\x8d\x8f\x90\x9d")
_SAMPLE_RECORDS = 400
_LINE_END = r"(?:\r\n|\r|\n)"
_CONTROL = tuple(sign for sign in map(chr, range(ord(" "))) if sign not in "\t\n\r\f\v\x1a")


@dataclass(frozen=True)
class Dialect:
    """The dialect of a CSV file."""

    delimiter: str = ","
    encoding: str = "utf-8"
    """a Python codec name; `utf-8-sig` starts with a byte order mark"""
    bom: bool = False
    """whether a UTF-16 file starts with a byte order mark"""
    line_end: str = "\n"
    quoting: Literal["minimal", "all"] = "minimal"
    """`all`: every value that is not missing; `minimal`: only values that would be misread without quotes"""
    quoted_columns: frozenset[str] = frozenset()
    """columns quoted throughout although not all are (R quotes text and leaves numbers bare)"""
    quoted_header: bool = False
    missing_values: tuple[str, ...] = ("",)
    """unquoted texts that mean a missing value"""
    missing: str = ""
    """the one that is written"""

    def __post_init__(self) -> None:
        if len(self.delimiter) != 1 or not self.delimiter.isascii() or self.delimiter in '"\r\n':
            raise ConfigError(
                [Problem("delimiter", "must be one character such as , or ; but not a quote or a line break")]
            )
        try:
            "".encode(self.encoding)  # also refuses codecs that do not make bytes of text, such as rot13
        except LookupError:
            raise ConfigError([Problem("encoding", f"unknown encoding {self.encoding!r}")]) from None


def dialect_of(path: str | os.PathLike[str], *, dialect: Dialect | None, before: Path | None) -> Dialect:
    """Return the dialect for a CSV file: that of the source, but .tsv has tabs, and .csv from a .tsv has commas.

    `dialect` is the source's, if it was text, and `before` its name, if it has one.
    """

    def tabs(name: object) -> bool:
        return str(name).lower().removesuffix(".gz").endswith((".tsv", ".tab"))

    dialect = dialect or Dialect()
    if tabs(path):
        return replace(dialect, delimiter="\t")
    if dialect.delimiter == "\t" and tabs(before) and str(path) != "-":
        return replace(dialect, delimiter=",")
    return dialect


class TextSettings(TypedDict, total=False):
    """How to read a text file; what is not given is detected."""

    missing_values: Sequence[str]
    """unquoted texts that mean a missing value; by default the empty one"""
    delimiter: str | None
    """by default comma, semicolon, tab or bar"""
    encoding: str | None
    """by default UTF-8, UTF-16, Windows-1252 or Latin-1"""
    header: bool | None
    """whether the first line is the header; without one, columns are called column_1, column_2 and so on. By default, a
    first line that looks like data is refused"""
    skip_rows: int
    """lines above the header, which are skipped"""


def text_settings(config: Config) -> TextSettings:
    """Return the settings of a configuration for reading text files."""
    return cast(TextSettings, {name: getattr(config, name) for name in TextSettings.__annotations__})


class DetectedText(NamedTuple):
    """The result of inspecting the first bytes of a text table."""

    dialect: Dialect
    header: list[str]
    """names of the columns"""
    blank_lines: int
    """empty lines above the first non-empty one, not counting skipped lines"""
    has_header: bool = True
    """whether the first line has the names; otherwise columns are numbered"""
    skipped: int = 0
    """lines skipped at the top"""
    empty: bool = False
    """whether there is nothing below the header"""


def sniff(
    sample: bytes,
    *,
    whole: bool,
    name: str,
    missing_values: Sequence[str] = ("",),
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    skip_rows: int = 0,
) -> DetectedText:
    """Detect the dialect and column names of a text table from its first SAMPLE_BYTES, or from the whole text.

    See `TextSettings` for the settings; `name` is the file's in messages.

    Raises:
        DataError: The file is empty or not text; or `header` is not given and the first line looks like data.
    """
    missing = tuple(missing_values)
    # Created first, since it rejects an invalid delimiter or encoding before either is used.
    dialect = Dialect(delimiter=delimiter or ",", encoding=encoding or "utf-8", missing_values=missing)
    found, bom = _encoding(sample, whole=whole) if encoding is None else _given(encoding, sample)
    dialect = replace(dialect, encoding=found, bom=bom)
    text = decode(sample, found, final=whole, name=name).removeprefix("\ufeff")
    _refuse_binary(text, name)
    if header is False and generated(
        re.split(rf"[{''.join(DELIMITERS)}]", text.split("\n", 1)[0].strip().replace('"', ""))
    ):
        skip_rows = 0  # a release of such a file, which has a header and nothing above it
    text = re.sub(rf"\A(?:[^\r\n]*{_LINE_END}){{0,{skip_rows}}}", "", text)
    start = len(text) - len(text.lstrip("\r\n"))
    blank, text = _lines(text[:start]), text[start:]
    if not text:
        below = f" below the {skip_rows:,} lines that are skipped" if skip_rows else ""
        raise DataError(f"{name} is empty{below}.", hint="Give a file with a header row and at least one row of data.")
    if delimiter is None:
        dialect = replace(dialect, delimiter=_delimiter(text, whole=whole))
    records = _records(text, dialect.delimiter, whole=whole, limit=ROWS + 1)
    first, *rows = [[cell.value for cell in record.cells] for record in records]
    if header is None:
        above = [skip_rows + blank + _lines(text[: record.start]) for record in records[: PREAMBLE + 1]]
        refuse_preamble(first, rows, above=above, missing=missing, name=name)
        refuse_data(first, rows, missing=missing, name=name, skipped=skip_rows)
    # A release of a file without a header has one: the same setting has to read both.
    has_header = header is not False or generated(first)
    names = first if has_header else generated_names(len(first))
    dialect = _with_habits(dialect, records[:_SAMPLE_RECORDS], names, has_header)
    return DetectedText(dialect, names, blank, has_header, skip_rows, whole and len(records) == has_header)


def _lines(text: str) -> int:
    return len(re.findall(_LINE_END, text))


def decode(data: bytes, encoding: str, *, final: bool, name: str) -> str:
    """Decode bytes, or refuse them without quoting any."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(data, final)
    except (UnicodeDecodeError, LookupError):
        raise not_text(name, encoding) from None


def not_text(name: str, encoding: str) -> DataError:
    """Return the error for bytes that an encoding does not have."""
    hint = "Give the encoding it was written in, such as latin-1 or utf-16."
    return DataError(f"{name} is not text in {encoding}.", hint=hint)


def eight_bit_encoding(chunks: Iterable[bytes]) -> str:
    """Choose the single-byte encoding of text that is not UTF-8: cp1252 if it uses Windows characters, else latin-1."""
    added = set().union(*(chunk.translate(None, _ASCII_AND_LATIN) for chunk in chunks))
    return "cp1252" if added and not added & _NOT_IN_CP1252 else "latin-1"


def encoding_of(sample: bytes) -> str:
    """Detect the encoding of a text from its first bytes."""
    return _encoding(sample, whole=False)[0]


def _encoding(sample: bytes, *, whole: bool) -> tuple[str, bool]:
    """Return the encoding, and whether the text starts with a UTF-16 or UTF-32 byte order mark."""
    for mark, encoding in _BOMS:
        if sample.startswith(mark):
            return encoding, encoding != "utf-8-sig"
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    # Text of mostly Latin letters in UTF-16 has a zero in nearly every second byte.
    if odd > len(sample) // 4 and even <= odd // 10:
        return "utf-16-le", False
    if even > len(sample) // 4 and odd <= even // 10:
        return "utf-16-be", False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, whole)
    except UnicodeDecodeError:
        return eight_bit_encoding([sample]), False
    return "utf-8", False


def _given(encoding: str, sample: bytes) -> tuple[str, bool]:
    """Return the encoding given by the user, and whether the text has a byte order mark that the codec keeps."""
    if codecs.lookup(encoding).name in ("utf-8", "utf-8-sig"):
        return "utf-8-sig" if sample.startswith(codecs.BOM_UTF8) else "utf-8", False
    return encoding, sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def _refuse_binary(text: str, name: str) -> None:
    control = sum(map(text.count, _CONTROL))
    if "\0" in text or control > len(text) // 50:
        raise DataError(
            f"{name} is not a table that coterie can read.",
            hint="It reads CSV and other delimited text, JSON, Parquet, Feather and Excel; text may be gzipped.",
        )


class _Cell(NamedTuple):
    value: str
    quoted: bool
    needs_quotes: bool


class _Record(NamedTuple):
    cells: list[_Cell]
    line_end: str
    start: int
    """where it starts in the text"""


def _records(text: str, delimiter: str, *, whole: bool, limit: int) -> list[_Record]:
    """Return the first records of a text, with a small tokenizer because the csv module does not report quoting."""
    d = re.escape(delimiter)
    cell = re.compile(rf'(?:"([^"]*(?:""[^"]*)*)"([^{d}\r\n]*)|([^{d}\r\n]*))({d}|\r\n|\r|\n|\Z)')
    structure = re.compile(rf'[{d}"\r\n]')
    records: list[_Record] = []
    cells: list[_Cell] = []
    position = start = 0
    while len(records) < limit and position <= len(text):
        found = cell.match(text, position)
        if found is None:  # pragma: no cover - the bare alternative matches anything
            break
        inner, rest, bare, end = found.groups()
        value = bare if inner is None else inner.replace('""', '"') + rest
        cells.append(_Cell(value, inner is not None, bool(structure.search(value))))
        position = found.end()
        if end == delimiter:
            continue
        blank = len(cells) == 1 and not cells[0].value and not cells[0].quoted
        if not records or ((end or whole) and not blank):  # without an end, the sample cut the record short
            records.append(_Record(cells, end, start))
        if not end:
            break
        cells, start = [], position
    return records


def _delimiter(text: str, *, whole: bool) -> str:
    """Return the delimiter that splits the most records to the header's length; ties go to the one with most cells."""

    def score(candidate: str) -> tuple[float, int]:
        counts = [len(record.cells) for record in _records(text, candidate, whole=whole, limit=100)]
        if counts[0] == 1:
            return 0.0, 1
        return counts.count(counts[0]) / len(counts), counts[0]

    return max(DELIMITERS, key=score)


def _with_habits(dialect: Dialect, records: list[_Record], names: list[str], has_header: bool) -> Dialect:
    """Add the line ending, the quoting and the text for missing values found in the records."""
    ends = Counter(record.line_end for record in records if record.line_end)
    rows = records[has_header:]
    full, habit = 0, set()
    for position, title in enumerate(names):
        column = [row.cells[position] for row in rows if position < len(row.cells)]
        written = [cell for cell in column if cell.quoted or cell.value not in dialect.missing_values]
        full += bool(written)
        # A column whose every value has to be quoted shows no habit: minimal quoting would do the same.
        if written and all(cell.quoted for cell in written) and not all(cell.needs_quotes for cell in written):
            habit.add(title)
    bare = Counter(cell.value for row in rows for cell in row.cells if not cell.quoted)
    by_use = sorted(dialect.missing_values, key=lambda text: -bare[text])
    return replace(
        dialect,
        line_end=ends.most_common(1)[0][0] if ends else "\n",
        quoting="all" if habit and len(habit) == full else "minimal",
        quoted_columns=frozenset(habit),
        quoted_header=all(cell.quoted for cell in records[0].cells),
        missing=by_use[0] if by_use else "",
    )
