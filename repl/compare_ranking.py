"""Writes rankings: which readings matter most, which interact, how far tables apart that follow one document
each.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from .output import count, paint, say, table, wrap

if TYPE_CHECKING:
    from ..interpreter.comparing.each_reading import Interaction, Item
    from ..interpreter.comparing.howmuch import Measured, Plan
    from ..interpreter.comparing.statistics import Interval
    from ..interpreter.game import Game

FEW = 500
"""How many pairs are played for each comparison unless it is said otherwise."""
MOST_PAIRED = 8
"""So many of the readings that matter most are played two together."""


def rank(game: Game, plan: Plan, options: Namespace) -> list[Item]:
    """Plays and writes a ranking."""
    from ..interpreter.comparing import each_reading, howmuch
    from .commands.compare import Bar

    blocks = None
    if options.scheduler:
        from ..interpreter.comparing.clusters import blocks_on

        blocks = blocks_on(options.scheduler, options.backend)

    def measure(plan: Plan, label: str) -> Measured:
        with Bar(label) as bar:
            return howmuch.measure(
                plan,
                jobs=options.jobs or os.cpu_count() or 1,
                backend=options.backend,
                progress=bar.update if bar.shows else None,
                blocks=blocks,
            )

    compare = each_reading.between_sources if options.sources else each_reading.each_reading
    items = compare(game, plan, measure, stories=options.stories)
    found: list[Interaction] = []
    if options.pairs and not any(i.trouble == each_reading.INTERRUPTED for i in items):
        names = [i.name for i in items if i.measured is not None and i.measured.sums.scored][:MOST_PAIRED]
        found = each_reading.interactions(game, names, plan, _progress())
    if options.html:
        from pathlib import Path

        Path(options.html).write_text(_page(items, found, game, plan, options), "utf-8")
    if options.json:
        import json

        say(json.dumps(ranking_data(items, found), ensure_ascii=False, indent=2))
    else:
        _tell(items, game, plan, options)
        _tell_interactions(found)
    return items


def _progress() -> Any:
    if not sys.stderr.isatty():
        return None

    def show(text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    return show


def _tell(items: list[Item], game: Game, plan: Plan, options: Namespace) -> None:
    from ..interpreter.comparing.each_reading import INTERRUPTED

    what = "sources, two by two" if options.sources else "every reading"
    say(paint(f"What matters most: {game.canonical} with {what}, {count(plan.players, 'player')}", "bold"))
    rows = []
    for n, item in enumerate((i for i in items if i.measured is not None), 1):
        m = item.measured
        assert m is not None
        rows.append(
            [
                str(n),
                item.name,
                f"{m.share('won').value:.1%}",
                f"{m.share('scored').value:.1%}",
                f"{m.share('differed').value:.1%}",
                _points(item.largest),
                *([item.story] if options.stories else []),
            ]
        )
    head = [
        "",
        "sources" if options.sources else "reading",
        "another won",
        "other scores",
        "anything",
        "points",
    ]
    table([*head, *(["story"] if options.stories else [])], rows, right=(0, 2, 3, 4, 5))
    same = [i for i in items if i.same]
    if same:
        say()
        say(paint("Makes no difference here", "bold"))
        for item in same:
            say(f"  {item.name}: {item.same}")
    left = [i.name for i in items if i.trouble == INTERRUPTED]
    for item in items:
        if item.trouble and item.trouble != INTERRUPTED:
            say(f"  {item.name} could not be played: {item.trouble}")
    if left:
        say()
        say(wrap(f"Interrupted; not played: {', '.join(left)}", indent="  "))
    measured = next((i.measured for i in items if i.measured is not None), None)
    if measured is not None:
        say()
        say(
            wrap(
                f"For each {measured.method()}. Points: the mean difference of the seat for which it is largest.",
                indent="  ",
            )
        )
    if options.sources:
        _tell_questions(items)


def _points(interval: Interval | None) -> str:
    return "" if interval is None else f"{interval.value:+.2f} ± {interval.half:.2f}"


def _tell_questions(items: list[Item]) -> None:
    say()
    for item in items:
        if item.found is not None and not item.found.none:
            readings = [
                f"{d.name} ({d.a.text if d.a else '–'} | {d.b.text if d.b else '–'})"
                for d in item.found.meant
            ]
            say(wrap(f"{item.name}: {', '.join(readings)}", indent="  "))


def _tell_interactions(found: list[Interaction]) -> None:
    if not found:
        return
    say()
    say(paint("What two readings do together beyond what each does alone", "bold"))
    rows = [
        [i.one, i.other, f"{i.share.value:.1%}" if not i.trouble else i.trouble, _points(i.largest)]
        for i in found
    ]
    table(["one", "other", "games", "points"], rows, right=(2, 3))


def ranking_data(items: list[Item], found: list[Interaction]) -> dict[str, Any]:
    """Gets a ranking as plain data."""
    from ..interpreter.comparing.comparison import difference_data
    from ..interpreter.comparing.howmuch import as_data

    return {
        "ranking": [
            {
                "name": i.name,
                "a": i.a,
                "b": i.b,
                "same": i.same or None,
                "trouble": i.trouble or None,
                "story": i.story or None,
                "differences": [difference_data(d) for d in i.found.items] if i.found is not None else [],
                "measured": as_data(i.measured) if i.measured is not None else None,
            }
            for i in items
        ],
        "interactions": [
            {
                "one": i.one,
                "other": i.other,
                "games": i.games,
                "trouble": i.trouble or None,
                "share": [i.share.value, i.share.low, i.share.high] if not i.trouble else None,
                "points": [[p.value, p.low, p.high] for p in i.points],
            }
            for i in found
        ],
    }


def _page(items: list[Item], found: list[Interaction], game: Game, plan: Plan, options: Namespace) -> str:
    from html import escape

    from .compare_html import document, plot, sorted_table

    what = "sources, two by two" if options.sources else "every reading"
    parts = [f"<h1>What matters most in <span class='a'>{escape(game.canonical)}</span>: {what}</h1>"]
    shown = [i for i in items if i.measured is not None]
    rows: list[list[tuple[str, object] | str]] = []
    for item in shown:
        m = item.measured
        assert m is not None
        row: list[tuple[str, object] | str] = [escape(item.name)]
        for share in ("won", "scored", "differed"):
            value = m.share(share).value
            row.append((f"{value:.1%}", value))
        largest = item.largest
        row.append((_points(largest), abs(largest.value) if largest is not None else 0))
        rows.append([*row, *([escape(item.story)] if options.stories else [])])
    head = ["reading", "another won", "other scores", "anything", "points"]
    head += ["story"] if options.stories else []
    parts.append(sorted_table(head, rows, {1, 2, 3, 4}))
    if shown:
        parts.append("<h2>Share of games that another seat wins</h2>")
        best = [(i.name, i.measured.share("won")) for i in shown[:20] if i.measured is not None]
        parts.append(plot(best, percent=True))
    same = [f"<li>{escape(i.name)}: {escape(i.same)}</li>" for i in items if i.same]
    if same:
        parts.append(f"<h2>Makes no difference here</h2><ul>{''.join(same)}</ul>")
    if found:
        pairs: list[list[tuple[str, object] | str]] = [
            [escape(i.one), escape(i.other), (f"{i.share.value:.1%}", i.share.value), _points(i.largest)]
            for i in found
            if not i.trouble
        ]
        parts.append("<h2>Two together, beyond what each does alone</h2>")
        parts.append(sorted_table(["one", "other", "games", "points"], pairs, {2, 3}))
    if shown and shown[0].measured is not None:
        parts.append(f'<p class="note">For each {escape(shown[0].measured.method())}.</p>')
    return document(f"What matters most in {game.canonical}", parts)
