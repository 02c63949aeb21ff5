"""The context of a release that reports include besides its figures."""

from __future__ import annotations

import re
from typing import Literal

from coterie.settings.fields._setting import Group, setting


def _effort(value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"quick|good|best|\d+(\.\d+)?", value):
        raise ValueError("must be quick, good, best or a number of seconds")
    return value


ReleaseModel = Literal["public", "agreement", "enclave"]


_INTRO = "Whoever signs off the release reads this first. It does not change the release."


class Reporting(Group, title="Report", intro=_INTRO, decides="nothing"):
    """Who the release is for."""

    purpose: str | None = setting(
        None,
        "Purpose of the release, in one sentence, for the report.",
    )
    recipient: str | None = setting(
        None,
        "Recipient of the release, for the report.",
    )
    release_model: ReleaseModel | None = setting(
        None,
        "Release model, for the report: public, agreement or enclave.",
        more="The same data carry more risk in public than under an agreement with named recipients or in a controlled "
        "environment that rows do not leave.",
        choices={
            "public": "public",
            "agreement": "named recipients, under an agreement",
            "enclave": "controlled environment (enclave)",
        },
        metavar="MODEL",
    )
    author: str | None = setting(
        None,
        "Author of the release, who is responsible for it, for the report.",
    )
    fraction: float | None = setting(
        None,
        "Sampling fraction: the share of the population that is in the table, for risk and the report.",
        more="It lowers the reported risk.",
        title="Sampling fraction, from 0 to 1",
        metavar="SHARE",
        commands="risk",
        limits={"gt": 0, "le": 1},
        decides="figures",
    )
    bound_effort: str | None = setting(
        None,
        "Effort for the lower bound on the loss: quick, good, best, or a number of seconds.",
        more="More effort gives a higher bound, and so a smaller gap between the loss and the least possible loss. It "
        "never changes the release. With a number of seconds, the bound depends on the machine. By default it is "
        "quick, and the verdict has the bound only for tables of up to 20,000 rows; if the effort is set, it has it "
        "for every table in memory.",
        why="quick takes about as long as the release itself, good two to thirty times as long; best takes "
        "minutes, more for large groups.",
        title="Effort for the lower bound",
        metavar="EFFORT",
        screen="run",
        commands="compare",
        after=_effort,
        decides="figures",
    )
