"""The sentences of a report that do not depend on figures."""

from __future__ import annotations

NOT_PROVED = {
    "k-anonymity": "That nothing is learnt of a person: rows of a group may share a sensitive value. It counts the "
    "columns "
    "that were named as quasi-identifiers only, and does not stop those who know others.",
    "k-anonymity by rows": "That rows look alike: each row is hidden among k by a secret draw, and whoever learns the "
    "draw, "
    "or knows several of the rows, may undo it. It says nothing about what the k rows have in common.",
    "k-anonymity of people": "That the people of a group differ in anything: it counts people, not what is said of "
    "them.",
    "l-diversity": "That the values of a group differ in meaning (two names for one illness count as two), or that "
    "they are "
    "as likely as elsewhere: a value may still become much likelier in a group than in the table.",
    "t-closeness": "That a rare value does not become many times likelier in some group: the distance sums over all "
    "values. "
    "It says nothing about what the whole table teaches of everybody in it.",
    "alpha-k": "That values which are rarer than α are protected: one of them may become far likelier in a group than "
    "in "
    "the table.",
    "beta-likeness": "That nothing is learnt from values that become rarer in a group: basic β-likeness limits gains "
    "only.",
    "delta-disclosure": "That nothing is learnt: how likely a value is may change by the factor that was accepted.",
    "k-map": "Anything about a person whom the attacker knows to be in the table: it counts in the population, and "
    "holds as "
    "far as that table is the population.",
}
"""what a promise does not prove, by the name of its check"""

SOURCES = {
    "k-anonymity by rows": "Wong, Mamoulis, Cheung 2010",
    "k-anonymity of people": "Sweeney 2002, with people counted instead of rows",
}
"""who defined the promises that are no privacy model of their own"""

RELEASE_MODELS = {
    "public": "Given to everybody: no contract and no way to call it back, so attempts to trace people must be "
    "expected.",
    "agreement": "Given to named recipients who sign not to trace people and not to pass it on. The agreement lowers "
    "how "
    "likely an attempt is, not how likely it succeeds.",
    "enclave": "Used inside a controlled place; rows do not leave it, results are checked before they do.",
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
"""as ISO/IEC 20889:2018 names them"""

QUESTIONS = {
    "singling out": "Is it still possible to single out an individual?",
    "linkability": "Is it still possible to link records relating to an individual?",
    "inference": "Can information be inferred concerning an individual?",
}
"""the three questions of the Article 29 Working Party, opinion 05/2014 (WP216)"""

OPEN = {
    "singling out": "Others may know more columns than those named, or sums and comparisons that no column holds.",
    "linkability": "Another release about the same people can narrow groups down (coterie.check_joint tells); the "
    "attack "
    "here knows no more than the quasi-identifiers.",
    "inference": "What a table teaches of people in general holds for those in it too; no release that is of use "
    "prevents "
    "that. Only the columns named as sensitive were looked at.",
}

LIMITS = (
    "k-anonymity hides which record is a person's, not what the records of a group have in common.",
    "All figures rest on the choice of quasi-identifiers. What others know besides them is not counted.",
    "This is not differential privacy: the release is no noisy answer, and what several releases about the same people "
    "give away together is not bounded.",
    "Free text, pictures and rare combinations in other columns are not looked at.",
    "Whether the release is anonymous in law is for people to judge. This report gives figures to judge by and claims "
    "nothing.",
)
