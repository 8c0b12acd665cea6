"""Writes comparisons to the terminal: what differs, the story on one screen, the figures.

Takes what `interpreter/comparing` found; gives lines of text with the style of each piece, so that the same
lines serve a terminal in colour and a file. Nothing here works anything out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .output import columns, count, pad, paint, say, shutil_width, table, wrap

if TYPE_CHECKING:
    from ..grammar.span import Span
    from ..interpreter.comparing.comparison import Comparison
    from ..interpreter.comparing.differences import Difference, Given
    from ..interpreter.comparing.howmuch import Measured, Row
    from ..interpreter.comparing.statistics import Interval
    from ..interpreter.comparing.story import Story
    from ..interpreter.comparing.telling import Point, Roll, Step, Told
    from ..interpreter.state import State

_MOST_STEPS = 12
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


def title(text: str) -> None:
    """Writes a heading."""
    say(paint(text, "bold"))


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


# ------------------------------------------------------------------------------------------------------ story


def tell_story(story: Story, language: str, *, board: bool = True) -> None:
    """Writes the story: how it came to it, how the table stands, and what each does then."""
    title("The smallest story found" if story.parts else "No story")
    if story.told is None or story.line is None:
        say(wrap(story.claim(), indent="  "))
        if story.late:
            say("  the clock ended the search: with --seconds it goes on longer")
        return
    told = story.told
    width = min(shutil_width(), 110)
    hidden = max(0, len(told.steps) - _MOST_STEPS)
    if hidden:
        say(f"  … {count(hidden, 'decision')} before; --save FILE keeps them all")
    for line in _steps(told.steps, told.rolls, hidden, width):
        say(line)
    if board:
        for line in draw(before(story), language, width):
            say(f"  {line}")
    say(f"  {paint(story.claim(), 'bold')}: {told.headline}")
    _columns(told.a, told.b, story.found.a, story.found.b, width)
    _ending(told)
    if told.then:
        words = "; ".join(f"{s.who} {s.words}".strip() for s in told.then)
        say(wrap(f"It matters when next: {words}.", indent="  "))
        _columns(told.then_a, told.then_b, "", "", width)
    if story.late:
        say("  the clock ended the search: a smaller story may be found with --seconds")


def _steps(steps: Sequence[Step], rolls: Sequence[Roll], hidden: int, width: int) -> Iterable[str]:
    widest = max((columns(s.who) for s in steps), default=0)
    yield from _rolls(r for r in rolls if r.after <= hidden and not hidden)
    for n, step in enumerate(steps, 1):
        if n > hidden:
            used = 10 + widest + columns(step.words)
            place = (
                f"   {paint(_fitted(step.span, max(24, width - used)), 'dim')}"
                if step.span is not None
                else ""
            )
            yield f"  {n:>3} {pad(step.who, widest)} {step.words}{place}"
            yield from _rolls(r for r in rolls if r.after == n)


def _rolls(rolls: Iterable[Roll]) -> Iterable[str]:
    by_stream: dict[str, list[str]] = {}
    for r in rolls:
        by_stream.setdefault(r.stream, []).append(" ".join(r.words))
    for stream, rows in by_stream.items():
        yield f"      {stream.replace('_', ' ')}: {' · '.join(rows[:12])}{' …' if len(rows) > 12 else ''}"


def before(story: Story) -> State:
    """Gets the state before the last choice of a story."""
    from ..interpreter.comparing.telling import play_states

    assert story.line is not None
    last: State | None = None
    for n, (a, _) in enumerate(play_states(story.lockstep, story.start, story.line, trace=False)):
        if n == max(0, story.line.decisions - 1):
            last = a.clone()
            break
    assert last is not None
    return last


def draw(state: State, language: str, width: int) -> list[str]:
    """Draws the table; nothing where the game has no view."""
    from ..grammar.diagnostics import RulesError
    from .board import draw_board
    from .terminal import Look, plain
    from .view import View, ViewError

    try:
        data = state.game.view()
        if data is None:
            return []
        lines = draw_board(View(state.game, data, strict=False), state, Look(width - 2, 60, language))
    except (RulesError, ViewError):
        return []
    return plain(lines).split("\n")


def _columns(a: Sequence[Point], b: Sequence[Point], left: str, right: str, width: int) -> None:
    half = (width - 5) // 2
    sides = [_column(points, name, half) for points, name in ((a, left), (b, right))]
    for n in range(max(map(len, sides))):
        cells = [side[n] if n < len(side) else ("", "") for side in sides]
        texts = [_styled(pad(text, half), style) for text, style in cells]
        say(f"  {texts[0]} │ {texts[1]}".rstrip())


def _styled(text: str, style: str) -> str:
    return paint(text, style) if style else text


def _column(points: Sequence[Point], name: str, width: int) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    if name:
        out += [(line, "bold") for line in _wrapped(name, width)]
    for point in points:
        out += [(line, "") for line in _wrapped(point.text, width)]
        if point.span is not None:
            out.append((f"  {_fitted(point.span, width - 2)}", "dim"))
    return out


def _wrapped(text: str, width: int) -> list[str]:
    """Breaks a text into lines; what has no place to break, such as a path, is cut at its start."""
    return [
        line if columns(line) <= width else f"…{line[1 - width :]}"
        for line in wrap(text, width=width).split("\n")
    ]


def _fitted(span: Span, width: int) -> str:
    text = str(span)
    return text if len(text) <= width else "…" + text[1 - width :]


def _ending(told: Told) -> None:
    if told.gains:
        parts = [f"{g.who} {g.a} | {g.b}" + (f" ({g.b - g.a:+})" if g.a != g.b else "") for g in told.gains]
        say(wrap(f"if it ended now: {', '.join(parts)}", indent="  "))
    if told.because:
        names = [
            f"{d.name}: {d.a.text if d.a else '–'} | {d.b.text if d.b else '–'}" for d in told.because[:3]
        ]
        short = [n for n in names if len(n) < 120]
        if short:
            say(wrap(f"because of {'; '.join(short)}", indent="  "))


# ---------------------------------------------------------------------------------------------------- figures


def tell_measured(measured: Measured, a: str, b: str) -> None:
    """Writes how much it matters."""
    who = ", ".join(dict.fromkeys(measured.plan.policies)) or "random"
    title(f"How much it matters (policy {who})")
    shares = [
        ("anything differed", measured.share("differed")),
        ("scores differed", measured.share("scored")),
        ("another seat won", measured.share("won")),
    ]
    say(f"  {count(measured.pairs, 'pair')} of games" + _ended(measured))
    for name, share in shares:
        say(f"  {pad(name, 18)} in {_share(share)} of the games")
    if any(measured.sums.broken):
        x, y = measured.sums.broken
        say(f"  left out: {count(x + y, 'game')} that broke a rule ({x} | {y}); {measured.sums.example}")
    say()
    rows = [
        [_name(r, measured), f"{r.a.value:,.2f}", f"{r.b.value:,.2f}", _difference_of(r), _mark(r)]
        for r in measured.rows
    ]
    table(["mean", "A", "B", "B − A (95 %)", ""], rows, right=(1, 2, 3))
    say(wrap(f"A is {a}, B is {b}. {measured.method()}.", indent="  "))


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
