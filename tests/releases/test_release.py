"""Release: written with what it takes to make it again."""

import hashlib
import tomllib

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import coterie
from coterie.errors import ConfigError
from coterie.files.output import provenance_path

TREE = {"Cambridge": ["02138", "02139"], "Other": ["02141", "02142"]}
SETTINGS = {
    "quasi": ["age", "zip"],
    "identifiers": ["name"],
    "keep": ["disease"],
    "k": 2,
    "seed": 11,
    "weights": {"age": 2.5},
    "hierarchies": {"zip": TREE},
    "method": "kmembers",
    "options": {"seeding": "random"},
}


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def source(people, tmp_path):
    """People as a semicolon file in Latin-1, with one odd name."""
    path = tmp_path / "people.csv"
    options = pa.csv.WriteOptions(delimiter=";")
    pa.csv.write_csv(people, path, options)
    path.write_bytes(path.read_text().replace("Ann", "Zoë").encode("latin-1"))
    return path


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.tsv", "out.parquet", "out.feather"])
def test_the_configuration_beside_a_release_makes_the_same_bytes_again(source, tmp_path, name):
    first, second = tmp_path / "first" / name, tmp_path / "second" / name
    first.parent.mkdir()
    second.parent.mkdir()
    coterie.anonymize(source, **SETTINGS).write(first)
    beside = provenance_path(first)
    coterie.anonymize(source, config=beside).write(second)
    assert second.read_bytes() == first.read_bytes()
    ours, again = (tomllib.loads(provenance_path(path).read_text()) for path in (first, second))
    ours["provenance"].pop("made")
    again["provenance"].pop("made")
    assert ours == again


def test_what_is_written_beside_a_release(source, tmp_path):
    output = tmp_path / "out.csv"
    release = coterie.anonymize(source, **SETTINGS)
    release.write(output)
    written = tomllib.loads((tmp_path / "out.coterie.toml").read_text())
    facts = written.pop("provenance")
    assert "input_sha256" not in facts  # it would confirm a guess of the input
    assert release.provenance()["input_sha256"] == sha256(source)
    assert facts["output_sha256"] == sha256(output)
    assert facts["rows"] == facts["published_rows"] == 9
    assert facts["coterie"] == coterie.__version__
    assert {"python", "numpy", "numba", "pyarrow", "made"} <= set(facts)
    assert written["seed"] == 11
    assert written["hierarchies"]["zip"]["tree"]
    # The engine that `auto` took is named, so that it is the same elsewhere.
    assert coterie.Config.from_toml(tmp_path / "out.coterie.toml") == release.config.replace(engine="memory")
    # A configuration has no place for what people said of themselves.
    assert "Zo" not in (tmp_path / "out.coterie.toml").read_text()


def test_a_release_of_a_frame_has_no_input_to_name(people, tmp_path):
    release = coterie.anonymize(people, **SETTINGS)
    assert "input_sha256" not in release.provenance()
    release.write(tmp_path / "out.parquet")
    assert pa.parquet.read_table(tmp_path / "out.parquet").equals(release.arrow)


@pytest.mark.parametrize("there", ["out.csv", "out.coterie.toml"])
def test_nothing_is_overwritten_unless_forced(people, tmp_path, there):
    (tmp_path / there).write_text("mine")
    release = coterie.anonymize(people, **SETTINGS)
    with pytest.raises(ConfigError, match="exists already"):
        release.write(tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == [there]
    assert (tmp_path / there).read_text() == "mine"
    release.write(tmp_path / "out.csv", force=True)
    assert (tmp_path / there).read_text() != "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.coterie.toml", "out.csv"]


def test_an_impossible_place_leaves_nothing(people, tmp_path):
    release = coterie.anonymize(people, **SETTINGS)
    for name in ("out.docx", "nowhere/out.csv"):
        with pytest.raises(ConfigError):
            release.write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_standard_output_has_nothing_beside(people, tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    coterie.anonymize(people, **SETTINGS).write("-")
    assert capfdbinary.readouterr().out.startswith(b"age,zip,disease")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("output", "beside"),
    [
        ("out.csv", "out.coterie.toml"),
        ("folder/out.csv.gz", "folder/out.csv.gz.coterie.toml"),
        ("a.b.parquet", "a.b.parquet.coterie.toml"),
        ("out", "out.coterie.toml"),
    ],
)
def test_where_the_configuration_goes(output, beside):
    assert provenance_path(output).as_posix() == beside


def test_a_release_shows_figures_and_no_cells(people):
    release = coterie.anonymize(people, **SETTINGS)
    shown = repr(release)
    assert shown.startswith("<Release: 9 rows in ")
    assert "method kmembers" in shown
    for name in ("name", "disease", "zip"):
        for cell in people.column(name).drop_null().to_pylist():
            assert cell not in shown


def test_a_release_is_kept_as_it_was_made(people):
    release = coterie.anonymize(people, **SETTINGS)
    assert release.frame is release.frame
    assert release.groups is release.groups
    with pytest.raises(AttributeError):
        release.config = None
