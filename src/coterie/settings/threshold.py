"""The accepted risk, and its source."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from coterie.errors import ConfigError, Problem


class Threshold(NamedTuple):
    """The highest accepted risk of a record, and its source."""

    name: str
    value: Fraction
    source: str

    @property
    def rows(self) -> int:
        """The smallest class size within it."""
        return math.ceil(1 / self.value)


PRESETS: dict[str, Threshold] = {
    preset.name: preset
    for preset in (
        Threshold(
            "ema",
            Fraction(9, 100),
            "European Medicines Agency, guidance on policy 0070 (2016), and Health Canada, public release of clinical "
            "information (2019): 0.09 for public release",
        ),
        Threshold(
            "cms",
            Fraction(1, 11),
            "US Centers for Medicare & Medicaid Services, cell size suppression policy: no cell of 10 or fewer, k = 11",
        ),
        Threshold(
            "strict",
            Fraction(1, 20),
            "the strictest of the cell sizes in use, 20: El Emam and Malin in Institute of Medicine (2015), appendix B",
        ),
    )
}

DEFAULT_THRESHOLD = "ema"
# The smallest k whose risk, 1 ÷ k, is within the default threshold: a default run is not to miss its own target.
DEFAULT_K = PRESETS[DEFAULT_THRESHOLD].rows


def find_threshold(setting: str | float | Fraction | Threshold) -> Threshold:
    """Return a threshold from the name of a preset, or from a number above 0 and up to 1."""
    if isinstance(setting, Threshold):
        return setting
    if problems := threshold_problems(setting):
        raise ConfigError(problems)
    return PRESETS.get(str(setting).lower()) or Threshold(str(setting), _number(setting), "given")


def threshold_problems(setting: str | float | Fraction) -> list[Problem]:
    """Return the problem of a threshold that is neither a preset nor a number above 0 and up to 1."""
    if str(setting).lower() in PRESETS or 0 < _number(setting) <= 1:
        return []
    return [Problem("threshold", f"must be a number above 0 and up to 1, or one of {', '.join(PRESETS)}")]


def _number(setting: str | float | Fraction) -> Fraction:
    try:
        return Fraction(str(setting).strip())
    except (ValueError, ZeroDivisionError):
        return Fraction(0)
