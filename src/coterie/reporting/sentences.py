"""The fixed sentences of a report."""

from __future__ import annotations

NOT_PROVED = {
    "k-anonymity by rows": "That rows look alike: each row is hidden among k by a secret draw, and anyone who learns "
    "the draw, or knows several of the rows, may undo it. It says nothing about what the k rows have in common.",
    "k-anonymity of people": "That the people of a group differ in anything: it counts people, not their attributes.",
}
"""the limits of guarantees that are not privacy models"""

SOURCES = {
    "k-anonymity by rows": "Wong, Mamoulis, Cheung 2010",
    "k-anonymity of people": "Sweeney 2002, with people counted instead of rows",
}
"""the sources of guarantees that are not privacy models"""

RELEASE_MODELS = {
    "public": "Public: no contract and no way to recall the data, so attempts at re-identification must be expected.",
    "agreement": "Shared with named recipients who agree not to re-identify people and not to pass the data on. The "
    "agreement makes an attempt less likely, not less likely to succeed.",
    "enclave": "Used inside a controlled environment that rows do not leave; results are checked before they do.",
}

TECHNIQUES = {
    "identifier": "masking",
    "person": "masking",
    "local": "local generalization",
    "global": "generalization",
    "per-row": "local generalization",
    "mean": "microaggregation",
    "cells": "local suppression",
    "rows": "record suppression",
}
"""as named in ISO/IEC 20889:2018"""

QUESTIONS = {
    "singling out": "Is it still possible to single out an individual?",
    "linkability": "Is it still possible to link records relating to an individual?",
    "inference": "Can information be inferred concerning an individual?",
}
"""the three questions of the Article 29 Working Party, opinion 05/2014 (WP216)"""

OPEN = {
    "singling out": "Others may know more columns than those named, or sums and comparisons that are in no column.",
    "linkability": "Another release about the same people can narrow groups down (see coterie.check_joint); this "
    "attack only uses the quasi-identifiers.",
    "inference": "What a table reveals about people in general also applies to those in it; no useful release "
    "prevents that. Only the sensitive attributes were examined.",
}

LIMITS = (
    "k-anonymity hides which record belongs to a person, not what the records of a group have in common.",
    "All figures depend on the choice of quasi-identifiers. Other knowledge of an attacker is not considered.",
    "This is not differential privacy: no noise is added, and the combined disclosure of several releases about the "
    "same people is not bounded.",
    "Free text, images and rare combinations of values in other columns are not examined.",
    "Whether the release is anonymous in the legal sense is for people to decide. This report provides figures for "
    "that decision and makes no legal claim.",
)
