"""What cells look like, whatever their column is called."""

import pytest

from coterie.suggesting.contents import looks_like

FIRST = ["Ada", "Ben", "Cleo", "Dora", "Emil", "Fay", "Gus", "Hal"]
LAST = ["Moss", "Field", "Stone", "Brook", "Hill"]


@pytest.mark.parametrize(
    ("texts", "what"),
    [
        ([f"someone{at}@example.org" for at in range(9)], "e-mail addresses"),
        ([f"https://example.org/{at}" for at in range(9)], "web addresses"),
        ([f"10.0.{at}.{at + 7}" for at in range(9)], "IP addresses"),
        ([f"2001:db8::{at:x}" for at in range(9)], "IP addresses"),
        ([f"123e4567-e89b-12d3-a456-42661417400{at}" for at in range(9)], "unique identifiers (UUID)"),
        ([f"123-45-678{at}" for at in range(9)], "national identification numbers (US social security number)"),
        (
            ["DE89370400440532013000", "GB82WEST12345698765432", "FR14 2004 1010 0505 0001 3M02 606"],
            "bank accounts (IBAN)",
        ),
        (["4111111111111111", "5500-0000-0000-0004"], "card numbers"),
        ([f"48.137{at}, 11.575{at}" for at in range(9)], "places on the map"),
        ([f"+49 89 123{at}567" for at in range(9)], "telephone numbers"),
        ([f"({at}55) 555-0199" for at in range(9)], "telephone numbers"),
        ([f"{one} {two}" for one in FIRST for two in LAST], "names of people"),
        ([f"{two}, {one}" for one in FIRST for two in LAST], "names of people"),
        # None of these is any of that.
        ([f"2024-03-{at:02d}" for at in range(1, 29)], ""),
        ([f"{at}.5" for at in range(30)], ""),
        ([str(4_000_000 + at) for at in range(30)], ""),
        (["Married", "Never married", "Divorced"] * 10, ""),
        ([f"University of {one}{two}" for one in FIRST for two in LAST], ""),
        (["DE89370400440532013001", "GB82WEST12345698765431"], ""),
        ([], ""),
    ],
)
def test_contents_are_recognised(texts, what):
    assert looks_like(texts) == what
