"""Nothing beside or inside a published file holds a value, an extreme or a hash that the cells do not show."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest
from pyarrow import feather, parquet

import coterie

# Extremes and levels that nobody may find: they are in quasi-identifiers, dropped columns and categories without rows.
SECRETS = ["987654321", "-123456789", "SECRETCITY", "SECRETLEVEL", "SECRETNAME", "SECRETINDEX", "SECRETNOTE"]


def people(rows=240):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "income": rng.integers(1000, 9000, rows),
            "city": pd.Categorical(
                rng.choice(["x", "y", "z"], rows), categories=["x", "y", "z", "SECRETCITY", "SECRETLEVEL"]
            ),
            "name": [f"SECRETNAME{at}" for at in range(rows)],
            "note": ["SECRETNOTE"] * rows,
            "ill": pd.Categorical(rng.choice(["a", "b"], rows), categories=["a", "b", "SECRETLEVEL"]),
        }
    )
    frame.loc[0, "income"], frame.loc[1, "income"], frame.loc[2, "city"] = 987654321, -123456789, "SECRETCITY"
    frame.index = pd.Index([f"SECRETINDEX{at}" for at in range(rows)], name="key")
    frame.attrs["origin"] = "SECRETNOTE"
    return frame


SETTINGS = {
    "quasi": ["income", "city"],
    "sensitive": ["ill"],
    "identifiers": ["name"],
    "drop": ["note"],
    "k": 12,
    "method": "mondrian",
    # Neither extreme nor the rare city is published: the rows that hold them are generalized to labels.
    "hierarchies": {"income": {"intervals": [10**12]}, "city": {"all": ["x", "y", "z", "SECRETCITY"]}},
    "suppressed": "remove",
}
MASK = [True] * 3 + [False] * 237


def secrets_in(folder, *, but=()):
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in but:
            content = path.read_bytes()
            if path.suffix == ".gz":
                import gzip

                content = gzip.decompress(content)
            found[path.name] = [secret for secret in SECRETS if secret.encode() in content]
    return {name: held for name, held in found.items() if held}


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "feather"])
@pytest.mark.parametrize("engine", ["memory", "blocks"])
def test_no_format_holds_what_is_not_published(tmp_path, ending, engine):
    settings = {name: value for name, value in SETTINGS.items() if name != "hierarchies"}
    table, out = people(), tmp_path / "out"
    out.mkdir()
    if engine == "memory":
        release = coterie.anonymize(table, **settings, suppress_rows=MASK)
        release.write(out / f"release.{ending}")
    else:
        table.reset_index(drop=True).to_parquet(tmp_path / "in.parquet")
        release = coterie.anonymize(
            tmp_path / "in.parquet",
            **settings,
            suppress_rows=MASK,
            engine="blocks",
            block_rows=100,
            output=out / f"release.{ending}",
        )
    release.report(out / "external.json", variant="external")
    release.report(out / "external.html", variant="external")
    assert secrets_in(out) == {}
    if ending in ("parquet", "feather"):
        path = out / f"release.{ending}"
        schema = parquet.read_schema(path) if ending == "parquet" else feather.read_table(path).schema
        assert not schema.metadata
        assert all(not field.metadata for field in schema)


def test_hierarchies_and_settings_hold_no_secret_extremes(tmp_path):
    release = coterie.anonymize(people(), **SETTINGS)
    release.write(tmp_path / "release.parquet")
    release.write(tmp_path / "release.csv")
    release.report(tmp_path / "external.json", variant="external")
    held = secrets_in(tmp_path)
    # The hierarchy of the city names its values: whoever gives it publishes it. Nothing else is told.
    assert {name: set(secrets) - {"SECRETCITY"} for name, secrets in held.items()} in (
        {},
        {name: set() for name in held},
    )
    assert all(name.endswith(".toml") for name in held)


def test_no_hash_confirms_a_guess_of_the_input(tmp_path):
    table = people().reset_index(drop=True)
    table.to_csv(tmp_path / "in.csv", index=False)
    digest = hashlib.sha256((tmp_path / "in.csv").read_bytes()).hexdigest()
    out = tmp_path / "out"
    out.mkdir()
    release = coterie.anonymize(tmp_path / "in.csv", **SETTINGS, suppress_rows=MASK)
    release.write(out / "release.csv")
    release.report(out / "external.json", variant="external")
    release.report(out / "external.html", variant="external")
    masks = release.masks_sha256
    assert masks
    for path in out.iterdir():
        content = path.read_text(encoding="utf-8")
        assert digest not in content
        assert masks not in content
    assert json.loads((out / "external.json").read_text(encoding="utf-8"))


def test_the_frame_of_a_release_forgets_levels_index_and_notes():
    frame = coterie.anonymize(people(), **SETTINGS, suppress_rows=MASK).frame
    assert list(frame["ill"].cat.categories) == ["a", "b"]
    assert frame.index.equals(pd.RangeIndex(len(frame)))
    assert not frame.attrs
