"""Parse queries such as `sum(hours) where age between 30 and 40 and sex = 'Male'`.

    query      = [ "count" [ "(" "*" ")" ] | "sum" "(" column ")" ] [ "where" ] [ conditions ]
    conditions = condition { "and" condition }
    condition  = column ( "=" | "!=" | "<>" | "<" | "<=" | ">" | ">=" ) value
               | column [ "not" ] "between" value "and" value
               | column [ "not" ] "in" "(" value { "," value } ")"
               | column "is" [ "not" ] "null"
               | "(" conditions ")"
    column     = a name of letters, digits, _ . and - ; or any text in "double quotes" or `backticks`
    value      = a number, or text in 'single quotes', where '' stands for one quote

Keywords are case-insensitive. There is no `or`: it would join boxes that an estimate keeps apart. Nothing is
evaluated; a query only becomes conditions on columns. Messages name columns and positions, never values.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from coterie.values.scalars import NUMBER

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>'(?:[^']|'')*')
      | (?P<name>"(?:[^"]|"")*"|`[^`]*`)
      | (?P<number>NUMBER(?![\w.]))
      | (?P<word>[^\W\d][\w.-]*)
      | (?P<sign><=|>=|<>|!=|[=<>(),*])
    )""".replace("NUMBER", NUMBER),
    re.VERBOSE,
)
_COMPARISONS = ("=", "!=", "<>", "<", "<=", ">", ">=")
_RESERVED = ("and", "or", "not", "in", "between", "is", "null", "where", "like")

Operator = Literal["=", "!=", "<", "<=", ">", ">=", "between", "not between", "in", "not in", "is null", "is not null"]


class QuerySyntaxError(ValueError):
    """A query cannot be parsed: the message says what was expected, and at which character."""


class Value(NamedTuple):
    """A number or text in a condition."""

    text: str
    at: int
    """the position of its first character, from 1"""


@dataclass(frozen=True)
class Condition:
    """A condition on one column."""

    column: str
    operator: Operator
    values: tuple[Value, ...]


@dataclass(frozen=True)
class ParsedQuery:
    """A parsed query."""

    conditions: tuple[Condition, ...]
    sum: str | None = None


class _Token(NamedTuple):
    kind: str
    text: str
    at: int

    @property
    def key(self) -> str:
        """A keyword or symbol in lower case; empty for names and values."""
        return self.text.lower() if self.kind in ("word", "sign") else ""


def parse_query(text: str) -> ParsedQuery:
    """Parse a query.

    Raises:
        QuerySyntaxError: It does not follow the grammar above.
    """
    return _Parser(_tokens(text)).query()


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            place = at + len(text[at:]) - len(text[at:].lstrip())
            raise QuerySyntaxError(f"letter {place + 1} starts nothing that a query may contain; put text in 'quotes'")
        kind = str(match.lastgroup)
        found.append(_Token(kind, match[kind], match.start(kind) + 1))
        at = match.end()
    return [*found, _Token("end", "", len(text) + 1)]


class _Parser:
    """Reads tokens from left to right with one token of lookahead."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        token = self._next
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def _accept(self, *keys: str) -> bool:
        """Consume these keywords or symbols, if they come next."""
        ahead = self._tokens[self._at : self._at + len(keys)]
        if [token.key for token in ahead] != list(keys):
            return False
        self._at += len(keys)
        return True

    def _expect(self, key: str) -> None:
        if not self._accept(key):
            raise self._fault(f"expected {key!r}")

    def _fault(self, text: str) -> QuerySyntaxError:
        if self._next.kind == "end":
            return QuerySyntaxError(f"{text}, but the query ends")
        return QuerySyntaxError(f"{text} at character {self._next.at}")

    def query(self) -> ParsedQuery:
        sum_of = None
        if self._accept("sum", "("):
            sum_of = self._column()
            self._expect(")")
        elif self._accept("count", "("):
            self._expect("*")
            self._expect(")")
        elif self._next.key == "count" and (self._tokens[1].key == "where" or self._tokens[1].kind == "end"):
            self._take()
        where = self._accept("where")
        if self._next.kind == "end" and not where:
            return ParsedQuery((), sum_of)
        conditions = self._conditions()
        if self._next.kind != "end":
            raise self._fault("expected `and` or the end")
        return ParsedQuery(tuple(conditions), sum_of)

    def _conditions(self) -> list[Condition]:
        found = self._condition()
        while self._accept("and"):
            found += self._condition()
        if self._next.key == "or":
            raise self._fault("`or` is not supported: write in (…) for one column, or two queries; found it")
        return found

    def _condition(self) -> list[Condition]:
        if self._accept("("):
            inner = self._conditions()
            self._expect(")")
            return inner
        return [Condition(self._column(), *self._test())]

    def _test(self) -> tuple[Operator, tuple[Value, ...]]:
        if self._accept("is", "not", "null"):
            return "is not null", ()
        if self._accept("is", "null"):
            return "is null", ()
        negated = self._accept("not")
        if self._accept("between"):
            low = self._value()
            self._expect("and")
            return ("not between" if negated else "between"), (low, self._value())
        if self._accept("in"):
            self._expect("(")
            values = [self._value()]
            while self._accept(","):
                values.append(self._value())
            self._expect(")")
            return ("not in" if negated else "in"), tuple(values)
        if not negated:
            for sign in _COMPARISONS:
                if self._accept(sign):
                    return ("!=" if sign == "<>" else sign), (self._value(),)  # type: ignore[return-value]
        raise self._fault("expected =, !=, <, <=, >, >=, between, in or is null")

    def _column(self) -> str:
        if self._next.kind not in ("name", "word") or self._next.key in _RESERVED:
            raise self._fault("expected the name of a column")
        token = self._take()
        if token.kind == "word":
            return token.text
        return token.text[1:-1].replace('""', '"') if token.text.startswith('"') else token.text[1:-1]

    def _value(self) -> Value:
        if self._next.kind not in ("text", "number"):
            raise self._fault("expected a number, or text in 'single quotes',")
        token = self._take()
        return Value(token.text[1:-1].replace("''", "'") if token.kind == "text" else token.text, token.at)
