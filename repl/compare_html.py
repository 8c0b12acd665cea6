"""Writes a comparison as one page for a browser: nothing else is needed to read it, and nothing is fetched.

Light and dark follow the reader's system; on a phone wide things scroll within themselves. Tables are sorted
by a click on a head; without scripts they are simply tables. Boards are the pictures of `pictures`, one for light and
one for dark paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from .compare_story import before
from .output import columns, count

if TYPE_CHECKING:
    from ..grammar.span import Span
    from ..interpreter.comparing.comparison import Comparison
    from ..interpreter.comparing.differences import Difference, Given
    from ..interpreter.comparing.howmuch import Measured, Row
    from ..interpreter.comparing.statistics import Interval
    from ..interpreter.comparing.story import Story
    from ..interpreter.comparing.telling import Point, Roll, Told
    from ..interpreter.state import State

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1e; --paper: #fdfdfb; --soft: #f0efe9; --line: #d5d3ca;
  --dim: #6b6a65; --a: #0072b2; --b: #c04f00; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececea; --paper: #17181a; --soft: #232427;
  --line: #3b3c40; --dim: #a09f99; --a: #56b4e9; --b: #f0a35e; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
h1 span.a, .a { color: var(--a); } h1 span.b, .b { color: var(--b); }
code, pre, .place { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.place { color: var(--dim); font-size: .8rem; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
pre { background: var(--soft); padding: .7rem; border-radius: .4rem; font-size: .8rem; line-height: 1.35; margin: 0;
  width: max-content; min-width: 100%; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { position: relative; } th button { all: unset; cursor: pointer; font-weight: 600; }
th button:focus-visible { outline: 2px solid var(--a); }
th[aria-sort=ascending] button::after { content: " \\2191"; } th[aria-sort=descending] button::after { content: " \\2193"; }
td:not(.n) { min-width: 6.5rem; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.columns { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
.columns > div { background: var(--soft); border-radius: .4rem; padding: .7rem; min-width: 0; overflow-wrap: anywhere; }
.columns h3 { margin: 0 0 .4rem; font-size: 1rem; } .columns ul { margin: 0; padding-left: 1.1rem; }
@media (max-width: 40rem) { .columns { grid-template-columns: 1fr; }
  .differs table, .differs thead, .differs tbody { display: block; }
  .differs tr { display: grid; grid-template-columns: 1fr 1fr; border-bottom: 1px solid var(--line); }
  .differs th, .differs td { border: 0; min-width: 0; overflow-wrap: anywhere; } }
ol.steps { padding-left: 2.2rem; } ol.steps .place { display: inline-block; margin-left: .5rem; }
.rolls { color: var(--dim); font-size: .9rem; }
.claim { font-weight: 600; } .note { color: var(--dim); font-size: .9rem; }
svg { display: block; } .board.dark { display: none; }
@media (prefers-color-scheme: dark) { .board.dark { display: block; } .board.light { display: none; } }
.plot { width: 100%; height: auto; max-width: 36rem; font: 12px system-ui, sans-serif; }
.plot text { fill: var(--ink); } .plot .axis { stroke: var(--line); }
.plot .zero { stroke: var(--dim); stroke-dasharray: 3 3; } .plot .dim { fill: var(--dim); }
.plot .bar { stroke: var(--b); stroke-width: 2; } .plot circle { fill: var(--b); }
"""

_SCRIPT = """
for (const table of document.querySelectorAll("table.sorted"))
  table.querySelectorAll("th").forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = row => row.children[column].dataset.value ?? row.children[column].textContent;
      const rows = [...table.tBodies[0].rows];
      rows.sort((x, y) => {
        const a = key(x), b = key(y), n = Number(a) - Number(b);
        return (Number.isNaN(n) ? a.localeCompare(b) : n) * (down ? -1 : 1);
      });
      table.tBodies[0].append(...rows);
    });
  });
"""


def page(comparison: Comparison, language: str) -> str:
    """Writes the whole page."""
    found = comparison.found
    heading = f'<span class="a">{_e(found.a)}</span> and <span class="b">{_e(found.b)}</span>'
    parts = [f"<h1>{heading}</h1>", f"<p>{count(found.players, 'player')}. {_e(found.verdict())}.</p>"]
    parts += _differences(found.items)
    if comparison.story is not None:
        parts += _story(comparison.story, language)
    for measured in comparison.measured:
        parts += _measured(measured)
    return document(f"{found.a} and {found.b}", parts, language)


def document(title: str, parts: Iterable[str], language: str = "en") -> str:
    """Writes a page of parts."""
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{_e(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n'
        f"{body}\n<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _e(text: object) -> str:
    return escape(str(text))


def _place(span: Span | None) -> str:
    return "" if span is None else f'<span class="place">{_e(span)}</span>'


def sorted_table(
    head: Sequence[str], rows: Iterable[Sequence[tuple[str, object] | str]], numbers: set[int]
) -> str:
    """Writes a table that can be sorted; a cell is HTML, or HTML with the value that it is sorted by."""

    def cell(k: int, content: tuple[str, object] | str) -> str:
        kind = ' class="n"' if k in numbers else ""
        if isinstance(content, tuple):
            return f'<td{kind} data-value="{_e(content[1])}">{content[0]}</td>'
        return f"<td{kind}>{content}</td>"

    heads = "".join(
        f'<th scope="col"{" class=n" if k in numbers else ""}><button type="button">{_e(h)}</button></th>'
        for k, h in enumerate(head)
    )
    body = "".join(f"<tr>{''.join(cell(k, c) for k, c in enumerate(row))}</tr>" for row in rows)
    return (
        f'<div class="scroll"><table class="sorted"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


# ------------------------------------------------------------------------------------------------ differences


def _differences(items: Sequence[Difference]) -> list[str]:
    if not items:
        return []
    rows = []
    for d in items:
        pieces = "".join(
            f"<div>{_line(c.a, 'a')}{_line(c.b, 'b')}</div>" for c in d.changes[:6] if d.kind == "definition"
        )
        name = f"{_e(d.name)}{f'<div class=note>{_e(d.idle)}</div>' if d.idle else ''}"
        cells = [_given(d.a), _given(d.b)] if not pieces else [pieces, ""]
        rows.append([_e(d.kind), name, *cells])
    shown = sorted_table(["kind", "name", "A", "B"], rows, set())
    return ["<h2>What differs</h2>", f'<div class="differs">{shown}</div>']


def _line(span: Span | None, side: str) -> str:
    if span is None:
        return ""
    text = span.source.line(span.line).strip()
    return f'<div><code class="{side}">{_e(text)}</code> {_place(span)}</div>'


def _given(given: Given | None) -> str:
    if given is None:
        return "–"
    says = f"<div>{_e(given.says)}</div>" if given.says else ""
    sources = f'<div class="note">{_e(", ".join(given.sources))}</div>' if given.sources else ""
    return f"<b>{_e(given.text)}</b>{says}{sources}{_place(given.span)}"


# ------------------------------------------------------------------------------------------------------ story


def _story(story: Story, language: str) -> list[str]:
    out = [f"<h2>{'The smallest story found' if story.parts else 'No story'}</h2>"]
    out.append(f'<p class="claim">{_e(story.claim())}</p>')
    if story.late:
        out.append(
            '<p class="note">The clock ended the search; another may find more, or a smaller story.</p>'
        )
    told = story.told
    if told is None:
        return out
    out += _steps(told)
    board = draw(before(story), language)
    if board:
        out.append(f'<p class="note">The table before the last choice:</p>{board}')
    out.append(f"<p class='claim'>Then {_e(told.headline)}:</p>")
    out.append(_columns(told.a, told.b, story.found.a, story.found.b))
    if told.because:
        items = "".join(f"<li>{_e(d.brief())}</li>" for d in told.because)
        out.append(f"<p>Because of</p><ul>{items}</ul>")
    if told.gains:
        rows = [[_e(g.who), str(g.a), str(g.b), f"{g.b - g.a:+}"] for g in told.gains]
        out.append("<p>If it ended now:</p>" + sorted_table(["player", "A", "B", "B − A"], rows, {1, 2, 3}))
    if told.then:
        words = "; ".join(f"{s.who} {s.words}".strip() for s in told.then)
        out.append(f"<p>It matters when next {_e(words)}:</p>")
        out.append(_columns(told.then_a, told.then_b, story.found.a, story.found.b))
    return out


def _steps(told: Told) -> list[str]:
    items = []
    for n, step in enumerate(told.steps, 1):
        rolls = _rolls([r for r in told.rolls if r.after == n])
        items.append(f"<li><b>{_e(step.who)}</b> {_e(step.words)} {_place(step.span)}{rolls}</li>")
    out = [_rolls([r for r in told.rolls if r.after == 0])]
    if items:
        out.append(f'<ol class="steps">{"".join(items)}</ol>')
    return out


def _rolls(rolls: Sequence[Roll]) -> str:
    by_stream: dict[str, list[str]] = {}
    for r in rolls:
        shown = "shuffled" if r.shuffled else " ".join(r.words)
        by_stream.setdefault(r.stream.replace("_", " "), []).append(shown)
    return "".join(
        f'<div class="rolls">{_e(stream)}: {_e(" · ".join(rows))}</div>' for stream, rows in by_stream.items()
    )


def _columns(a: Sequence[Point], b: Sequence[Point], name_a: str, name_b: str) -> str:
    def column(points: Sequence[Point], name: str, side: str) -> str:
        items = "".join(f"<li>{_e(p.text)}<br>{_place(p.span)}</li>" for p in points)
        return f'<div><h3 class="{side}">{_e(name)}</h3><ul>{items}</ul></div>'

    return f'<div class="columns">{column(a, name_a, "a")}{column(b, name_b, "b")}</div>'


def draw(state: State, language: str) -> str:
    """Draws the table, for light and for dark paper; "" where the game has no view."""
    from .compare_story import board_lines
    from .pictures import to_svg

    lines = board_lines(state, language, 100)
    if not lines:
        return ""
    out = []
    for dark in (False, True):
        svg = to_svg(lines, language=language, dark=dark).replace(' xmlns="http://www.w3.org/2000/svg"', "")
        svg = svg.replace("<svg", '<svg role="img" aria-label="the table"', 1)
        out.append(f'<div class="board {"dark" if dark else "light"}">{svg}</div>')
    return f'<div class="scroll">{"".join(out)}</div>'


# ---------------------------------------------------------------------------------------------------- figures


def _measured(measured: Measured) -> list[str]:
    out = [f"<h2>How much it matters (policy {_e(measured.plan.who)})</h2>"]
    if not measured.pairs:
        return [*out, f"<p>No pair of games was counted. {_e(measured.sums.example)}</p>"]
    shares = [
        ("anything differed", measured.share("differed")),
        ("scores differed", measured.share("scored")),
        ("another seat won", measured.share("won")),
    ]
    out.append(plot([(name, share) for name, share in shares], percent=True))
    points = [
        (f"points, {measured.names[r.seat]}", r.difference)
        for r in measured.of("points")
        if r.seat is not None
    ]
    out.append("<p>Points, B less A:</p>" + plot(points))
    rows = [_row(r, measured) for r in measured.rows]
    out.append(sorted_table(["figure", "player", "A", "B", "B − A", "95 %"], rows, {2, 3, 4, 5}))
    if any(measured.sums.broken):
        out.append(
            f'<p class="note">Left out: {sum(measured.sums.broken)} games. {_e(measured.sums.example)}</p>'
        )
    out.append(f'<p class="note">{_e(measured.method())}.</p>')
    return out


def _row(row: Row, measured: Measured) -> list[tuple[str, object] | str]:
    d = row.difference
    who = "" if row.seat is None else measured.names[row.seat]
    mark = "b" if d.excludes_zero else "i"
    interval = f"{d.low:+.3g} to {d.high:+.3g}"
    return [
        _e(row.name),
        (_e(who), -1 if row.seat is None else row.seat),
        (f"{row.a.value:,.2f}", row.a.value),
        (f"{row.b.value:,.2f}", row.b.value),
        (f"<{mark}>{d.value:+,.3f}</{mark}>", d.value),
        (interval, d.half),
    ]


def plot(rows: Sequence[tuple[str, Interval]], *, percent: bool = False) -> str:
    """Draws figures with their intervals on one axis."""
    values = [v for _, i in rows for v in (i.low, i.high, i.value) if math.isfinite(v)]
    low, high = min([0.0, *values]), max([0.0, *values])
    if high - low < 1e-12:
        low, high = -1.0, 1.0
    margin = (high - low) * 0.05
    low, high = low - (0 if percent else margin), high + margin
    left = max(130, 16 + round(7.2 * max((columns(name) for name, _ in rows), default=0)))
    right, step = left + 290, 26

    def x(value: float) -> float:
        return left + (min(max(value, low), high) - low) / (high - low) * (right - left)

    def shown(value: float) -> str:
        return f"{value:.1%}" if percent else f"{value:+.2f}"

    height = step * len(rows) + 34
    label = _e("; ".join(f"{name} {shown(i.value)} ({shown(i.low)} to {shown(i.high)})" for name, i in rows))
    out = [f'<svg class="plot" viewBox="0 0 {right + 70} {height}" role="img" aria-label="{label}">']
    bottom = step * len(rows) + 8
    out.append(f'<line class="axis" x1="{left}" x2="{right}" y1="{bottom}" y2="{bottom}"/>')
    out.append(f'<line class="zero" x1="{x(0):.1f}" x2="{x(0):.1f}" y1="4" y2="{bottom}"/>')
    for value in (low, (low + high) / 2, high):
        out.append(
            f'<text class="dim" x="{x(value):.1f}" y="{bottom + 16}" text-anchor="middle">{shown(value)}</text>'
        )
    for n, (name, interval) in enumerate(rows):
        y = step * n + 18
        out.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{_e(name)}</text>')
        out.append(
            f'<line class="bar" x1="{x(interval.low):.1f}" x2="{x(interval.high):.1f}" y1="{y}" y2="{y}"/>'
            f'<circle cx="{x(interval.value):.1f}" cy="{y}" r="4"/>'
            f'<text x="{right + 8}" y="{y + 4}">{shown(interval.value)}</text>'
        )
    out.append("</svg>")
    return "".join(out)
