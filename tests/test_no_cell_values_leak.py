"""No message, log, warning or traceback shows what a cell holds: every way to fail is tried on a table of secrets."""

import logging
import traceback
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from decided import kept_otherwise

import coterie
import coterie.engines.steps
import coterie.files.tables
from coterie.cli.app import main
from coterie.errors import CoterieError
from coterie.table.grouping import Grouping

WORD = "Zebulon"
NUMBER = 9876501
SECRETS = (WORD, "98765", WORD[1:-1])

ROWS = 24
TABLE = pa.table(
    {
        "word": [f"{WORD}{row}" for row in range(ROWS)],
        "number": [NUMBER + row for row in range(ROWS)],
        "decimal": [NUMBER + row / 4 for row in range(ROWS)],
        "mixed": [str(NUMBER + row) for row in range(ROWS - 1)] + [WORD],
        "infinite": [float(NUMBER + row) for row in range(ROWS - 1)] + [float("inf")],
        "gap": [*(f"{WORD}{row % 3}" for row in range(ROWS - 1)), None],
        "day": [f"2024-{row % 12 + 1:02}-98765" for row in range(ROWS)],
        "list": [[WORD]] * ROWS,
        "binary": [WORD.encode()] * ROWS,
        "sensitive": [f"{WORD} {row % 5}" for row in range(ROWS)],
    }
)
TREE = {"high": ["a", "b"], "low": ["c"]}


def faulty(table, config, run):
    return Grouping.of(table.codes, np.arange(table.rows))


FAILURES = {
    "k": {"quasi": ["word"], "k": ROWS + 1},
    "text among numbers": {"quasi": ["mixed"]},
    "text as numbers": {"quasi": ["word"], "types": {"word": "number"}},
    "text as dates": {"quasi": ["word"], "types": {"word": "date"}},
    "no dates of the calendar": {"quasi": ["day"], "types": {"day": "date"}},
    "infinite": {"quasi": ["infinite"]},
    "missing": {"quasi": ["gap"], "missing": "error"},
    "lists": {"quasi": ["list"]},
    "binary": {"quasi": ["binary"]},
    "sensitive list": {"quasi": ["number"], "sensitive": ["list"]},
    "tree": {"quasi": ["word"], "hierarchies": {"word": TREE}},
    "tree of numbers": {"quasi": ["number"], "hierarchies": {"number": TREE}},
    "intervals": {"quasi": ["word"], "hierarchies": {"word": coterie.intervals(5)}},
    "dates": {"quasi": ["word"], "hierarchies": {"word": coterie.dates()}},
    "dates of numbers": {"quasi": ["number"], "hierarchies": {"number": coterie.dates()}},
    "sensitive tree": {"quasi": ["number"], "sensitive": ["word"], "hierarchies": {"word": TREE}},
    "mean of words": {"quasi": ["word"], "publish": {"word": "mean"}},
    "set of numbers": {"quasi": ["number"], "publish": {"number": "set"}},
    "bounds of words": {"quasi": ["word"], "publish": {"word": "bounds"}},
    "no column": {"quasi": ["wodr"]},
    "two roles": {"quasi": ["word"], "sensitive": ["word"]},
}


def clean(text):
    for secret in SECRETS:
        assert secret not in text
    return text


def shown(error):
    """All that a user could see of an error: message, hint, problems and the whole traceback."""
    parts = [str(error), repr(error), error.hint, str(getattr(error, "problems", ""))]
    # Lines of source are cut out: this file's own name its secrets.
    lines = traceback.format_exception(error, chain=True)
    parts += [line for frame in lines for line in frame.splitlines() if not line.startswith("    ")]
    return "\n".join(parts)


@pytest.mark.parametrize("settings", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("kind", ["arrow", "pandas"])
def test_errors_count_and_do_not_quote(settings, kind, caplog):
    data = TABLE if kind == "arrow" else TABLE.to_pandas()
    with caplog.at_level(logging.DEBUG), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(CoterieError) as caught:
            coterie.anonymize(data, **kept_otherwise(TABLE.column_names, {"k": 2, **settings}))
    clean(shown(caught.value))
    clean(caplog.text)
    clean(" ".join(str(warning.message) for warning in warned))


@pytest.mark.parametrize("settings", FAILURES.values(), ids=FAILURES)
def test_the_command_line_counts_and_does_not_quote(settings, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    pa.parquet.write_table(TABLE, "people.parquet")
    try:
        (tmp_path / "c.toml").write_text(
            coterie.Config(**kept_otherwise(TABLE.column_names, {"k": 2, **settings})).to_toml()
        )
    except CoterieError as error:
        clean(shown(error))
        return
    assert main(["anonymize", "people.parquet", "-c", "c.toml", "-o", "out.csv"]) > 0
    captured = capfd.readouterr()
    assert "error" in clean(captured.err)
    clean(captured.out)
    assert not (tmp_path / "out.csv").exists()


def test_a_release_that_is_withheld_shows_nothing(monkeypatch):
    monkeypatch.setattr(coterie.engines.steps, "method_groups", faulty)
    with pytest.raises(CoterieError) as caught:
        coterie.anonymize(TABLE, **kept_otherwise(TABLE.column_names, {"quasi": ["word", "number"], "k": 2}))
    clean(shown(caught.value))


@pytest.mark.parametrize("debug", [[], ["--debug"]])
def test_a_fault_of_our_own_shows_nothing(monkeypatch, tmp_path, capfd, debug):
    """An unexpected error may quote anything; its text is shown only to those who ask to debug."""

    def broken(*arguments, **named):
        raise ValueError(f"cannot handle {WORD}")

    monkeypatch.chdir(tmp_path)
    pa.parquet.write_table(TABLE, "people.parquet")
    monkeypatch.setattr(coterie.engines.steps, "method_groups", broken)
    others = ",".join(TABLE.column_names[1:])
    arguments = ["anonymize", "people.parquet", "--quasi", "word", "--keep", others, "-k", "2", "-o", "out.csv"]
    assert main([*debug, *arguments]) > 0
    captured = capfd.readouterr()
    assert "bug in coterie" in captured.err or debug
    if not debug:
        clean(captured.err)
    clean(captured.out)


def test_frames_that_cannot_be_read_show_nothing():
    odd = pd.DataFrame({"x": [WORD, NUMBER, b"98765", object()]})
    twice = pd.DataFrame([[WORD, NUMBER]], columns=["98765", "98765"])
    for frame in (odd, twice):
        with pytest.raises(CoterieError) as caught:
            coterie.anonymize(frame, quasi=["x"], k=1)
        clean(shown(caught.value))


TEXTS = {
    "ragged": f"a,b\n{WORD},1\n{WORD},2,{NUMBER}\n",
    "quotes": f'a,b\n"{WORD},1\n{WORD},{NUMBER}\n',
    "no header": f"{WORD},{NUMBER}\n{WORD},{NUMBER}\n",
    "numbers as header": f"{NUMBER},{NUMBER}\n1,2\n",
    "one column": f"{WORD}\n{WORD}\n",
    "empty lines": f"a\n\n{WORD}\n\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_files_that_cannot_be_read_show_nothing(text, encoding, tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes((text + "é\n").encode(encoding))
    with pytest.raises(CoterieError) as caught:
        coterie.anonymize(path, quasi=["b"], k=5, encoding="ascii" if encoding == "cp1252" else None)
    message = shown(caught.value)
    # The first line is taken for names of columns, which may be named.
    named = text.splitlines()[0]
    clean(message.replace(named, "").replace(f"'{WORD}'", "").replace(f"'{NUMBER}'", ""))


def test_foreign_releases_show_nothing():
    release = coterie.anonymize(TABLE, **kept_otherwise(TABLE.column_names, {"quasi": ["word", "number"], "k": 4}))
    config = release.config
    for other in (
        release.arrow.slice(0, 3),
        release.arrow.drop_columns(["word"]),
        release.arrow.set_column(1, "number", pa.array([float(NUMBER) + 0.5] * ROWS)),
        pa.concat_tables([release.arrow, release.arrow]),
    ):
        try:
            clean(str(dict(coterie.measure(TABLE, other, config=config))))
        except CoterieError as error:
            clean(shown(error))
        try:
            clean(str(coterie.verify(other, config=config)))
        except CoterieError as error:
            clean(shown(error))


def test_what_succeeds_is_silent_about_cells(tmp_path, caplog, capfd):
    with caplog.at_level(logging.DEBUG):
        table = TABLE.drop_columns("list")
        roles = {"quasi": ["word", "number", "gap"], "sensitive": ["sensitive"], "k": 4}
        release = coterie.anonymize(table, **kept_otherwise(table.column_names, roles))
        release.write(tmp_path / "out.csv")
    for part in (repr(release), str(release.verification), repr(release.measures), *release.notes, caplog.text):
        clean(part)
    clean((tmp_path / "out.coterie.toml").read_text())
    captured = capfd.readouterr()
    clean(captured.out + captured.err)


def test_a_value_that_the_encoding_lacks_is_not_shown(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"a;b\n\xe91;2\n\xe92;3\n")
    release = coterie.anonymize(path, quasi=["b"], keep=["a"], k=2)
    odd = release.arrow.set_column(0, "a", pa.array([f"{WORD}日", "x"]))
    with pytest.raises(CoterieError) as caught:
        coterie.files.tables.write(odd, tmp_path / "out.csv", like=release.source)
    clean(shown(caught.value))
