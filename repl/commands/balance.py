"""`harbourmaster balance`: judges a rule set: are the seats fair, what spaces bring in, what every move is worth."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..output import count, paint, say, table, wrap
from . import FINDING, OK
from .common import add_players, add_ruleset, natural, whole

if TYPE_CHECKING:
    from ...interpreter.comparing.balance import Balance, Return, Space, Worth
    from ...interpreter.comparing.statistics import Interval
    from ...interpreter.game import Game

DESCRIPTION = """
Judges a rule set by many games in which chance or policies choose: are the seats fair, how long is a game, how often is
each move made and what is it worth, which moves are never worth it. Where the game's view tells what is
bought: what each space brings in less its price, and how often it pays, by the round in which it is bought.
With --before, shows what another rule set had instead, so that a house rule can be seen at work. What a move
is worth is told of seats that chance plays; the rest of any. The exit status is 1 when all seats play alike and
one wins more or less often than its share, or when a move is certainly not worth it.
"""
EXAMPLES = """
  harbourmaster balance GAME --players 4 --games 5000 --jobs 0
  harbourmaster balance GAME+VARIANT --before GAME      # what the variant changes
  harbourmaster balance GAME --policy greedy --games 200 --jobs 0    # what it is like among good players
"""

LOSING = "nobody should buy, as it certainly brings in less than it costs in every round"


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    add_ruleset(parser)
    parser.add_argument("--before", metavar="GAME", help="a rule set to hold it against")
    add_players(parser)
    parser.add_argument(
        "--games", type=whole, default=2000, metavar="N", help="how many games (default: 2000)"
    )
    parser.add_argument("--seed", type=natural, default=1, metavar="S", help="what all chance depends on")
    parser.add_argument("--no-offers", action="store_true", help="leave standing offers out")
    parser.add_argument(
        "--policy",
        action="append",
        metavar="NAME",
        help="who plays: one for all seats, one a seat with commas, or SEAT=POLICY (default: random)",
    )
    parser.add_argument("--jobs", type=natural, default=1, metavar="N", help="processes; 0: one a processor")
    parser.add_argument("--json", action="store_true", help="write everything as JSON")
    parser.add_argument("--html", metavar="FILE", help="write a report as one page for the browser")


def run(options: Namespace) -> int:
    """Judges, and tells."""
    from ...interpreter.game import load_game
    from .compare import load_pair

    offers = not options.no_offers
    games: list[Game] = []
    if options.before:
        before, after = load_pair(options.before, options.ruleset, options.players, offers=offers)
        games = [after, before]
    else:
        games = [load_game(options.ruleset, players=options.players, offers=offers)]
    policies = _policies(options.policy or (), games[0])
    found: list[Balance] = []
    for game in games:
        found.append(_judge(game, options, policies))
        if found[-1].interrupted:
            games = games[: len(found)]
            break
    if options.html:
        from pathlib import Path

        Path(options.html).write_text(_page(found, games), "utf-8")
    if options.json:
        import json

        data = [balance_data(b, game) for b, game in zip(found, games, strict=True)]
        say(json.dumps(data if options.before else data[0], ensure_ascii=False, indent=2))
    else:
        _tell(found, games)
    unfair = found[0].plan.alike and not found[0].fair
    return FINDING if unfair or found[0].never_worth() else OK


def _policies(texts: Sequence[str], game: Game) -> tuple[str, ...]:
    from . import UsageError
    from .policies import seated_policies

    policies = seated_policies(texts, game)
    if any(name.startswith("exec:") for name in policies):
        raise UsageError(
            "rules are not judged by programs of their own", "'simulate' and 'tournament' take them"
        )
    return policies


def _judge(game: Game, options: Namespace, policies: tuple[str, ...]) -> Balance:
    from ...interpreter.comparing.balance import Plan, judge

    plan = Plan(game.name, game.num_players(), options.games, options.seed, game.offers, policies)
    shows = sys.stderr.isatty() and sys.stdout.isatty()

    def progress(done: int, of: int) -> None:
        sys.stderr.write(f"\r\x1b[K{game.canonical}: {done} of {of} parts" if done < of else "\r\x1b[K")
        sys.stderr.flush()

    return judge(plan, jobs=options.jobs or os.cpu_count() or 1, progress=progress if shows else None)


# -------------------------------------------------------------------------------------------------------- terminal


def _tell(found: list[Balance], games: list[Game]) -> None:
    b = found[0]
    say(paint(f"{games[0].canonical}, {count(len(b.names), 'player')}", "bold"))
    if len(games) > 1:
        say(f"  held against {games[1].canonical}")
    say(f"  {_verdict(b)}")
    if b.broken:
        say(f"  {count(b.broken, 'game')} broke a rule or did not end and were left out")
    say()
    rows = [
        ["points", *(_shown(i) for i in b.points)],
        ["share of wins", *(f"{w.value:.1%} ({w.low:.1%}–{w.high:.1%})" for w in b.wins)],
    ]
    if len(found) > 1:
        rows.insert(1, ["  before", *(_shown(i) for i in found[1].points)])
        rows.append(["  before", *(f"{w.value:.1%}" for w in found[1].wins)])
    table(["", *b.names], rows, right=range(1, len(b.names) + 1))
    say()
    for n, other in enumerate(found):
        low, middle, high = other.quantiles
        text = f"{other.length.value:.1f} decisions a game; 5 % have up to {low}, half up to {middle}, 95 % up to {high}"
        whole = "".join(f"; {name} {i.value:.2f}" for name, i in other.whole.items())
        say(f"  {'before: ' if n else ''}{text}{whole}")
    if b.spaces:
        _tell_spaces(found)
    say()
    earlier = {w.name: w for w in found[1].moves} if len(found) > 1 else {}
    head = ["move", "a game", "taken", *(["before"] if earlier else []), "worth in points", ""]
    listed = [[*_row(w, earlier), _mark(w)] for w in b.moves]
    table(head, listed, right=range(1, len(head) - 1))
    for title, names in (("never offered", b.unseen), ("never taken", b.untaken)):
        if names:
            say(wrap(f"{title}: {', '.join(names)}", indent="  "))
    say()
    say(wrap(f"{b.method()}. + and − mark what is certain.", indent="  "))


def _verdict(b: Balance) -> str:
    if not b.plan.alike:
        verdict = f"{b.plan.who} play: shares of wins tell of them, not of the seats"
    else:
        verdict = "every seat may win its share" if b.fair else "the seats are not equal"
    judged = f"; {count(len(b.never_worth()), 'move')} certainly not worth it" if any(b.plan.by_lot) else ""
    return verdict + judged


def _tell_spaces(found: list[Balance]) -> None:
    b = found[0]
    earlier = {s.name: s for s in found[1].spaces} if len(found) > 1 else {}
    say()
    head = ["space", "a game", "price", "pays", *(["before"] if earlier else []), "brings in less price", ""]
    rows = []
    for s in b.spaces:
        before = [_net(earlier.get(s.name))] if earlier else []
        row = [s.name, f"{s.whole.per_game:.2f}", f"{s.whole.price:.2f}", f"{s.whole.chance.value:.0%}"]
        rows.append([*row, *before, _shown(s.whole.net, sign="+"), _certain(s)])
    table(head, rows, right=range(1, len(head) - 1))
    if b.rounds:
        say()
        head = ["bought in round", *map(str, b.rounds)]
        table(
            head,
            [[s.name, *(_in_round(s.rounds.get(r)) for r in b.rounds)] for s in b.spaces],
            right=range(1, len(head)),
        )
    losing = ", ".join(s.name for s in b.losing())
    say(wrap(f"{LOSING}: {losing or 'none'}", indent="  "))


def _net(space: Space | None) -> str:
    return "" if space is None else f"{space.whole.net.value:+.2f}"


def _certain(space: Space) -> str:
    return "+" if space.sure.low > 0 else "−" if space.sure.high < 0 else ""


def _in_round(r: Return | None) -> str:
    return "" if r is None else f"{r.net.value:+.2f} {r.chance.value:4.0%}"


def _row(w: Worth, earlier: dict[str, Worth]) -> list[str]:
    out = [w.name, f"{w.per_game:.2f}", f"{w.taken.value:.1%}"]
    if earlier:
        before = earlier.get(w.name)
        out.append("" if before is None else _shown(before.points, sign="+").split(" ")[0])
    return [*out, _shown(w.points, sign="+")]


def _shown(interval: Interval, sign: str = "") -> str:
    from math import isfinite

    if not isfinite(interval.value):
        return "–"  # it never stood beside another choice
    if not isfinite(interval.half):
        return f"{interval.value:{sign}.2f}"
    return f"{interval.value:{sign}.2f} ± {interval.half:.2f}"


def _mark(w: Worth) -> str:
    return "+" if w.good else "−" if w.bad else ""


# ------------------------------------------------------------------------------------------------------------ data


def balance_data(b: Balance, game: Game) -> dict[str, Any]:
    """Gets a judgement as plain data, for JSON."""
    return {
        "ruleset": game.canonical,
        "hash": game.content_hash,
        "players": list(b.names),
        "games": b.games,
        "left_out": b.broken,
        "interrupted": b.interrupted,
        "seed": b.plan.seed,
        "policies": list(b.plan.policies) or ["random"] * b.plan.players,
        "fair": b.fair if b.plan.alike else None,
        "points": [_plain(i) for i in b.points],
        "share_of_wins": [_plain(i) for i in b.wins],
        "decisions": _plain(b.length),
        "decisions_quantiles": dict(zip(("5%", "50%", "95%"), b.quantiles, strict=True)),
        "measures": {name: _plain(i) for name, i in b.whole.items()},
        "moves": [
            {
                "name": w.name,
                "offered_per_game": w.offered,
                "taken": _plain(w.taken),
                "per_game": w.per_game,
                "worth": _plain(w.points),
                "never_worth_it": w.bad,
                "by_measure": dict(zip(b.measures, (_number(m) for m in w.measures), strict=True)),
            }
            for w in b.moves
        ],
        "spaces": [
            {
                "name": s.name,
                **_return(s.whole),
                "rounds": {str(r): _return(found) for r, found in s.rounds.items()},
                "certainly_loses": s.loses,
            }
            for s in b.spaces
        ],
        "never_offered": b.unseen,
        "never_taken": b.untaken,
        "method": b.method(),
    }


def _return(r: Return) -> dict[str, Any]:
    return {
        "bought_per_game": r.per_game,
        "price": r.price,
        "brings_in_less_price": _plain(r.net),
        "pays": _plain(r.chance),
    }


def _plain(interval: Interval) -> list[float | None]:
    return [_number(v) for v in (interval.value, interval.low, interval.high)]


def _number(value: float) -> float | None:
    import math

    return value if math.isfinite(value) else None


# ------------------------------------------------------------------------------------------------------------ page


def _page(found: list[Balance], games: list[Game]) -> str:
    from html import escape

    from ..compare_html import document, plot, sorted_table

    b = found[0]
    against = f", held against <span class='a'>{escape(games[1].canonical)}</span>" if len(games) > 1 else ""
    parts = [f"<h1>How <span class='b'>{escape(games[0].canonical)}</span> is balanced{against}</h1>"]
    parts.append(f"<p>{count(len(b.names), 'player')}. {escape(_verdict(b))}.</p><h2>Share of wins</h2>")
    parts.append(plot(list(zip(b.names, b.wins, strict=True)), percent=True))
    parts.append("<h2>Points</h2>" + plot(list(zip(b.names, b.points, strict=True))))
    low, middle, high = b.quantiles
    parts.append(
        f"<p>{b.length.value:.1f} decisions a game: 5 % of the games have up to {low}, half up to {middle}, "
        f"95 % up to {high}.</p>"
    )
    if b.spaces:
        parts += _page_of_spaces(found)
    parts.append("<h2>What moves are worth</h2>")
    earlier = {w.name: w for w in found[1].moves} if len(found) > 1 else {}
    rows: list[list[tuple[str, object] | str]] = []
    for w in b.moves:
        mark = "b" if w.good or w.bad else "i"
        row: list[tuple[str, object] | str] = [
            escape(w.name),
            (f"{w.per_game:.2f}", w.per_game),
            (f"{w.taken.value:.1%}", w.taken.value),
            (f"<{mark}>{_shown(w.points, sign='+')}</{mark}>", _number(w.points.value) or 0),
        ]
        if earlier:
            before = earlier.get(w.name)
            shown = "" if before is None else _shown(before.points, sign="+")
            row.append((shown, _number(before.points.value) or 0 if before is not None else 0))
        rows.append(
            [*row, *((f"{m:+.1f}" if _number(m) is not None else "–", _number(m) or 0) for m in w.measures)]
        )
    head = ["move", "a game", "taken", "worth", *(["before"] if earlier else []), *b.measures]
    parts.append(sorted_table(head, rows, set(range(1, len(head)))))
    for title, names in (("Never offered", b.unseen), ("Never taken", b.untaken)):
        if names:
            parts.append(f"<p>{title}: {escape(', '.join(names))}.</p>")
    parts.append(f'<p class="note">{escape(b.method())}.</p>')
    return document(f"How {games[0].canonical} is balanced", parts)


def _page_of_spaces(found: list[Balance]) -> list[str]:
    from html import escape

    from ..compare_html import plot, sorted_table

    b = found[0]
    earlier = {s.name: s for s in found[1].spaces} if len(found) > 1 else {}
    rows: list[list[tuple[str, object] | str]] = []
    for s in b.spaces:
        w = s.whole
        mark = "b" if _certain(s) else "i"
        row: list[tuple[str, object] | str] = [
            escape(s.name),
            (f"{w.per_game:.2f}", w.per_game),
            (f"{w.price:.2f}", w.price),
            (f"{w.chance.value:.1%}", w.chance.value),
            (f"<{mark}>{_shown(w.net, sign='+')}</{mark}>", w.net.value),
        ]
        if earlier:
            before = earlier.get(s.name)
            row.append((_net(before), before.whole.net.value if before is not None else -1e9))
        for r in b.rounds:
            there = s.rounds.get(r)
            row.append((_in_round(there), there.net.value if there is not None else -1e9))
        rows.append(row)
    head = ["space", "a game", "price", "pays", "brings in less price", *(["before"] if earlier else [])]
    head += [f"round {r}" for r in b.rounds]
    losing = ", ".join(s.name for s in b.losing())
    return [
        "<h2>What spaces bring in</h2>",
        plot([(s.name, s.whole.net) for s in b.spaces]),
        sorted_table(head, rows, set(range(1, len(head)))),
        f"<p>{LOSING}: <b>{escape(losing or 'none')}</b>.</p>",
    ]
