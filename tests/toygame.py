"""A small game written to a folder, for tests of loading and of overlays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harbourmaster.grammar.diagnostics import RulesError
from harbourmaster.interpreter.load import load_ruleset

GAME = {
    "game.yaml": """\
game: toy
title: {en: Toy, zh-Hans: 玩具}
players: {least: 2, most: 4}
names: [Ann, Bo]
start: play
rules: [play.rules, moves.rules]
tables: [board.yaml]
questions: questions.yaml
budget: {decisions: 50}
""",
    "board.yaml": """\
ware:
  tea: {price: 3, berths: [1, 2], fresh: true, colour: green}
  rum: {price: 4, berths: [2], fresh: false, colour: brown}
lane: {length: 5, start: 1}
setup: {cash: {by players: {2: 10, 3: 9, 4: 8}}}
season: [dry, wet]
""",
    "questions.yaml": """\
tie:
  asks: Who wins a tie?
  readings:
    shared: {says: Both.}
    later-seat: {says: The later seat., sources: [S0 end]}
auction:
  asks: {en: How do they bid?}
  base: once-around
  readings:
    open: {says: Openly.}
    once-around: {says: Once around.}
storms:
  asks: Are there storms?
  only with: [weather]
  readings:
    no: {says: There are none.}
    yes: {says: There are.}
fourth:
  asks: What does the fourth do?
  players: [4]
  readings:
    plays: {says: He plays.}
    waits: {says: He waits.}
""",
    "play.rules": """\
rule play:
    for p in clockwise from first of player:
        take_turn(p)
    office

rule take_turn(p: player):
    if cash[p] > 0:
        choose p: sell, pass

rule office:
    choose first of player: sell, pass
    choose first of player: pass

state:
    cash[player]: money = setup.cash

type money: 0 to 99

define worth(w: ware) -> money: w.price

standing at own decisions: pass

score p: cash[p]
""",
    "moves.rules": """\
move sell(w: ware):
    says "sell {w}"
    needs w.fresh else "it is stale"
    increase cash[actor] by worth(w)

move pass:
    says "pass"
""",
    "variants/weather.yaml": "variant: weather\nfor: toy\n",
}


def write_game(folder: Path, files: Mapping[str, str] | None = None) -> str:
    """Writes the game, with files changed or added, and gets its path."""
    for name, text in {**GAME, **(files or {})}.items():
        path = folder / "toy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return str(folder / "toy")


def complaints(
    folder: Path, name: str, files: Mapping[str, str] | None = None, players: int | None = None
) -> list[str]:
    """Writes and loads a game; gets its errors sorted, each as `file:line:column code`.

    Those of the name itself are `:column code`; files of variants stand without their folder.

    In `name`, `toy` is the game's folder and `VARIANTS/` that of its variants.
    """
    path = write_game(folder, files)
    full = name.replace("toy", path, 1).replace("VARIANTS", f"{path}/variants")
    try:
        load_ruleset(full, players=players)
    except RulesError as error:
        told = [
            _told(str(d.span), path, d.code, full, name) for d in error.diagnostics if d.severity == "error"
        ]
        return sorted(told)
    return []


def _told(span: str, path: str, code: str, full: str, name: str) -> str:
    if span.startswith("<rule set>"):
        column = int(span.rpartition(":")[2])
        for short, long in (("toy", path), ("VARIANTS", f"{path}/variants")):
            at = full.find(long) + 1
            if name.find(short) >= 0 and 0 < at < column:
                column -= len(long) - len(short)
        return f":{column} {code}"
    return f"{span.removeprefix(path + '/').removeprefix('variants/')} {code}"
