"""The files of a new game: small, for two, playable at once, each line a pattern to write the real one
after."""

from __future__ import annotations

GAME = """\
# A game of your own: change the names, then the rules. `harbourmaster check .` tells what is wrong, and where.
game: {name}
title: {title}
players: {{least: 2, most: 2}}
names: [Ann, Bo]
start: play                       # the rule that plays the game
rules: [play.rules]
tables: [table.yaml]
view: view.yaml
"""

TABLE = """\
# What lies in the box: the numbers of the game.
heap: {stones: 15, at_most: 3}
"""

RULES = """\
# Two players take stones in turn; who takes the last one wins.

state:
    stones: 0 to heap.stones = heap.stones
    last_taker: player or none

rule play:
    for p in clockwise from first of player, round and round:
        stop when stones = 0
        choose p: take_away

move take_away(n: 1 to heap.at_most):
    says "take {n}"
    means "take {n} of the {stones} stones"
    needs n <= stones    else "only {stones} are left"
    decrease stones by n
    last_taker := actor
    if stones = 0:
        tell "{actor} takes the last one"

score p: 1 if last_taker is p else 0
"""

VIEW = """\
headline: "{stones} stones are left"
panels:
  - panel: table
    rows: {p: player}
    columns:
      - title: last
        shows: "last_taker is p"
tell:
  - variable: stones
    says: "stones: {old} → {new}"
"""

SCENARIO = """\
- name: nobody takes more than is left
  moves: [take 3, take 3, take 3, take 3, take 1]
  expect:
    - decides: Bo
    - not offered: take 3
      because: only 2 are left
"""


def files(name: str) -> dict[str, str]:
    """Makes the files of a game called `name`, by their path in its folder."""
    title = name.replace("-", " ").capitalize()
    return {
        "game.yaml": GAME.format(name=name, title=title),
        "table.yaml": TABLE,
        "play.rules": RULES,
        "view.yaml": VIEW,
        "scenarios/first.yaml": SCENARIO,
    }
