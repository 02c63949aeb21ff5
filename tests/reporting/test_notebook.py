"""A release shows itself in a notebook."""

import re

import pyarrow as pa
import pytest

import coterie

TABLE = pa.table(
    {
        "name": ["Ann", "Bob", "Cleo", "Dan", "Eva", "Fay"],
        "age": [24, 51, 28, 58, 27, 53],
        "<i>": ["a", "b", "a", "b", "a", None],
        "disease": ["flu", "gout", "cold", "flu", "<b>cold</b>", "gout"],
    }
)
SETTINGS = {"quasi": ["age", "<i>"], "sensitive": ["disease"], "identifiers": ["name"], "k": 2}


@pytest.mark.parametrize("method", ["mondrian", "nh"])
def test_summary_rows_and_charts(method):
    release = coterie.anonymize(TABLE, method=method, **SETTINGS)
    text = release._repr_html_()
    assert release.verdict.headline in text
    assert '<th scope="row">Do the guarantees hold?</th><td>pass</td>' in text
    assert f"GCP {release.measures['gcp']:.4f}" in text
    assert text.count("<svg") == 2
    for name in ("before", "after"):
        assert f"The first rows {name}" in text
    assert "<td>51</td>" in text  # as it was
    assert str(release.frame["age"][1]) in text  # as it is
    assert "Bob" not in text
    assert "<b>" not in text
    assert "&lt;b&gt;cold" in text


def test_columns_of_bounds_stand_for_their_column():
    release = coterie.anonymize(TABLE, method="mondrian", publish={"age": "bounds"}, **SETTINGS)
    text = release._repr_html_()
    assert "age_min" in text
    assert "age_max" in text


def test_styles_and_ids_are_its_own():
    release = coterie.anonymize(TABLE, method="mondrian", **SETTINGS)
    one, other = release._repr_html_(), release._repr_html_()
    ids = [re.findall(r'\bid="([^"]+)"', text) for text in (one, other)]
    assert ids[0]
    assert not set(ids[0]) & set(ids[1])
    mark = re.search(r'<div class="(coterie-[0-9a-f]+)">', one)[1]
    (style,) = re.findall(r"<style>(.*?)</style>", one, re.DOTALL)
    rules = re.findall(r"([^{}@;]+)\{", re.sub(r"@media[^{]*\{", "", style))
    assert len(rules) > 20
    for selector in ",".join(rules).split(","):
        assert mark in selector or not selector.strip(), selector
    assert "<script" not in one
