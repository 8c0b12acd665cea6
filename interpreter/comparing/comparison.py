"""A whole comparison: what differs, the story, how much it matters; as data for reports and other programs."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from ...grammar.span import Span
from .differences import Difference, Differences, Given
from .howmuch import Measured, as_data
from .scenario import scenario_text
from .story import Story
from .structure import Change
from .telling import Point, Step


class Comparison(Struct):
    """What came of comparing two rule sets."""

    found: Differences
    story: Story | None = None
    measured: list[Measured] = field(default_factory=list)
    """One for each set of policies."""
    policies: list[str] = field(default_factory=list)

    @property
    def differs(self) -> bool:
        """Whether the two were seen to differ: in a story, or in any pair of games."""
        if self.story is not None and self.story.proved:
            return False
        if self.story is not None and self.story.parts:
            return True
        if any(m.sums.differed for m in self.measured):
            return True
        return self.story is None and not self.measured and not self.found.none

    def as_data(self) -> dict[str, Any]:
        """Gets everything as plain data, for JSON."""
        out: dict[str, Any] = {
            "a": self.found.a,
            "b": self.found.b,
            "players": self.found.players,
            "differs": self.differs,
            "verdict": self.found.verdict(),
            "differences": [difference_data(d) for d in self.found.items],
            "sentences": [difference_data(d) for d in self.found.words],
        }
        if self.story is not None:
            out["story"] = story_data(self.story)
        out["measured"] = [as_data(m) for m in self.measured]
        return out


def place(span: Span | None) -> str | None:
    """Writes where something stands."""
    return None if span is None else str(span)


def difference_data(d: Difference) -> dict[str, Any]:
    """Gets a difference as plain data."""
    return {
        "kind": d.kind,
        "name": d.name,
        "a": _given(d.a),
        "b": _given(d.b),
        "pieces": [_change(c) for c in d.changes],
        "without_effect": d.idle or None,
    }


def _given(given: Given | None) -> dict[str, Any] | None:
    if given is None:
        return None
    out: dict[str, Any] = {"text": given.text, "place": place(given.span)}
    if given.layer:
        out["layer"] = given.layer
    if given.says:
        out["says"] = given.says
        out["sources"] = list(given.sources)
    return out


def _change(change: Change) -> dict[str, Any]:
    return {"a": place(change.a), "b": place(change.b)}


def story_data(story: Story) -> dict[str, Any]:
    """Gets a story as plain data."""
    out: dict[str, Any] = {
        "claim": story.claim(),
        "parts": story.parts,
        "proved_same": story.proved,
        "seed": story.seed,
        "games": story.games,
        "decisions_searched": story.decisions,
        "stopped_by_clock": story.late,
    }
    if story.whole is not None:
        out["exhaustive"] = {
            "from": story.place,
            "depth": story.whole.depth,
            "positions": story.whole.positions,
            "to_the_end": story.whole.all_over,
        }
    if story.near:
        out["exhaustive_near"] = [
            {"after": n.after, "depth": n.gone.depth, "positions": n.gone.positions} for n in story.near
        ]
    told = story.told
    if told is None or story.line is None:
        return out
    out |= {
        "kind": story.line.parting.kind,
        "decisions": story.line.decisions,
        "steps": [_step(s) for s in told.steps],
        "chance": [{"stream": r.stream, "after": r.after, "outcomes": list(r.words)} for r in told.rolls],
        "headline": told.headline,
        "a": [_point(p) for p in told.a],
        "b": [_point(p) for p in told.b],
        "because": [d.brief() for d in told.because],
        "if_it_ended_now": [{"who": g.who, "a": g.a, "b": g.b} for g in told.gains],
        "then": [_step(s) for s in told.then],
        "then_a": [_point(p) for p in told.then_a],
        "then_b": [_point(p) for p in told.then_b],
        "scenario": scenario_text(story) or None,
    }
    return out


def _step(step: Step) -> dict[str, Any]:
    return {"who": step.who, "words": step.words, "rule": place(step.span)}


def _point(point: Point) -> dict[str, Any]:
    return {"text": point.text, "rule": place(point.span)}
