"""Writes comparisons to the terminal: what differs, and the figures; `compare_story` writes the story between.

Takes what `interpreter/comparing` found; gives lines of text with the style of each piece, so that the same
lines serve a terminal in colour and a file. Nothing here works anything out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .compare_story import tell_story
from .output import count, pad, paint, say, table, title, wrap

if TYPE_CHECKING:
    from ..interpreter.comparing.comparison import Comparison
    from ..interpreter.comparing.differences import Difference, Given
    from ..interpreter.comparing.howmuch import Measured, Row
    from ..interpreter.comparing.statistics import Interval

_MOST_DIFFERENCES = 20


def tell(comparison: Comparison, language: str, *, board: bool = True) -> None:
    """Writes a whole comparison."""
    tell_differences(comparison)
    if comparison.story is not None:
        say()
        tell_story(comparison.story, language, board=board)
    for measured in comparison.measured:
        say()
        tell_measured(measured, comparison.found.a, comparison.found.b)
    if len(comparison.measured) > 1:
        say()
        tell_policies(comparison.measured)


# ------------------------------------------------------------------------------------------------ differences


def tell_differences(comparison: Comparison) -> None:
    """Writes what differs in the rules themselves."""
    found = comparison.found
    title(f"What differs between {found.a} and {found.b}, {count(found.players, 'player')}")
    say(f"  {found.verdict()}")
    for d in found.items[:_MOST_DIFFERENCES]:
        _difference(d)
    if len(found.items) > _MOST_DIFFERENCES:
        say(f"  … and {len(found.items) - _MOST_DIFFERENCES} more; 'harbourmaster diff' tells all")
    if found.words:
        names = ", ".join(d.name for d in found.words[:8])
        say(f"  sentences differ in {names}{' …' if len(found.words) > 8 else ''}")


def _difference(d: Difference) -> None:
    if d.kind == "definition":
        say(f"  {paint(d.name, 'bold')}")
        changes = d.changes[:4]
        if not changes:
            for side, given in (("A", d.a), ("B", d.b)):
                say(f"    {side}: {_given(given)}")
        for c in changes:
            for side, span in (("A", c.a), ("B", c.b)):
                if span is not None:
                    say(f"    {side}: {span.source.line(span.line).strip()}   {paint(str(span), 'dim')}")
                else:
                    say(f"    {side}: –")
    else:
        say(f"  {paint(d.name, 'bold')}: {d.a.text if d.a else '–'} | {d.b.text if d.b else '–'}")
        for side, given in (("A", d.a), ("B", d.b)):
            if given is not None:
                say(f"    {side}: {_given(given)}")
    if d.idle:
        say(f"    {d.idle}")


def _given(given: Given | None) -> str:
    if given is None:
        return "–"
    said = given.says or given.text
    sources = f" ({', '.join(given.sources)})" if given.sources else ""
    return f"{said}{sources}   {paint(str(given.span), 'dim')}"


# ---------------------------------------------------------------------------------------------------- figures


def tell_measured(measured: Measured, a: str, b: str) -> None:
    """Writes how much it matters."""
    title(f"How much it matters (policy {measured.plan.who})")
    shares = [
        ("anything differed", measured.share("differed")),
        ("scores differed", measured.share("scored")),
        ("another seat won", measured.share("won")),
    ]
    if not measured.pairs:
        say("  no pair of games was counted" + _ended(measured))
        _left_out(measured)
        return
    say(f"  {count(measured.pairs, 'pair')} of games" + _ended(measured))
    for name, share in shares:
        say(f"  {pad(name, 18)} in {_share(share)} of the games")
    _left_out(measured)
    say()
    rows = [
        [_name(r, measured), f"{r.a.value:,.2f}", f"{r.b.value:,.2f}", _difference_of(r), _mark(r)]
        for r in measured.rows
    ]
    table(["mean", "A", "B", "B − A (95 %)", ""], rows, right=(1, 2, 3))
    say(wrap(f"A is {a}, B is {b}. {measured.method()}.", indent="  "))


def _left_out(measured: Measured) -> None:
    if any(measured.sums.broken):
        x, y = measured.sums.broken
        say(f"  left out: {count(x + y, 'game')} that broke a rule ({x} | {y}); {measured.sums.example}")


def tell_policies(several: Sequence[Measured]) -> None:
    """Writes a row for each set of policies: what matters to some may not to others."""
    title("By policy")
    rows = []
    for m in several:
        largest = m.largest
        shares = [f"{m.share(s).value:.1%}" for s in ("differed", "scored", "won")]
        points = "" if largest is None else f"{_difference_of(largest)}, {_name(largest, m)}"
        rows.append([m.plan.who, f"{m.pairs:,}", *shares, points])
    head = ["policy", "pairs", "anything", "other scores", "another won", "largest difference"]
    table(head, rows, right=range(1, 5))


def _ended(measured: Measured) -> str:
    return {"interrupted": ", then interrupted", "precision": ", then narrow enough"}.get(measured.ended, "")


def _share(share: Interval) -> str:
    return f"{share.value:7.2%}  ({share.low:.2%} to {share.high:.2%})"


def _name(row: Row, measured: Measured) -> str:
    return row.name if row.seat is None else f"{row.name}, {measured.names[row.seat]}"


def _difference_of(row: Row) -> str:
    digits = 3 if row.name == "share of wins" else 2
    return f"{row.difference.value:+,.{digits}f} ± {row.difference.half:,.{digits}f}"


def _mark(row: Row) -> str:
    return "*" if row.difference.excludes_zero else ""
