"""A small game for tests of comparing: two or three players bid for a ferry, load it, and roll to cross."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

GAME = {
    "game.yaml": """\
game: ferry
players: {least: 2, most: 3}
names: [Ann, Bo, Cy]
start: play
rules: [play.rules]
tables: [board.yaml]
questions: questions.yaml
budget: {decisions: 400}
""",
    "board.yaml": """\
bench: {front: {price: 1, pays: 4}, back: {price: 2, pays: 6}}
river: {width: 7, crossings: 3}
die: {faces: 6}
setup: {cash: 4}
""",
    "questions.yaml": """\
tie:
  asks: Who wins a tie?
  readings:
    shared: {says: Both., sources: [S1 end]}
    later-seat: {says: The later seat., sources: [S2 end]}
bank:
  asks: What does a ferry do that lands right on the bank?
  readings:
    arrives: {says: It arrives., sources: [S1 bank]}
    drifts: {says: It drifts off.}
wind:
  asks: What does the wind do?
  readings:
    nothing: {says: Nothing.}
    less: {says: Nothing either.}
""",
    "play.rules": """\
state:
    cash[player]: 0 to 999 = setup.cash
    sits[bench]: player or none
    bet[player]: 0 to 9 secret to its player
    rolled: 0 to die.faces
    crossing: 0 to 9
    marker[player]: 0 to 99

tally:
    landed: 0 to 99

rule play:
    for n in 1 to river.crossings:
        crossing := n
        cross

rule cross:
    for p in clockwise from first of player:
        choose p: sit, stand
    for p in player:
        choose p: bet_on
    roll rolled
    if rolled >= 4 or (bank is arrives and rolled = 3):
        arrive
    for s in bench:
        sits[s] := none

rule arrive:
    increase landed by 1
    for s in bench where sits[s] is not none:
        increase cash[sits[s]] by s.pays
    for p in player where bet[p] = rolled:
        increase cash[p] by 3

move sit(s: bench):
    says "sit {s}"
    needs sits[s] is none           else "{sits[s]} sits there"
    needs cash[actor] >= s.price    else "it costs {s.price}"
    decrease cash[actor] by s.price
    sits[s] := actor

move stand:
    says "stand"
    increase marker[actor] by 1

move bet_on(secret n: 0 to 6):
    says "bet on {n}"
    shows "bet"
    needs n = 0 or n >= 4           else "only 4 to 6 pay"
    bet[actor] := n

score p: cash[p]
tie break p:
    match tie:
        shared: 0
        later_seat: seat(p)

measure "landings": landed
measure "cash left" per p: cash[p]
""",
}


def write_ferry(folder: Path, name: str = "a", changes: Mapping[str, tuple[str, str]] | None = None) -> str:
    """Writes the game to a folder, with a piece of text replaced in some files, and gets its path."""
    target = folder / name
    target.mkdir(parents=True, exist_ok=True)
    for file, text in GAME.items():
        old, new = (changes or {}).get(file, ("", ""))
        assert not old or text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
        (target / file).write_text(text.replace(old, new) if old else text, "utf-8")
    return str(target)
