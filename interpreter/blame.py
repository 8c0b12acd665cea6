"""Says beside an error in rules what overlays or the rule set's name have changed, for it may be the cause.

A rule that is fine with the numbers of the board can be senseless with others: a lane of -3 spaces makes the type of its
spaces empty. The complaint stands at the rule, and the number that made it so stands elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from ..grammar.diagnostics import Diagnostic, Label
from ..grammar.span import Span
from .ruleset import Change, RuleSet

_FEW = 3
_LINES = 6


def blame_changes(found: Iterable[Diagnostic], rules: RuleSet) -> list[Diagnostic]:
    """Adds to each error the changed values it speaks of; to one that names none, all of them where they are few."""
    few = rules.changes if len(rules.changes) <= _FEW else []
    return [
        d if d.severity != "error" else _with_notes(d, _named(d.span, rules.changes) or few) for d in found
    ]


def _with_notes(diagnostic: Diagnostic, changes: list[Change]) -> Diagnostic:
    labels = [Label(f"'{'.'.join(c.path)}' is set to {c.value} here", c.span) for c in changes]
    return replace(diagnostic, notes=(*diagnostic.notes, *labels)) if labels else diagnostic


def _named(span: Span, changes: list[Change]) -> list[Change]:
    """Finds the changes whose table and attribute stand on the first lines of a span."""
    last = min(span.end_line, span.line + _LINES - 1)
    words = {
        word for line in range(span.line, last + 1) for word in re.findall(r"\w+", span.source.line(line))
    }
    return [c for c in changes if {c.path[0], c.path[-1]} <= words]
