"""Collect the contents of a report and, for the external variant, hide what must be hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from coterie.files.tables import source_hash
from coterie.methods import find_method
from coterie.reporting import model
from coterie.reporting.attack import attacked, disclosure_part, linking_part, questions_part
from coterie.reporting.columns import attributes_part, hierarchy_text, starred_rows
from coterie.reporting.hide import Hider, plain_configuration
from coterie.reporting.risk import risk_part
from coterie.reporting.sentences import LIMITS, NOT_PROVED, RELEASE_MODELS, SOURCES
from coterie.reporting.utility import utility_part
from coterie.settings.registry import FIELDS, MODELS
from coterie.settings.toml import write_toml

if TYPE_CHECKING:
    from coterie.releases.release import Release
    from coterie.table.domain import Domain

# Longer hierarchies are written out only in the provenance file.
MOST_LEAVES = 300


def gather(release: Release, variant: model.Variant) -> model.Report:
    """Return the report on a release as data."""
    config, external = release.config, variant == "external"
    hider = Hider(config.k, external=external, rows=release.original_rows, published=release.published_rows)
    provenance = release.provenance()
    risk = risk_part(release, hider)
    attack = attacked(release)
    linking, disclosure = linking_part(release, attack, hider), disclosure_part(release, attack, hider)
    return model.Report(
        schema_id=model.SCHEMA_ID,
        variant=variant,
        made=provenance["made"],
        coterie=provenance["coterie"],
        k=config.k,
        verdict=_verdict(release, external=external),
        summary=_summary(release, risk),
        promises=_promises(release, hider),
        context=model.Context(
            purpose=config.purpose,
            recipient=config.recipient,
            release_model=config.release_model,
            release_model_meaning=None if config.release_model is None else RELEASE_MODELS[config.release_model],
            author=config.author,
        ),
        input=_input(release, hider),
        attributes=attributes_part(release, hider),
        risk=risk,
        linking=linking,
        disclosure=disclosure,
        questions=questions_part(release, risk, linking, disclosure),
        utility=utility_part(release, hider),
        suppression=_suppression(release, hider),
        limits=_limits(release),
        decisions=_decisions(release),
        reproducibility=_reproducibility(release, provenance, external=external),
    )


def _verdict(release: Release, *, external: bool) -> model.Verdict:
    """Return the verdict. Its evidence has small counts, so the external variant leaves it out."""
    verdict = release.verdict
    return model.Verdict(
        state=verdict.state,
        headline=verdict.headline,
        questions=[
            model.VerdictQuestion(
                name=name,  # type: ignore[arg-type]
                question=question.title,
                state=question.state,
                evidence=[] if external else list(question.evidence),
                advice=list(question.advice),
                accepted=list(question.accepted),
            )
            for name, question in verdict.questions.items()
        ],
    )


def _decisions(release: Release) -> list[model.Decision]:
    """List the decisions, each made by a person or by default."""
    made = []
    for name in (name for name, each in FIELDS.items() if each.protects):
        value, default = getattr(release.config, name), type(release.config).model_fields[name].default
        made.append(model.Decision(setting=name, value=_text(value), by="default" if value == default else "person"))
    return made


def _text(value: object) -> str:
    if value is None or value in ((), {}):
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{name} = {each}" for name, each in value.items())
    if isinstance(value, tuple):
        return ", ".join(each if isinstance(each, str) else str(each.title) for each in value)
    return str(value)


def _summary(release: Release, risk: model.Risk) -> str:
    found, config = release.verification, release.config
    told = f"{found.rows:,} rows are published, "
    if release.by_rows:
        told += f"each hidden among {config.k:,} by a secret draw."
    else:
        told += f"each in one of {found.groups:,} equivalence classes of at least {found.k:,} rows."
    told += f" The highest risk of a record is {risk.after.prosecutor.highest:.4g}, "
    told += "within" if risk.threshold.met else "above"
    return f"{told} the threshold of {risk.threshold.value:.4g}."


def _promises(release: Release, hider: Hider) -> list[model.Promise]:
    made = []
    for check in release.verification.checks:
        name = check.name.split("(")[0]
        known = MODELS.get(name)
        source = SOURCES.get(name) or (known.paper if known else "")
        made.append(
            model.Promise(
                name=check.name,
                wanted=hider.figure(check.wanted),
                found=hider.figure(check.found),
                kept=check.passed,
                text=check.text,
                does_not_prove=NOT_PROVED.get(name)
                or (known.not_proved if known else "Anything beyond what its text says."),
                source=source,
            )
        )
    return made


def _input(release: Release, hider: Hider) -> model.Input:
    source, table = release.source, release.source.table
    missing = sum(release.missing.values())
    digest, what = None, "withheld: a hash would confirm a guess of the whole table; the internal report has it"
    if not hider.external:
        digest = source_hash(source)
        what = "the table as an Arrow IPC stream" if source.sha256 is None else "the file on disk"
    return model.Input(
        name=None if hider.external else source.name if source.path is None else source.path.name,
        rows=hider.of_rows(release.original_rows),
        columns=table.num_columns,
        missing_cells=hider.count(missing),
        sha256=digest,
        sha256_of=what,
        published_rows=release.published_rows,
        published_columns=release.published.table.num_columns,
    )


def _suppression(release: Release, hider: Hider) -> model.Suppression:
    rows = release.original_rows
    suppressed = int(release.measures["suppressed"])
    removed = rows - release.published_rows
    told = []
    if suppressed == 0:
        told.append("No row was suppressed.")
    elif removed == 0:
        told.append("Suppressed rows are published with * in every quasi-identifier.")
    else:
        told.append("Suppressed rows were removed.")
    if release.config.suppress_at_most is not None:
        told.append(f"The method was allowed to suppress at most {release.config.suppress_at_most:g} % of the rows.")
    if release.config.missing == "suppress":
        told.append("Rows with a missing quasi-identifier were to be suppressed.")
    if release.masked and not hider.external:
        told.append(release.masked)
    elif release.masked:
        told.append("The author suppressed some rows or cells by hand.")
    cells = {name: starred_rows(release, at) for at, name in enumerate(release.config.quasi)}
    return model.Suppression(
        rows=hider.count(suppressed, of=rows),
        share=hider.share(suppressed, of=rows),
        removed=hider.count(removed),
        cells={name: hider.share(count, of=rows) for name, count in cells.items()},
        text=told,
    )


def _limits(release: Release) -> list[str]:
    told = list(LIMITS)
    if release.config.keep:
        listed = ", ".join(release.config.keep)
        told.insert(0, f"Kept columns are published unchanged: {listed}. The verdict counts whom they single out.")
    if not release.config.sensitive:
        told.insert(0, "No column was named as sensitive, so shared values within groups were not measured.")
    if not release.complete:
        told.append(
            f"The release was made in {release.blocks:,} blocks and is not in memory. Guarantees, losses and risk "
            "cover all rows; linking, disclosure, queries and distributions were measured on a sample of "
            f"{release.table.rows:,} rows in whole groups, chosen by a hash of their published cells."
        )
    if release.config.time_limit is not None:
        told.append("A time limit was set: on another machine the same configuration may give a different release.")
    return told


def _reproducibility(release: Release, provenance: dict[str, Any], *, external: bool) -> model.Reproducibility:
    config, method = release.config, find_method(release.config.method)
    values = config.to_dict()
    secret = config.method_options().secrets
    values["options"] = {name: value for name, value in values["options"].items() if name not in secret}
    domains = {domain.name: domain for domain in (*release.table.domains, *release.table.sensitive)}
    notes = ["The same input, configuration, version and seed give the same release."]
    if secret:
        names = ", ".join(sorted(secret))
        notes = [f"The secret option {names} is left out on purpose: without it the release cannot be reproduced."]
    shapes = {name: cast(str, hierarchy_text(config, domains.get(name), name)) for name in config.hierarchies}
    if external:
        values = plain_configuration(values, shapes=shapes)
        notes.append(
            "Hierarchies and orders are given by their shape, and texts that may occur in the data are left out."
        )
    else:
        long = [name for name in config.hierarchies if _leaves(domains.get(name)) > MOST_LEAVES]
        values["hierarchies"] = {
            name: shapes[name] if name in long else spec for name, spec in values.get("hierarchies", {}).items()
        }
        notes += [f"The hierarchy of {name} is long; the provenance file has it in full." for name in long]
        notes += list(release.notes)
    versions = {name: str(provenance[name]) for name in ("coterie", "python", "numpy", "numba", "pyarrow")}
    hashes = {f"release {name}": digest for name, digest in release.written.items()}
    if not external and release.source.sha256 is not None:
        hashes = {"input": release.source.sha256} | hashes
    return model.Reproducibility(
        configuration=values,
        configuration_toml=write_toml(values),
        seed=config.seed,
        method=config.method,
        method_summary=method.summary,
        method_source=method.paper,
        versions=versions,
        hashes={
            ("release" if external and name.startswith("release") else name): each for name, each in hashes.items()
        },
        notes=notes,
    )


def _leaves(domain: Domain | None) -> int:
    return 0 if domain is None or domain.tree is None else int(domain.tree.whole_size[0])
