"""Makes questions with their readings.

Takes the tree of a questions file; gives `Question` objects that answer with their base reading. Refuses
a base that is no reading.
"""

from __future__ import annotations

from ..grammar.diagnostics import Report, suggestion
from ..grammar.span import Span
from .gamefiles import entry, items_of, number_of, text_of, texts_of, words_of
from .ruleset import Question, Reading
from .yamlfile import Entry, Mapping, Node


def read_questions(root: Mapping, layer: str, report: Report) -> list[Question]:
    """Makes the questions of a file that belongs to the game ("") or to an overlay."""
    return [_question(item, layer, report) for item in root.entries.values()]


def _question(item: Entry, layer: str, report: Report) -> Question:
    body = item.value
    assert isinstance(body, Mapping)
    readings = {}
    given = entry(body, "readings")
    assert isinstance(given, Mapping)
    for reading in given.entries.values():
        assert isinstance(reading.value, Mapping)
        sources = tuple(text for text, _ in texts_of(entry(reading.value, "sources")))
        says = words_of(entry(reading.value, "says"))
        not_with = reasons_of(entry(reading.value, "not with"))
        readings[reading.key] = Reading(reading.key, reading.key_span, says, sources, not_with)
    base = next(iter(readings))
    named = body.entries.get("base")
    if named is not None:
        base = _base(item.key, text_of(named.value), named.value.span, readings, report) or base
    note = words_of(entry(body, "note"))
    return Question(
        name=item.key,
        span=item.key_span,
        asks=words_of(entry(body, "asks")),
        readings=readings,
        chosen=base,
        layer=layer,
        not_with=reasons_of(entry(body, "not with")),
        only_with=tuple(text for text, _ in texts_of(entry(body, "only with"))),
        players=tuple(number_of(n, 0) for n in items_of(entry(body, "players"))),
        note=note.get("en", next(iter(note.values()), "")),
        base=base,
    )


def _base(question: str, base: str, span: Span, readings: dict[str, Reading], report: Report) -> str | None:
    if base in readings:
        return base
    report.error(
        "question-base",
        f"'{base}' is no reading of '{question}'",
        span,
        help=suggestion(base, readings, what="its readings are"),
    )
    return None


def reasons_of(node: Node | None) -> dict[str, str]:
    """Gets what something cannot be with, each with the reason (in English where it is given by language)."""
    if not isinstance(node, Mapping):
        return {}
    found = {}
    for key, item in node.entries.items():
        words = words_of(item.value)
        found[key] = words.get("en", next(iter(words.values()), ""))
    return found
