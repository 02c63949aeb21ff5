"""National identification numbers: their form and, where they have one, their check digit. One line each.

A number without a check digit must contain a valid date. Codes that only look alike fail either test most of the time,
and a column is taken for numbers of one kind only if nearly all of its cells pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple


class NationalId(NamedTuple):
    """One kind of number."""

    title: str
    pattern: re.Pattern[str]
    """of the number without spaces, dots, dashes and slashes, in capitals"""
    valid: Callable[[str], bool]
    marked: re.Pattern[str] | None = None
    """of the number as written, if only that distinguishes it from other numbers"""

    def fits(self, text: str) -> bool:
        """Return whether a text is such a number."""
        plain = _SIGNS.sub("", text).upper()
        if self.pattern.fullmatch(plain) is None or (self.marked is not None and self.marked.fullmatch(text) is None):
            return False
        return self.valid(plain)


_SIGNS = re.compile(r"[ ./-]")


def _digits(text: str) -> list[int]:
    return [int(sign, 36) for sign in text]


def _sum(text: str, weights: Sequence[int]) -> int:
    return sum(weight * digit for weight, digit in zip(weights, _digits(text), strict=False))


def _weighted(modulus: int, *weights: int, rest: int = 0) -> Callable[[str], bool]:
    """Whether the weighted sum of all digits, the check digit among them, leaves this rest."""
    return lambda text: _sum(text, weights) % modulus == rest


def _digit_of(modulus: int, weights: Sequence[int], *, minus: bool = True, ten: int = 0) -> Callable[[str], bool]:
    """Whether the digit after the weighted ones is what their sum leaves, or what it lacks; `ten` stands for 10."""

    def valid(text: str) -> bool:
        left = _sum(text, weights) % modulus
        check = (-left) % modulus if minus else left
        return (check if check < 10 else ten) == int(text[len(weights)])

    return valid


def luhn(text: str) -> bool:
    """Return whether the last digit is the check digit by Luhn's rule."""
    digits = [int(sign) for sign in text if sign.isdigit()][::-1]
    return (sum(digits[::2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2])) % 10 == 0


def _iso_11_10(text: str) -> bool:
    """ISO 7064, MOD 11,10."""
    check = 10
    for digit in _digits(text[:-1]):
        check = ((check + digit) % 10 or 10) * 2 % 11
    return (11 - check) % 10 == int(text[-1])


_D5 = [[(i + j) % 5 if i < 5 and j < 5 else (i + j) % 5 + 5 if i < 5 else (i - j) % 5 + 5 if j < 5 else (i - j) % 5
        for j in range(10)] for i in range(10)]  # fmt: skip
_TURNS = [list(range(10)), [1, 5, 7, 6, 2, 8, 3, 0, 9, 4]]
for _ in range(6):
    _TURNS.append([_TURNS[-1][_TURNS[1][digit]] for digit in range(10)])


def _verhoeff(text: str) -> bool:
    """Verhoeff's rule: the digits as turns and mirrorings of a pentagon."""
    check = 0
    for place, digit in enumerate(reversed(_digits(text))):
        check = _D5[check][_TURNS[place % 8][digit]]
    return check == 0


def _born(
    order: str, start: int = 0, *, months: Sequence[int] = (0,), days: Sequence[int] = (0,)
) -> Callable[[str], bool]:
    """Whether the digits from `start` on are a date, such as "ymd"; numbers are added to months or days as marks."""

    def valid(text: str) -> bool:
        part = dict(zip(order, (int(text[at : at + 2]) for at in (start, start + 2, start + 4)), strict=True))
        return any(_is_date(2000 + part["y"], part["m"] - month, part["d"] - day) for month in months for day in days)

    return valid


def _is_date(year: int, month: int, day: int) -> bool:
    # The century of a two-digit year is unknown; from 2000 on, every fourth year is a leap year.
    try:
        return bool(date(year, month, day))
    except ValueError:
        return False


def _all(*tests: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda text: all(test(text) for test in tests)


def _belgian(text: str) -> bool:
    return any(97 - int(century + text[:9]) % 97 == int(text[9:]) for century in ("", "2"))


def _nir(text: str) -> bool:
    corsican = text.replace("2A", "19").replace("2B", "18")
    return 97 - int(corsican[:13]) % 97 == int(corsican[13:])


_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)


def _codice_fiscale(text: str) -> bool:
    places = [int(sign) if sign.isdigit() else ord(sign) - ord("A") for sign in text]
    return (sum(_ODD[place] for place in places[:15:2]) + sum(places[1:15:2])) % 26 == places[15]


def _dni(text: str) -> bool:
    number = text[:-1].translate(str.maketrans("XYZ", "012"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == text[-1]


def _hetu(text: str) -> bool:
    return "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(text[:6] + text[-4:-1]) % 31] == text[-1]


def _chinese(text: str) -> bool:
    weights = [2**place % 11 for place in range(17, 0, -1)]
    return "10X98765432"[_sum(text[:17], weights) % 11] == text[17]


def _turkish(text: str) -> bool:
    digits = _digits(text)
    tenth = (7 * sum(digits[0:9:2]) - sum(digits[1:8:2])) % 10
    return digits[9] == tenth and digits[10] == sum(digits[:10]) % 10


def _id(title: str, pattern: str, *tests: Callable[[str], bool], marked: str | None = None) -> NationalId:
    return NationalId(title, re.compile(pattern), _all(*tests), None if marked is None else re.compile(marked, re.I))


NATIONAL_IDS: tuple[NationalId, ...] = (
    # Those with letters or two check digits first: these do not match by chance.
    _id("Italian codice fiscale", r"[A-Z]{6}\d[\dL-V][A-EHLMPRST][\dL-V]{2}[A-Z][\dL-V]{3}[A-Z]", _codice_fiscale),
    _id("Spanish DNI or NIE", r"[XYZ\d]\d{7}[A-Z]", _dni),
    _id("UK National Insurance number", r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]"),
    _id("Finnish HETU", r"\d{6}[+A-FU-Y]?\d{3}[\dA-Y]", _hetu, _born("dmy"), marked=r"\d{6}[-+A-FU-Y]\d{3}[\dA-Y]"),
    _id("Chinese resident number", r"[1-9]\d{5}(?:19|20)\d{9}[\dX]", _chinese),
    _id("French NIR", r"[1-478]\d{4}(?:\d{2}|2[AB])\d{8}", _nir),
    _id("Swiss AHV number", r"756\d{10}", _weighted(10, *(1, 3) * 6, 1)),
    _id("Belgian national number", r"\d{11}", _belgian, _born("ymd", months=(0, 20, 40), days=(0,))),
    _id("Norwegian fødselsnummer", r"\d{11}", _weighted(11, 3, 7, 6, 1, 8, 9, 4, 5, 2, 1),
        _weighted(11, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1), _born("dmy", months=(0, 40, 80), days=(0, 40))),
    _id("Brazilian CPF", r"(?!(\d)\1{10})\d{11}", _digit_of(11, range(10, 1, -1)), _digit_of(11, range(11, 1, -1))),
    _id("Turkish identity number", r"[1-9]\d{10}", _turkish),
    _id("Polish PESEL", r"\d{11}", _digit_of(10, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)),
        _born("ymd", months=(0, 20, 40, 60, 80))),
    _id("Romanian CNP", r"[1-8]\d{12}", _digit_of(11, (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9), minus=False, ten=1),
        _born("ymd", 1)),
    _id("South Korean resident number", r"\d{6}[0-9]\d{6}", _born("ymd"), marked=r"\d{6}-\d{7}"),
    _id("South African identity number", r"\d{10}[01]\d\d", luhn, _born("ymd")),
    _id("German tax number", r"[1-9]\d{10}", _iso_11_10),
    _id("Croatian OIB", r"\d{11}", _iso_11_10),
    _id("Swedish personnummer", r"(?:19|20)?\d{6}\+?\d{4}", lambda text: luhn(text.replace("+", "")[-10:]),
        lambda text: _born("ymd", days=(0, 60))(text.replace("+", "")[-10:])),
    _id("Danish CPR number", r"\d{10}", _born("dmy"), marked=r"\d{6}-\d{4}"),
    _id("Danish CPR number", r"\d{10}", _born("dmy"), _weighted(11, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)),
    _id("Czech or Slovak birth number", r"\d{10}", lambda text: int(text[:9]) % 11 % 10 == int(text[9]),
        _born("ymd", months=(0, 20, 50, 70))),
    _id("UK NHS number", r"\d{10}", _weighted(11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)),
    _id("Indian Aadhaar", r"[2-9]\d{11}", _verhoeff),
    _id("Australian Medicare number", r"[2-6]\d{9}\d?", _digit_of(10, (1, 3, 7, 9, 1, 3, 7, 9), minus=False)),
    _id("Dutch BSN", r"\d{9}", _weighted(11, 9, 8, 7, 6, 5, 4, 3, 2, -1)),
    _id("Portuguese NIF", r"[1-35-9]\d{8}", _digit_of(11, range(9, 1, -1))),
    _id("Australian tax file number", r"\d{9}", _weighted(11, 1, 4, 3, 7, 5, 8, 6, 9, 10)),
    _id("Canadian SIN", r"[1-79]\d{8}", luhn),
    _id("US social security number", r"\d{9}", marked=r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}"),
)  # fmt: skip
