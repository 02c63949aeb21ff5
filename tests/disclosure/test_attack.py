"""The linking attack: candidates and confidence against a twin that tries every pair, and nothing but counts shown."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import naive_attack

import coterie
from coterie.cli.app import main
from coterie.disclosure.attack import attack_table
from coterie.errors import ConfigError, DataError
from coterie.publishing.publish import publish
from coterie.settings.config import Config
from coterie.table.encode import encode
from coterie.table.grouping import Grouping

JOBS = ["cook", "baker", "*", "{x}", "a, b", "\\", "[1-2]"]
PLACES = {"North": {"Coast": ["ab", "ac"], "Hills": ["ba"]}, "South": ["ca", "cb"]}
ABOVE = {
    "place": {
        "ab": {"Coast", "North", "*"},
        "ac": {"Coast", "North", "*"},
        "ba": {"Hills", "North", "*"},
        "ca": {"South", "*"},
        "cb": {"South", "*"},
    }
}
DATES = ["2020-01-31", "2020-02-01", "2021-07-04", "1999-12-31"]
CONFIG = Config(
    quasi=["age", "job", "place", "born"], sensitive=["ill"], hierarchies={"place": PLACES}, types={"born": "date"}, k=2
)

people_rows = st.fixed_dictionaries(
    {
        "age": st.none() | st.sampled_from(["20", "21", "25", "30", "33.5", "-4"]),
        "job": st.none() | st.sampled_from(JOBS),
        "place": st.none() | st.sampled_from(sorted(ABOVE["place"])),
        "born": st.none() | st.sampled_from(DATES),
    }
)


@st.composite
def attacks(draw):
    """A release of random groups, and people who may or may not be in it."""
    rows = draw(st.lists(people_rows, min_size=1, max_size=12))
    ill = draw(st.lists(st.sampled_from(["flu", "pox", "gout", None]), min_size=len(rows), max_size=len(rows)))
    labels = draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    columns = pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in rows[0]})
    columns = columns.append_column("ill", pa.array(ill, pa.string()))
    table = encode(columns, CONFIG).table
    released = publish(columns, table, Grouping.of(table.codes, labels), CONFIG).table
    stranger = people_rows.map(lambda row: row | {"place": "nowhere"}) | people_rows
    others = draw(st.lists(stranger, max_size=6))
    return released, [*rows, *others], ill


@settings(max_examples=80)
@given(attacks(), st.sets(st.sampled_from(CONFIG.quasi), min_size=1))
def test_candidates_and_confidence(drawn, known):
    released, people, ill = drawn
    on = [name for name in CONFIG.quasi if name in known]
    table = pa.table({name: pa.array([row[name] for row in people], pa.string()) for name in people[0]})
    found = attack_table(released, table, on=on, config=CONFIG, sensitive=["ill"])
    texts = [{name: row[name] for name in on} for row in released.cast(_all_text(released)).to_pylist()]
    wanted = naive_attack.attack(texts, people, ill, ABOVE)
    assert found.candidates.tolist() == [rows for rows, *_ in wanted]
    value = found.sensitive["ill"]
    matched = [(rows, sure, number, lift) for rows, sure, number, lift in wanted if rows]
    assert found.matched == len(matched)
    assert found.pinned == sum(rows == 1 for rows, *_ in matched)
    assert found.below == sum(rows < 2 for rows, *_ in matched)
    assert value.pinned == sum(number == 1 for _, _, number, _ in matched)
    assert value.confidence[found.candidates > 0] == pytest.approx([float(sure) for _, sure, _, _ in matched])
    assert value.lift == pytest.approx(float(max((lift for *_, lift in matched), default=0)))
    if matched:
        assert found.fewest == min(rows for rows, *_ in matched)
        assert found.average == pytest.approx(sum(1 / rows for rows, *_ in matched) / len(matched))


def _all_text(table):
    return pa.schema([pa.field(name, pa.string()) for name in table.column_names])


def test_everybody_in_a_release_has_k_candidates():
    rng = np.random.default_rng(3)
    table = pa.table(
        {
            "age": rng.integers(18, 80, 300),
            "zip": [f"0{2100 + value:04}" for value in rng.integers(0, 60, 300)],
            "ill": rng.choice(["flu", "pox", "gout"], 300),
        }
    )
    settings = {"quasi": ["age", "zip"], "sensitive": ["ill"], "hierarchies": {"zip": coterie.prefixes()}, "k": 5}
    for publish_age in ("interval", "bounds"):
        release = coterie.anonymize(table, method="mondrian", publish={"age": publish_age}, **settings)
        found = coterie.attack(release.frame, table, config=release.config)
        assert found.on == ("age", "zip")
        assert found.fewest >= 5
        assert (found.matched, found.pinned, found.below) == (300, 0, 0)
        assert found.sensitive["ill"].right is not None
    # Without generalization most are found at once.
    raw = coterie.attack(table, table, **settings)
    assert raw.pinned > 150
    assert raw.sensitive["ill"].right > raw.sensitive["ill"].baseline_right


def test_a_shared_value_is_known_although_the_row_is_not():
    release = pa.table({"age": ["[20-29]"] * 3 + ["[30-39]"] * 3, "ill": ["flu", "flu", "flu", "flu", "pox", "pox"]})
    known = pa.table({"age": [25, 35, 50]})
    found = coterie.attack(release, known, quasi=["age"], sensitive=["ill"], k=3)
    value = found.sensitive["ill"]
    assert found.candidates.tolist() == [3, 3, 0]
    assert (found.matched, found.pinned, found.highest) == (2, 0, pytest.approx(1 / 3))
    assert (value.pinned, value.baseline, value.highest) == (1, pytest.approx(4 / 6), 1.0)
    # 2/3 is the baseline itself: the second person's likeliest value is no news.
    assert value.above_baseline == 1
    assert value.lift == pytest.approx(2.0)
    assert found.table()["likeliest ill"].to_pylist() == ["flu", "pox", None]


def test_what_cannot_be_attacked():
    release = pa.table({"age": [25.0, 31.5], "ill": ["flu", "pox"]})
    known = pa.table({"age": [25]})
    with pytest.raises(DataError, match="published as mean"):
        coterie.attack(release, known, quasi=["age"], publish={"age": "mean"})
    with pytest.raises(ConfigError, match="no column 'zip'"):
        coterie.attack(release, known, on=["zip"])
    with pytest.raises(ConfigError, match="is empty; list the known"):
        coterie.attack(release, known, on=[])
    with pytest.raises(ConfigError, match="the attack tries to learn it"):
        coterie.attack(release, known, on=["ill"], sensitive=["ill"])


def test_command_shows_counts_and_values_only_when_asked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out.csv").write_text("age,sex,ill\n[20-29],f,Zebulosis\n[20-29],f,Zebulosis\n[30-39],*,flu\n")
    (tmp_path / "people.csv").write_text("name,age,sex\nAnnabel,22,f\nBartholomew,35,m\nCleopatra,77,f\n")
    base = ["attack", "out.csv", "--known", "people.csv", "--on", "age,sex", "--sensitive", "ill", "-k", "2"]
    assert main(base) == 0
    out = capsys.readouterr().out
    for part in ("3, of whom 2 have candidates", "1 people (33.33 %) have one candidate only", "0.6667"):
        assert part in out
    for secret in ("Zebulosis", "Annabel", "22"):
        assert secret not in out
    assert main([*base, "--json"]) == 0
    out = capsys.readouterr().out
    assert json.loads(out)["sensitive"][0]["pinned"] == 2
    assert "Zebulosis" not in out
    assert main([*base, "--show"]) == 0
    assert "Zebulosis" in capsys.readouterr().out
