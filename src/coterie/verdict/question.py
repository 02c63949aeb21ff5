"""Verdict: four questions about a release, each with a state, and one overall state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from coterie.wording import Tabular, visible

State = Literal["pass", "warn", "fail"]
ORDER: tuple[State, ...] = ("pass", "warn", "fail")
"""the states, the worst last"""

TITLES = {
    "promises": "Do the guarantees hold?",
    "singling-out": "Can people be singled out?",
    "inference": "Can values be inferred?",
    "utility": "Is it still useful?",
}
HEADLINES: dict[State, str] = {
    "pass": "Every guarantee holds, and nothing else stands out",
    "warn": "Review the warnings before you publish",
    "fail": "Do not publish this as it stands",
}


def worst(states: Iterable[State]) -> State:
    """Return the worst of some states; `pass` for none."""
    return max(states, key=ORDER.index, default="pass")


@dataclass(frozen=True)
class Question:
    """One question about a release."""

    name: str
    state: State
    evidence: tuple[str, ...]
    """the measurements, in sentences without cell values"""
    advice: tuple[str, ...] = ()
    """the smallest changes that would resolve a warning"""
    accepted: tuple[str, ...] = ()
    """entries of the setting `accept` that affected the state"""
    figures: Mapping[str, Any] = field(default_factory=dict)
    """the same as the evidence, for programs"""

    @property
    def title(self) -> str:
        """The question in plain words."""
        return TITLES[self.name]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "state": self.state,
            "question": self.title,
            "evidence": list(self.evidence),
            "advice": list(self.advice),
            "accepted": list(self.accepted),
            "figures": dict(self.figures),
        }


@dataclass(frozen=True)
class Verdict(Tabular):
    """The verdict on a release: `state` is the worst state of its questions."""

    questions: Mapping[str, Question]
    """promises, singling-out, inference, utility"""

    @property
    def state(self) -> State:
        """pass, warn or fail."""
        return worst(question.state for question in self.questions.values())

    @property
    def headline(self) -> str:
        """The state in a sentence."""
        return HEADLINES[self.state]

    @property
    def advice(self) -> tuple[str, ...]:
        """The advice of all questions."""
        return tuple(text for question in self.questions.values() for text in question.advice)

    def records(self) -> list[dict[str, Any]]:
        """Return one row per question: its state, the evidence and the advice."""
        return [
            {
                "question": question.title,
                "state": question.state,
                "evidence": " ".join(question.evidence),
                "advice": " ".join(question.advice),
            }
            for question in self.questions.values()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        questions = {name: question.to_dict() for name, question in self.questions.items()}
        return {"state": self.state, "headline": self.headline, "questions": questions}

    def __str__(self) -> str:
        lines = [f"{self.state.upper()}: {self.headline}."]
        for question in self.questions.values():
            lines.append(f"{question.state:<4}  {question.title} {' '.join(question.evidence)}".rstrip())
            lines += [f"      → {text}" for text in question.advice]
        return visible("\n".join(lines))


class Findings:
    """Collects the findings for a question, and which of them a person has accepted."""

    def __init__(self, name: str, accept: Sequence[str]) -> None:
        self.name = name
        self.evidence: list[str] = []
        self.figures: dict[str, Any] = {}
        self._accept = accept
        self._states: list[State] = []
        self._advice: list[str] = []
        self._accepted: list[str] = []

    def accepts(self, what: str = "") -> bool:
        """Return whether a person accepts the question as a whole, or this part of it."""
        for entry in (self.name, f"{self.name}:{what}"):
            if entry in self._accept:
                self._accepted += [entry] if entry not in self._accepted else []
                return True
        return False

    def add(self, state: State, *, what: str = "", advice: str = "") -> None:
        """Record a state, unless it is accepted; `what` is its name in `accept`."""
        if state == "pass" or self.accepts(what):
            return
        self._states.append(state)
        self._advice += [advice] if advice and advice not in self._advice else []

    def question(self) -> Question:
        """Return the question with all findings."""
        for entry in self._accepted:
            self.evidence.append(f"Accepted by a person: {entry}.")
        return Question(
            self.name,
            worst(self._states),
            tuple(self.evidence),
            tuple(self._advice),
            tuple(self._accepted),
            self.figures,
        )
