"""Recognize the content of a column: addresses, personal and account numbers, places, names.

A column may have any name, so its cells are examined too, locally; none of them is printed. Check digits are
verified if there are any, since digits alone may be anything.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from coterie.suggesting.national_ids import NATIONAL_IDS, luhn

SHARE = 0.9
"""the share of the distinct texts that must look alike"""
MOST_CHECKED = 500
_FIRST = 50

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_URL = re.compile(r"(?:https?|ftp)://\S+|www\.\S+\.\S+", re.IGNORECASE)
_IP = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|(?=(?:[^:]*:){2,})[0-9a-fA-F:]{3,39}")
_UUID = re.compile(r"\{?[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}\}?")
_IBAN = re.compile(r"[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9]){11,30}")
_CARD = re.compile(r"\d(?:[ -]?\d){12,18}")
_PHONE = re.compile(r"\+?\(?[0-9][0-9 ()./-]{6,}")
_PLACE = re.compile(r"\(?\s*-?\d{1,2}\.\d{2,}\s*[,; ]\s*-?\d{1,3}\.\d{2,}\s*\)?")
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ].*)?")
_NUMBER = re.compile(r"[+-]?\d*\.?\d+(?:[eE][+-]?\d+)?")
_WHOLE = re.compile(r"\d+(?:\.0)?")
_NAME = re.compile(r"[^\W\d_][^\W\d_'’.-]*\.?(?:[ ,-]+[^\W\d_][^\W\d_'’.-]*\.?){1,4}")


def looks_like(texts: Sequence[str]) -> str:
    """Return what some distinct texts look like, in the plural: "e-mail addresses"; empty if not recognized."""
    some = [text.strip() for text in texts[:MOST_CHECKED] if text and text.strip()]
    if not some:
        return ""
    if all(_WHOLE.fullmatch(text) for text in some):
        # Numbers lose leading zeros, and get a ".0" in columns with missing values.
        whole = [text.split(".")[0] for text in some]
        some = [text.zfill(max(map(len, whole))) for text in whole]
    first = some[:_FIRST]  # excludes most kinds quickly
    for what, fits, least in _KINDS:
        if len(some) >= least and 2 * sum(map(fits, first)) >= len(first) and sum(map(fits, some)) >= SHARE * len(some):
            return what
    return "names of people" if _are_names(some) else ""


def _matches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


def _is_iban(text: str) -> bool:
    """Return whether it is an account number with valid check digits."""
    if _IBAN.fullmatch(text) is None:
        return False
    plain = text.replace(" ", "").upper()
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1


def _is_card(text: str) -> bool:
    """Return whether a text is a card number with a correct check digit."""
    return _CARD.fullmatch(text) is not None and luhn(text)


def _is_ip(text: str) -> bool:
    if _IP.fullmatch(text) is None:
        return False
    return ":" in text or all(int(part) < 256 for part in text.split("."))


def _is_phone(text: str) -> bool:
    """Return whether it looks like a telephone number and not like a date or plain number."""
    if _PHONE.fullmatch(text) is None or _DATE.fullmatch(text) or _NUMBER.fullmatch(text.lstrip("+")):
        return text.startswith("+") and text[1:].isdigit() and 8 <= len(text) <= 16
    return 7 <= sum(sign.isdigit() for sign in text) <= 15


def _are_names(texts: Sequence[str]) -> bool:
    """Return whether each has two to five capitalized words, nearly all unique as a whole, while single words recur."""
    named = [text for text in texts if _NAME.fullmatch(text) and text[0].isupper()]
    if len(texts) < 20 or len(named) < SHARE * len(texts):
        return False
    words = [word for text in named for word in dict.fromkeys(re.split(r"[ ,]+", text)) if len(word) > 1]
    often = Counter(words)
    recurring = sum(any(often[word] > 1 for word in re.split(r"[ ,]+", text)) for text in named)
    capital = sum(word[0].isupper() for word in words)
    # Titles and places recur too, but there a few words occur in nearly all texts.
    common = max(often.values()) / len(named)
    return recurring >= len(named) / 3 and capital >= SHARE * len(words) and common < 1 / 3


_KINDS: tuple[tuple[str, Callable[[str], bool], int], ...] = (
    ("e-mail addresses", _matches(_EMAIL), 1),
    ("web addresses", _matches(_URL), 1),
    ("IP addresses", _is_ip, 1),
    ("unique identifiers (UUID)", _matches(_UUID), 1),
    *((f"national identification numbers ({each.title})", each.fits, 5) for each in NATIONAL_IDS),
    ("bank accounts (IBAN)", _is_iban, 1),
    ("card numbers", _is_card, 1),
    ("places on the map", _matches(_PLACE), 1),
    ("telephone numbers", _is_phone, 1),
)
"""kind, test of one text, and the fewest texts that show it: a single check digit is sometimes right by chance"""
