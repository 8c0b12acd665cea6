"""Tables of exact chances, as a game's view asks for them.

An entry of `odds:` in view.yaml names the rules before which the look ahead ends, what is assumed of players on
the way, and conditions: each is worked out for every member of `each` in all positions that chance can lead to.
"""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from ..interpreter.odds import Plan, distribution
from .terminal import Line, Look, in_ascii, pad, width, wrap
from .view import Each, View, ViewError, Words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..interpreter.figures import Figure
    from ..interpreter.game import State


class OddsTable(Struct):
    """One table of chances: for each member a row, for each condition a column."""

    view: View
    title: Words | None
    when: Figure | None
    each: Each
    name: Words | None
    columns: list[tuple[Words, Figure]]
    says: Words | None
    plan: Plan


def odds_tables(view: View) -> list[OddsTable]:
    """Compiles the tables of a view. Raises `ViewError` or `RulesError`."""
    return [_table(view, data, f"odds {n}") for n, data in enumerate(view.data.get("odds", ()), 1)]


def _table(view: View, data: Mapping[str, Any], where: str) -> OddsTable:
    each, scope = view._each(data["each"], {}, where, data.get("where"))
    known = view.game.checked()
    forget = data.get("forget", {})
    for name in (*data["until"], *forget.get("at", ())):
        if name not in known.callables:
            raise ViewError(f"view.yaml, {where}: no rule is called '{name}'", name)
    for name in data.get("assume", ()):
        if name not in known.callables:
            raise ViewError(f"view.yaml, {where}: no move is called '{name}'", name)
    for name in forget.get("variables", ()):
        if name not in known.variables:
            raise ViewError(f"view.yaml, {where}: no variable is called '{name}'", name)
    columns = [
        (view._some_words(c["title"], {}, where), view.figure(c["when"], scope, where))
        for c in data["columns"]
    ]
    plan = Plan(
        tuple(map(str, data["until"])),
        tuple(map(str, data.get("assume", ()))),
        tuple(map(str, forget.get("variables", ()))),
        tuple(map(str, forget.get("at", ()))),
    )
    return OddsTable(
        view,
        view._words(data.get("title"), {}, where),
        view._maybe(data.get("when"), {}, where),
        each,
        view._words(data.get("name"), scope, where),
        columns,
        view._words(data.get("says"), {}, where),
        plan,
    )


def chances(table: OddsTable, state: State) -> dict[int, list[Fraction]]:
    """Works out each row's chances. Raises `PlayError` where there are too many outcomes or rules go wrong."""
    members = table.each.members(state)
    found = {m: [Fraction(0)] * len(table.columns) for m in members}
    for probability, position in distribution(state, table.plan):
        there = cast("State", SimpleNamespace(position=position))
        for m, row in found.items():
            for n, (_, condition) in enumerate(table.columns):
                if condition.value(there, m):
                    row[n] += probability
    return found


def draw_odds(table: OddsTable, state: State, look: Look) -> list[Line]:
    """Draws a table of chances as it stands now; nothing where it has no rows or does not apply."""
    language = look.language
    if table.when is not None and not table.when.value(state):
        return []
    rows = chances(table, state)
    if not rows:
        return []
    names = [
        table.name.show(state, language, m) if table.name else table.view.show(m, table.each.type, language)
        for m in rows
    ]
    widest = max(map(width, names))
    heads = [title.show(state, language) for title, _ in table.columns]
    title = table.title.show(state, language) if table.title is not None else ""
    lines: list[Line] = [[("heading", title)]] if title else []
    lines.append(
        [("dim", " " * (widest + 2) + "  ".join(pad(h, max(8, width(h)), right=True) for h in heads))]
    )
    for (m, row), name in zip(rows.items(), names, strict=True):
        line: Line = [(table.view.style(m, table.each.type), pad(name, widest)), ("", "  ")]
        for n, (p, head) in enumerate(zip(row, heads, strict=True)):
            line.append(("", "  " if n else ""))
            line.append(
                ("heading" if p > Fraction(1, 2) else "", pad(percent(p), max(8, width(head)), right=True))
            )
        lines.append(line)
    if table.says is not None:
        lines += wrap([("dim", table.says.show(state, language))], look.width)
    return in_ascii(lines) if look.ascii else lines


def percent(p: Fraction) -> str:
    """Writes a chance; only what is certain is written as 0 or 100 %."""
    if p in (0, 1):
        return "100 %" if p else "–"
    shown = f"{float(p) * 100:.1f}"
    if shown in ("0.0", "100.0"):
        return "<0.1 %" if shown == "0.0" else ">99.9 %"
    return f"{shown} %"
