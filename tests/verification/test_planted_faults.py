"""Faults planted into what makes a release: each gets past the repair, and the judge refuses the release."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv

import coterie
from coterie.cli.app import main
from coterie.errors import VerificationError
from coterie.privacy import closeness, distance, diversity, histogram
from coterie.privacy.closeness import BetaLikeness, DeltaDisclosure, TCloseness
from coterie.privacy.diversity import AlphaK, LDiversity
from coterie.privacy.kmap import KMap

TREE = {"breath": ["flu", "cold"], "joints": {"sore": ["gout", "arthritis"], "bone": ["fracture"]}}


def people(rows=300):
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "age": rng.integers(20, 80, rows),
            "ill": rng.choice(["flu", "cold", "gout", "arthritis", "fracture"], rows, p=[0.5, 0.2, 0.1, 0.1, 0.1]),
            "pay": rng.integers(1, 9, rows),
            "who": rng.integers(0, 12, rows),
        }
    )


def always(kind):
    def plant(patch):
        patch.setattr(kind, "holds", lambda self, groups, column=None: np.ones(len(groups.sizes), dtype=bool))

    return plant


def wrong_limit(name, home):
    """The comparison with a limit is lenient: twice, or half, what is wanted."""

    def plant(patch):
        right = getattr(home, name)
        patch.setattr(home, name, lambda one, two, limit: right(one * 2, two, limit))

    return plant


def half_distance(patch):
    right = distance.distance
    patch.setattr(closeness, "distance", lambda *args: right(*args)._replace(numerator=right(*args).numerator // 3))


def lost_classes(patch):
    """The last groups are not looked at."""
    right = LDiversity.holds

    def holds(self, groups, column=None):
        kept = right(self, groups, column)
        kept[len(kept) // 2 :] = True
        return kept

    patch.setattr(LDiversity, "holds", holds)


def half_the_rows(patch):
    """Another denominator: every value seems twice as frequent in the table as it is."""
    patch.setattr(histogram.Histogram, "rows", property(lambda self: int(self.totals.sum()) // 2))


def entropy_of_nothing(patch):
    patch.setattr(diversity, "entropy_signs", lambda entropies, limit, **more: np.ones(len(entropies), dtype=np.int8))


def more_values(patch):
    """Every group seems to hold one more value than it does."""
    patch.setattr(histogram.Histogram, "distinct", property(lambda self: np.diff(self.starts) + 1))


FAULTS = {
    "distinct": (always(LDiversity), ["l-diversity:3:ill"]),
    "a value too many": (more_values, ["l-diversity:3:ill"]),
    "groups left out": (lost_classes, ["l-diversity:3:ill"]),
    "frequency": (wrong_limit("ratio_signs", diversity), ["l-diversity:1.5:ill:frequency"]),
    "entropy": (entropy_of_nothing, ["l-diversity:2.5:ill:entropy"]),
    "recursive": (always(LDiversity), ["l-diversity:2:ill:recursive:2"]),
    "alpha": (always(AlphaK), ["alpha-k:0.6:ill"]),
    "t": (always(TCloseness), ["t-closeness:0.25:ill"]),
    "t ordered": (half_distance, ["t-closeness:0.15:pay:ordered"]),
    "t hierarchical": (half_distance, ["t-closeness:0.2:ill:hierarchical"]),
    "another denominator": (half_the_rows, ["beta-likeness:1:ill"]),
    "beta": (always(BetaLikeness), ["beta-likeness:1:ill"]),
    "beta enhanced": (always(BetaLikeness), ["beta-likeness:1.5:ill:enhanced"]),
    "delta": (always(DeltaDisclosure), ["delta-disclosure:1.5:ill"]),
    "k-map": (always(KMap), ["k-map:40:population.csv"]),
    "people": (always(LDiversity), []),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_judge_refuses(fault, tmp_path, monkeypatch, capsys):
    plant, privacy = FAULTS[fault]
    monkeypatch.chdir(tmp_path)
    arrow_csv.write_csv(people().select(["age"]), tmp_path / "population.csv")
    arrow_csv.write_csv(people(), tmp_path / "people.csv")
    roles = {"quasi": ["age"], "sensitive": ["ill", "pay"], "hierarchies": {"ill": TREE}, "k": 4, "method": "mondrian"}
    roles |= {"entity": "who"} if fault == "people" else {"drop": ["who"]}
    settings = coterie.Config(**roles, privacy=privacy)
    sound = coterie.anonymize(people(), config=settings)
    assert sound.verification.passed
    plant(monkeypatch)
    with pytest.raises(VerificationError, match="does not satisfy its guarantee"):
        coterie.anonymize(people(), config=settings)
    (tmp_path / "coterie.toml").write_text(settings.to_toml())
    assert main(["anonymize", "people.csv", "-c", "coterie.toml", "-o", "out.csv"]) == 5
    assert "does not satisfy its guarantee" in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()
