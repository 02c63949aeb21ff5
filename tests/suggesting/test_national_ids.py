"""National identification numbers: published examples fit, wrong digits and random digits do not."""

import random

import pandas as pd
import pytest

import coterie
from coterie.suggesting.contents import looks_like
from coterie.suggesting.national_ids import NATIONAL_IDS

# Examples that authorities and handbooks print; nobody's own.
EXAMPLES = {
    "Italian codice fiscale": "RCCMNL83S18D969H",
    "Spanish DNI or NIE": "54362315-K",
    "UK National Insurance number": "AB 12 34 56 C",
    "Finnish HETU": "131052-308T",
    "Chinese resident number": "11010519491231002X",
    "French NIR": "2 95 10 99 126 111 93",
    "Swiss AHV number": "756.9217.0769.85",
    "Belgian national number": "85.07.30-033.28",
    "Norwegian fødselsnummer": "15108695088",
    "Brazilian CPF": "390.533.447-05",
    "Turkish identity number": "17291716060",
    "Polish PESEL": "44051401359",
    "Romanian CNP": "1630615123457",
    "South Korean resident number": "971013-9019902",
    "South African identity number": "7503305044089",
    "German tax number": "36 574 261 809",
    "Croatian OIB": "33392005961",
    "Swedish personnummer": "811218-9876",
    "Danish CPR number": "211062-5629",
    "Czech or Slovak birth number": "710319/2745",
    "UK NHS number": "943 476 5919",
    "Indian Aadhaar": "2341 2341 2346",
    "Australian Medicare number": "2123 45670 1",
    "Dutch BSN": "111222333",
    "Portuguese NIF": "501 964 843",
    "Australian tax file number": "123 456 782",
    "Canadian SIN": "123-456-782",
    "US social security number": "536-90-4399",
}
BY_DATE = ("South Korean resident number", "Danish CPR number")
WITHOUT_CHECK = ("UK National Insurance number", "US social security number", *BY_DATE)


def test_every_kind_has_an_example():
    assert set(EXAMPLES) == {each.title for each in NATIONAL_IDS}


@pytest.mark.parametrize("title", EXAMPLES)
def test_an_example_fits_and_a_wrong_digit_does_not(title):
    kinds = [each for each in NATIONAL_IDS if each.title == title]
    text = EXAMPLES[title]
    assert any(each.fits(text) for each in kinds)
    if title in WITHOUT_CHECK:
        return
    # The last of Medicare's ten says which card it is; some rules write both 10 and 0 as 0, so they miss a few faults.
    places = range(len(text) - ("Medicare" in title))
    wrong = [text[:at] + other + text[at + 1 :] for at in places if text[at].isdigit() for other in "0123456789"]
    passing = [other for other in wrong if other != text and any(each.fits(other) for each in kinds)]
    assert len(passing) <= (2 if title in ("Brazilian CPF", "Portuguese NIF") else 0)


@pytest.mark.parametrize("title", BY_DATE)
def test_without_a_check_digit_the_date_has_to_be_one(title):
    kinds = [each for each in NATIONAL_IDS if each.title == title]
    assert not any(each.fits("3" * 2 + EXAMPLES[title][2:].replace("10", "13").replace("06", "33")) for each in kinds)


@pytest.mark.parametrize("length", range(7, 20))
def test_random_and_consecutive_numbers_are_none(length):
    draw = random.Random(length)
    digits = ["".join(draw.choices("0123456789", k=length)) for _ in range(200)]
    assert "national" not in looks_like(digits)
    start = 10 ** (length - 1)
    assert looks_like([str(start + at) for at in range(200)]) == ""


def _bsn() -> list[int]:
    """Numbers of nine digits and fewer that pass the Dutch test, by the rule as it is written in the law."""
    found = []
    for number in range(10_000_000, 10_003_000):
        digits = [int(sign) for sign in f"{number:09d}"]
        if sum(weight * digit for weight, digit in zip((9, 8, 7, 6, 5, 4, 3, 2, -1), digits, strict=True)) % 11 == 0:
            found.append(number)
    return found[:100]


@pytest.mark.parametrize("kind", ["int64", "float64", "string"])
def test_a_column_of_numbers_by_any_name_is_an_identifier(kind):
    numbers = [*_bsn(), 111222333] * 2  # two rows a person; zeros at the front are lost
    frame = pd.DataFrame({"v17": pd.Series(numbers).astype(kind), "age": [20 + at % 40 for at in range(len(numbers))]})
    guess, _ = coterie.suggest(frame).columns
    assert guess.role == "identifier"
    assert guess.reason == "its cells look like national identification numbers (Dutch BSN)"
    assert not any(str(number) in coterie.suggest(frame).toml for number in numbers)
