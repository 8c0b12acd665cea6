"""`harbourmaster diff`: tells what differs between two rule sets."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ..output import paint, say
from . import FINDING, OK, UsageError
from .common import add_players, add_ruleset

if TYPE_CHECKING:
    from ...interpreter.differences import Difference, Side
    from ...interpreter.ruleset import RuleSet

DESCRIPTION = """
Tells what differs between two rule sets: which questions they read differently, which figures and tables they
print differently, and which rules, moves and defines are written differently, with both places. Comments and
layout make no difference. The exit status is 0 when nothing differs, 1 when something does.
"""
EXAMPLES = """
  harbourmaster diff GAME GAME+VARIANT
  harbourmaster diff GAME GAME+QUESTION=READING
  harbourmaster diff GAME ./mygame --brief      # names and places without the text
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    add_ruleset(parser, "a", metavar="A")
    add_ruleset(parser, "b", metavar="B")
    add_players(parser, help="how many play (default: the fewest that both allow)")
    parser.add_argument("--brief", action="store_true", help="tell names and places, not the text")


def run(options: Namespace) -> int:
    """Compares, and tells."""
    from ...interpreter.differences import differences

    a, b = _load(options.a, options.b, options.players)
    found = differences(a, b)
    titles = {"game": "game", "question": "readings", "figure": "figures"}
    told = ""
    for d in found:
        title = titles.get(d.kind, "rules")
        if title != told:
            say(("\n" if told else "") + paint(title, "bold"))
            told = title
        _tell(d, brief=options.brief)
    if not found:
        say(f"{a.canonical} and {b.canonical} do not differ")
    return FINDING if found else OK


def _load(first: str, second: str, players: int | None) -> tuple[RuleSet, RuleSet]:
    from ...interpreter.load import load_ruleset

    a, b = load_ruleset(first, players=players), load_ruleset(second, players=players)
    if players is not None or a.players == b.players:
        return a, b
    common = max(a.players, b.players)
    if common > min(a.player_counts[1], b.player_counts[1]):
        raise UsageError(
            f"no number of players is allowed by both: {a.canonical} is for {a.player_counts[0]} to "
            f"{a.player_counts[1]}, {b.canonical} for {b.player_counts[0]} to {b.player_counts[1]}"
        )
    return load_ruleset(first, players=common), load_ruleset(second, players=common)


def _tell(d: Difference, *, brief: bool) -> None:
    name = f"{d.kind} {d.name}".rstrip() if d.kind not in ("game", "question", "figure") else d.name
    if d.a is not None and d.b is not None and d.a.value:
        say(f"  {name}: {d.a.value} → {d.b.value}")
    elif d.a is not None and d.b is not None:
        say(f"  {name}")
    else:
        side = d.a or d.b
        assert side is not None
        value = f" {side.value}" if side.value else ""
        say(f"  {name}:{value} only in the {'first' if d.a is not None else 'second'}")
    for sign, side in (("-", d.a), ("+", d.b)):
        if side is not None:
            layer = f" ({side.layer})" if side.layer else ""
            say(paint(f"    {sign} {side.span}{layer}", "dim"))
    if not brief:
        _tell_lines(d.a, d.b)


def _tell_lines(a: Side | None, b: Side | None) -> None:
    from difflib import ndiff

    old = [line.text for line in a.lines] if a is not None else []
    new = [line.text for line in b.lines] if b is not None else []
    for line in ndiff(old, new):
        if not line.startswith("?"):
            style = {"-": "red", "+": "green"}.get(line[0], "")
            say(f"      {paint(line.rstrip(), style) if style else line.rstrip()}")
