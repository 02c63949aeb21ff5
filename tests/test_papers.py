"""The papers' experiments: the tables are the papers', the page shows the committed results, runs can go on."""

import json
import re
import sys

import numpy as np
import pytest
from benchmarks.papers import page, trials
from benchmarks.papers.__main__ import main as papers_main
from benchmarks.papers.claims import CLAIMS, PAPERS
from benchmarks.papers.curves import Curve, Factors, Figure, Panel, curves, factors, pick, slope
from benchmarks.papers.data import data, ni_rows
from benchmarks.papers.effects import About, Effect, counted, graded, tally, verdict
from benchmarks.papers.income import SIZES, income
from benchmarks.papers.plots import FOLDER, style_of
from benchmarks.papers.quick import NAMES, effects_that_held, quick, script
from benchmarks.papers.texts import DESCRIBED, WORKED
from benchmarks.papers.trials import KINDS, RESULTS, Notebook, Trial, point_key


@pytest.fixture(scope="module")
def committed():
    return page.found()


def test_the_page_shows_the_committed_results(committed):
    written = page.PAGE.read_text(encoding="utf-8")
    assert written == page.text(committed), "run python -m benchmarks.papers --page"
    assert all(f"### {number}: " in written for number in CLAIMS)


def test_the_plots_show_the_committed_results(committed):
    files = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.svg")}
    assert set(files) == set(committed.figures)
    for name, figure in committed.figures.items():
        assert f"data {figure.digest}" in files[name], f"{name}: run python -m benchmarks.papers --page"
    shown = re.findall(r"\]\(papers/([a-z0-9-]+)\.svg\)", page.PAGE.read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(files)


@pytest.mark.parametrize("name", NAMES)
def test_committed_results_are_those_that_the_figures_ask_for(name):
    result = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    asked = {trial.key for trial in script(name).trials(False)}
    assert {point_key(point) for point in result["points"]} == asked
    assert all("--quick" not in run["command"] for run in result["runs"])
    assert {point["run"] for point in result["points"]} <= set(range(len(result["runs"])))


def test_every_claim_has_statements_and_every_script_a_section(committed):
    stated = {effect.claim for effect in committed.effects if not effect.aside}
    assert stated == set(CLAIMS)
    assert {name for paper in PAPERS for name in paper.scripts} == set(NAMES)
    assert {number for paper in PAPERS for number in paper.claims} == set(CLAIMS)
    keys = [effect.key for effect in committed.effects]
    assert len(keys) == len(set(keys))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("xu2006", {"label": "MultiDim, our second try", "k": 10, "repeat": 0, "kind": "group"}),
        ("xu2006", {"label": "bottom-up", "k": 20, "repeat": 0}),
        ("ni2017", {"label": "gccg, 4 parts", "k": 7, "repeat": 0, "kind": "group"}),
        ("ni2017", {"label": "kaca", "k": 10, "repeat": 3, "kind": "group"}),
        ("li2006", {"label": "incognito", "k": 10, "repeat": 0, "attributes": 4}),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(map(str, value.values())).replace(" ", "-"),
)
def test_committed_points_come_out_again(name, wanted):
    result = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    [point] = pick(result["points"], **wanted)
    comes_out_again(point)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["li2006", "xu2006_made", "ni2017", "he2012"])
def test_committed_points_of_compact_come_out_again(name):
    """The quickest of each script, as committed: `compact` changes more often than the papers' methods do."""
    result = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    comes_out_again(min(pick(result["points"], method="compact", kind="group"), key=lambda point: point["cpu"]))


def comes_out_again(point):
    trial = Trial(**{field: point[field] for field in trials.FIELDS})
    again = KINDS[trial.kind](trial, data(trial.data, trial.size))
    assert {key: again[key] for key in trials.KEPT} == pytest.approx({key: point[key] for key in trials.KEPT})


@pytest.mark.slow
def test_signs_of_the_effects_on_few_rows(tmp_path, monkeypatch, capsys):
    """Those of one paper; `make papers QUICK=1` looks at all of them."""
    monkeypatch.setattr(trials, "QUICK", tmp_path)
    assert effects_that_held("ni2017")
    assert quick(["ni2017"], 0.0) == 0
    assert re.search(r"[1-9]\d* passed, 0 failed in [\d.]+s", capsys.readouterr().out)


def test_an_effect_that_went_away_fails_the_quick_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(trials, "QUICK", tmp_path)
    module = script("ni2017")
    gone = Effect("C9", "incognito", "GCCG loses less than Incognito", "more", False)
    monkeypatch.setattr(module, "trials", lambda quick: [])
    monkeypatch.setattr(module, "effects", lambda points: [gone])
    monkeypatch.setattr("benchmarks.papers.quick.effects_that_held", lambda name: {"C9 incognito"})
    assert quick(["ni2017"], 0.0) == 1
    assert "0 passed, 1 failed" in capsys.readouterr().out


def test_adult_as_li_et_al_have_it():
    """Their Table 2: values and heights."""
    table = data("li", {"attributes": 9}).table
    assert table.rows == 45_222
    assert [domain.size for domain in table.domains] == [74, 7, 16, 7, 14, 5, 2, 41, 2]
    assert [int(domain.tree.height[0]) for domain in table.domains] == [4, 3, 4, 3, 2, 2, 1, 3, 1]


def test_adult_as_ni_et_al_have_it():
    """Their Table 9: rows, ages, work classes."""
    rows = ni_rows()
    assert rows.num_rows == 30_661
    assert len(set(rows["age"].to_pylist())) == 72
    assert len(set(rows["workclass"].to_pylist())) == 8
    number, ranges = (data("ni", {"age": age}) for age in ("number", "ranges"))
    np.testing.assert_array_equal(number.table.codes, ranges.table.codes)
    assert [domain.kind for domain in number.table.domains] == ["number", "tree", "tree", "tree"]
    assert [int(domain.tree.height[0]) + 1 for domain in ranges.table.domains] == [5, 2, 2, 3]
    assert [domain.size for domain in number.table.domains] == [72, 2, 5, 16]


def test_adult_as_xu_et_al_have_it():
    plain, numbers = data("xu", {}), data("xu", {"numbers": True})
    assert plain.table.rows == numbers.table.rows == 30_162
    assert [domain.kind for domain in numbers.table.domains] == ["number"] * 8
    assert [domain.size for domain in numbers.table.domains] == [domain.size for domain in plain.table.domains]
    assert numbers.judge.domains[1].kind == "tree"


def test_sal_and_income_have_the_schema_of_he_et_al():
    sal = [domain.size for domain in data("sal", {"rows": 60_000}).table.domains]
    for size, distinct in zip((78, 2, 17, 6, 9, 10, 83), sal, strict=True):
        assert size - 5 <= distinct <= size
    people = income(60_000)
    assert people.column_names == list(SIZES)
    for name, size in SIZES.items():
        distinct = len(people[name].unique())
        assert size - 5 <= distinct <= size, name
    first = income(1_000)
    assert first.select(["age", "gender"]).equals(people.slice(0, 1_000).select(["age", "gender"]))


def test_made_up_tables():
    uniform = data("synthetic", {"shape": "uniform", "seed": 1}).columns
    assert uniform.num_rows == 10_000
    assert sorted(set(uniform["A1"].to_pylist())) == list(range(1, 17))
    gauss = data("synthetic", {"shape": "gauss", "sigma": 1.0, "attributes": 6}).columns
    values = np.column_stack([column.to_numpy() for column in gauss.columns])
    assert values.shape == (10_000, 6)
    assert 0.95 < values.std() < 1.15
    weighted = data("synthetic", {"shape": "uniform", "weights": [8, 4, 2, 1]})
    assert [domain.weight for domain in weighted.table.domains] == [8, 4, 2, 1]


def test_a_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(trials, "RESULTS", tmp_path)
    called = []
    monkeypatch.setitem(KINDS, "told", lambda trial, made: called.append(trial.k) or {"gcp": trial.k / 10})
    size = {"shape": "uniform", "rows": 50}
    asked = [Trial("x", "synthetic", size, "mondrian", k, kind="told") for k in (2, 3)]
    Notebook("example").run(asked[:1])
    Notebook("example").run(asked)
    assert called == [2, 3]
    again = Notebook("example")
    again.run([Trial("renamed", "synthetic", size, "mondrian", 3, kind="told")])
    assert called == [2, 3]
    kept = json.loads((tmp_path / "example.json").read_text(encoding="utf-8"))
    assert [(point["label"], point["k"]) for point in kept["points"]] == [("renamed", 3)]
    assert [run["points"] for run in kept["runs"]] == [1, 1]
    again.forget("mondrian")
    again.run(asked)
    assert called == [2, 3, 2, 3]


def test_points_that_are_measured_again_stay_in_their_places(tmp_path, monkeypatch):
    monkeypatch.setattr(trials, "RESULTS", tmp_path)
    monkeypatch.setitem(KINDS, "told", lambda trial, made: {"gcp": trial.k / 10})
    size = {"shape": "uniform", "rows": 50}
    asked = [Trial("x", "synthetic", size, method, 2, kind="told") for method in ("compact", "mondrian")]
    Notebook("example").run(asked)
    again = Notebook("example")
    again.forget("compact")
    again.run(asked)
    kept = json.loads((tmp_path / "example.json").read_text(encoding="utf-8"))
    assert [(point["method"], point["run"]) for point in kept["points"]] == [("compact", 1), ("mondrian", 0)]


def test_a_method_that_does_not_exist_is_not_measured_again(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["papers", "--again", "compcat"])
    with pytest.raises(SystemExit):
        papers_main()
    assert "there is no method 'compcat'" in capsys.readouterr().err


def test_a_group_that_is_too_small_is_an_error(monkeypatch):
    from coterie.methods import find_method
    from coterie.table.grouping import Grouping

    size = {"shape": "uniform", "rows": 60}
    made = data("synthetic", size)
    wrong = Grouping.of(made.table.codes, np.arange(60) // 4)
    method = find_method("mondrian")
    monkeypatch.setattr(type(method), "run", lambda self, table, k, options, run: wrong)
    with pytest.raises(AssertionError, match="15 groups are too small"):
        trials.measured(Trial("x", "synthetic", size, "mondrian", 5), made)


def points_of(label, values):
    return [{"label": label, "k": k, "gcp": gcp, "size": {}, "options": {}} for k, gcp in values]


def test_curves_have_mean_and_spread():
    points = points_of("a", [(2, 1.0), (2, 3.0), (5, 4.0)]) + points_of("b", [(5, 2.0)])
    found = curves(points, "k", "gcp", ["b", "a", "c"])
    assert list(found) == ["b", "a"]
    assert found["a"] == Curve((2, 5), (2.0, 4.0), (1.41421, 0.0), (2, 1))
    assert factors(found, "a", "b") == Factors((2.0,))
    assert slope(Curve((1, 10, 100), (2.0, 200.0, 20_000.0), (0, 0, 0), (1, 1, 1))) == pytest.approx(2.0)


def test_a_figure_changes_its_hash_with_its_numbers():
    def figure(value):
        curve = Curve((1,), (value,), (0.0,), (1,))
        return Figure("x", "X", [Panel("", "k", "loss", {"compact": curve})])

    assert figure(1.0).digest == figure(1.0).digest
    assert figure(1.0).digest != figure(1.1).digest


def test_verdicts():
    def effects(*held):
        return [Effect("C1", str(at), "", "", each) for at, each in enumerate(held)]

    assert verdict(effects(True, True)) == "holds"
    assert verdict(effects(True, False)) == "holds in part"
    assert verdict(effects(False)) == "does not hold"
    assert verdict([*effects(True), Effect("C1", "ours", "", "", False, aside=True)]) == "holds"


def test_words_are_graded():
    def word(grade, **more):
        return Effect("C1", "x", "", "", grade, **more).word

    assert word(graded([0.5, 0.9], below=1)) == "holds"
    assert word(graded([0.946], above=0.95)) == "nearly holds"
    assert word(graded([0.5, 4.0], below=1)) == "holds in part, 1 of 2"
    assert word(graded([4.0], below=1)) == "does not hold"
    assert word(graded([1.0], below=1)) == "nearly holds"
    assert word(graded([1.0], below=1, closed=True)) == "holds"
    assert word(counted([True, False, True])) == "holds in part, 2 of 3"
    assert word(graded([0.5], below=1), untold=True) == "cannot be judged"
    nearly = Effect("C1", "a", "", "", graded([1.02], below=1))
    untold = Effect("C1", "b", "", "", False, untold=True)
    assert verdict([nearly, untold]) == "nearly holds"
    assert verdict([untold]) == "cannot be judged"


def test_shares_are_nearly_met_by_what_they_leave():
    """A twentieth of 98.75 % would reach down to 93.8 %: whatever meets 97 % would nearly meet it."""

    def word(value, limit):
        return Effect("C1", "x", "", "", graded([value], above=limit, share=True)).word

    assert word(0.9863, 0.9875) == "nearly holds"
    assert word(0.98, 0.9875) == "does not hold"
    assert word(0.946, 0.95) == "nearly holds"
    assert word(0.94, 0.95) == "does not hold"


def test_printed_sizes_are_compared_in_both_directions():
    limits = About.of(5.57)
    assert str(limits) == "[3.71 to 8.36]"
    assert [Effect("C1", "x", "", "", limits.grade([value])).holds for value in (3.5, 4, 8, 10.38)] == [0, 1, 1, 0]
    assert str(About.of(5, 6)) == "[3.33 to 9.00]"
    assert str(About.of(20_000)) == "[13,333 to 30,000]"


def test_statements_are_counted_in_words():
    grades = [True, True, graded([1.02], below=1), counted([True, False]), False]
    effects = [Effect("C1", str(at), "", "", grade) for at, grade in enumerate(grades)]
    effects += [Effect("C1", "time", "", "", True, untold=True), Effect("C1", "ours", "", "", True, aside=True)]
    expected = "2 hold, 1 nearly holds, 1 holds in part, 1 does not hold and 1 cannot be judged"
    assert tally(effects) == f"of 6 statements, {expected}"
    assert tally(effects[:2]) == "of 2 statements, 2 hold"


def test_verdicts_read_as_sentences(committed):
    """The word of a verdict follows "the claim": it is a verb, whatever came out."""
    words = {word for each in committed.effects for word in (each.word.split(",")[0], verdict([each]))}
    assert words <= {"holds", "nearly holds", "holds in part", "does not hold", "cannot be judged"}
    written = page.PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"the claim \*\*([a-z ]+)\*\*", written)) <= words


def test_tables_as_described_are_tested():
    """What the page says is as a paper describes its table has a test here."""
    assert all(name in globals() for _, _, name in DESCRIBED)


def test_figures_in_print_stand_beside_ours(committed):
    """Every figure that a text prints about its results, under the reading that decides; and the worked examples."""
    printed = {effect.claim for effect in committed.effects if effect.printed and not effect.aside}
    assert printed == {"C1", "C2", "C5", "C6", "C9", "C10"}
    files = {path.stem for path in page.GOLDEN.glob("*.toml")}
    named = {name for _, _, names in WORKED for name in names}
    assert named <= files
    # Papers whose texts are not among the five, and what a paper mentions without a figure.
    assert files - named <= {"lefevre2005_patients", "wong2010_ring", "xu2006_weights"}
    assert all(claim.reading for claim in CLAIMS.values())


def test_styles_tell_curves_apart():
    labels = ["top-down", "top-down, compare = seed", "compact", "compact, effort = fast", "lower bound"]
    looks = [(style_of(label)["color"], style_of(label)["marker"]) for label in labels]
    assert looks[0] != looks[1]
    assert looks[2] == looks[3]
    assert style_of("bottom-up, no weights")["linestyle"] != style_of("bottom-up, weights 8, 4, 2, 1")["linestyle"]
