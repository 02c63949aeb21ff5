"""The contents of a report as plain data: the HTML page shows it, and the JSON file contains it.

`report.schema.json` in this folder is the JSON schema of `Report`. In the external variant a count or a figure that is
null is hidden: it is below k, or another hidden one could be derived from it.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from coterie.settings.fields.reporting import ReleaseModel

SCHEMA_ID: Literal["urn:coterie:report:2"] = "urn:coterie:report:2"

Variant = Literal["internal", "external"]
Role = Literal["quasi-identifier", "sensitive", "identifier", "person", "kept", "dropped", "other"]
"""`other` occurs in reports of versions that published columns without a role"""
State = Literal["pass", "warn", "fail"]
Count = int | None
Figure = float | None


class Part(BaseModel):
    """A part of a report."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Promise(Part):
    """A guarantee that was verified on the published table."""

    name: str
    wanted: Figure
    found: Figure
    kept: bool
    text: str
    does_not_prove: str
    source: str = Field(description="The paper that defines the guarantee.")


class VerdictQuestion(Part):
    """A question of the verdict."""

    name: Literal["promises", "singling-out", "inference", "utility"]
    question: str
    state: State
    evidence: list[str] = Field(description="The measurements; empty in the external variant.")
    advice: list[str] = Field(description="The smallest changes that would resolve a warning.")
    accepted: list[str] = Field(description="Warnings that a person accepted in the configuration.")


class Verdict(Part):
    """The verdict on the release; its state is the worst of its questions."""

    state: State
    headline: str
    questions: list[VerdictQuestion]


class Decision(Part):
    """A setting that determines who is protected."""

    setting: str
    value: str
    by: Literal["person", "default"]


class Context(Part):
    """The context of the release given in the configuration; null if not given."""

    purpose: str | None
    recipient: str | None
    release_model: ReleaseModel | None
    release_model_meaning: str | None
    author: str | None


class Input(Part):
    """The table from which the release was made."""

    name: str | None = Field(description="Its file or kind; null in the external variant.")
    rows: Count
    columns: int
    missing_cells: Count
    sha256: str | None = Field(description="Null in the external variant: a hash can confirm a guess of the table.")
    sha256_of: str
    published_rows: int
    published_columns: int


class Attribute(Part):
    """A column of the input and how it was published."""

    name: str
    role: Role
    type: str
    hierarchy: str | None
    weight: float | None
    techniques: list[str] = Field(description="ISO/IEC 20889 terms; empty for a column published unchanged.")
    changed: Figure = Field(description="Share of its cells that changed.")
    missing: Count
    distinct: int | None


class Attacker(Part):
    """The risk of records under one attacker model."""

    highest: Figure
    average: Figure
    above: Count
    share_above: Figure


class Side(Part):
    """The risk of a table: before or after."""

    rows: Count
    classes: Count
    uniques: Count
    unique_share: Figure
    prosecutor: Attacker
    journalist: Attacker | None = Field(description="Null if nothing is known about the population.")
    marketer: Figure
    population_uniques: Figure = Field(description="Estimated share of the population that is unique in it.")


class Threshold(Part):
    """The highest accepted risk of a record, and its source."""

    name: str
    value: float
    smallest_class: int
    source: str
    chosen: bool = Field(description="Whether the configuration sets it; otherwise it is the default.")
    met: bool


class Bin(Part):
    """Rows in classes within a range of sizes."""

    smallest: int
    largest: int | None
    before: Count
    after: Count
    before_share: Figure
    after_share: Figure


class CurvePoint(Part):
    """The share of records whose risk is at least this high."""

    risk: float
    before: Figure
    after: Figure


class ColumnRisk(Part):
    """The risk that a quasi-identifier adds in the original."""

    columns: list[str]
    adds: Figure
    distinct: int
    separation: Figure


class Risk(Part):
    """Identity disclosure: re-identification risk."""

    attack_model: list[str]
    counted: Literal["rows", "people"]
    threshold: Threshold
    before: Side
    after: Side
    class_sizes: list[Bin]
    curve: list[CurvePoint]
    columns: list[ColumnRisk]
    notes: list[str]


class Linking(Part):
    """A simulated linkage attack by someone who knows the published people's original records."""

    on: list[str]
    people: Count
    sampled: bool
    matched: Count
    pinned: Count
    below_k: Count
    fewest: Count
    median: Figure
    highest: Figure
    average: Figure


class Disclosure(Part):
    """Attribute disclosure of one sensitive attribute."""

    column: str
    worst_group: dict[str, Figure] = Field(description="The value of each privacy model in the worst group.")
    baseline: Figure = Field(description="Share of the most frequent value: the best guess without the release.")
    average: Figure = Field(description="Mean confidence in a person's likeliest value after linking.")
    highest: Figure
    known_for_sure: Count
    above_baseline: Count
    lift: Figure
    right: Figure
    baseline_right: Figure


class Question(Part):
    """A question of the Article 29 Working Party (WP216), with measured evidence."""

    name: Literal["singling out", "linkability", "inference"]
    question: str
    answer: str
    evidence: list[str]
    open: str = Field(description="The questions that the evidence leaves open.")


class AttributeUtility(Part):
    """The information loss of one quasi-identifier."""

    name: str
    weight: float
    ncp: Figure
    changed: Figure
    distortion: Figure


class Bound(Part):
    """The lower bound on the loss of any grouping with this k."""

    value: Figure
    ratio: Figure
    estimated: bool
    text: str


class Queries(Part):
    """Relative errors of counting queries on the release."""

    count: int
    median: Figure
    mean: Figure
    percentile_95: Figure
    text: str


class Share(Part):
    """A value or range of values, and its frequency."""

    label: str
    before: Figure
    after: Figure


class Distribution(Part):
    """One attribute's distribution before and after. Only the internal variant has values."""

    name: str
    distance: Figure = Field(description="Total variation distance, 0 (identical) to 1.")
    levels: list[Share] = Field(description="Generalization levels of the cells; `before` is null.")
    shares: list[Share]


class Association(Part):
    """The association of two attributes."""

    columns: list[str]
    measure: str
    before: Figure
    after: Figure


class MeasureFigure(Part):
    """A measure of information loss."""

    name: str
    value: Figure
    about: str
    better: str = Field(description="lower or higher; empty if neither is better.")
    range: str
    does_not_say: str


class Utility(Part):
    """The utility of the release."""

    gcp: Figure
    ncp: Figure
    attributes: list[AttributeUtility]
    bound: Bound
    measures: list[MeasureFigure]
    groups: Count
    smallest: Count
    largest: Count
    average_size: Figure
    queries: Queries | None
    distributions: list[Distribution]
    associations: list[Association]
    notes: list[str]


class Suppression(Part):
    """The suppressed rows and values."""

    rows: Count
    share: Figure
    removed: Count
    cells: dict[str, Figure] = Field(description="Quasi-identifier → share of its cells that are fully generalized.")
    text: list[str]


class Reproducibility(Part):
    """What is needed to reproduce the release."""

    configuration: dict[str, Any]
    configuration_toml: str
    seed: int
    method: str
    method_summary: str
    method_source: str
    versions: dict[str, str]
    hashes: dict[str, str]
    notes: list[str]


class Report(Part):
    """A report on a release."""

    schema_id: Literal["urn:coterie:report:2"]
    variant: Variant
    made: str
    coterie: str
    k: int
    verdict: Verdict
    summary: str
    promises: list[Promise]
    context: Context
    input: Input
    attributes: list[Attribute]
    risk: Risk
    linking: Linking | None
    disclosure: list[Disclosure]
    questions: list[Question]
    utility: Utility
    suppression: Suppression
    limits: list[str]
    decisions: list[Decision]
    reproducibility: Reproducibility


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a report."""
    schema = Report.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, **schema}
