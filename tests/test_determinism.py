"""The same files give the same program in every process: caches and records are shared between them."""

from __future__ import annotations

import os
import subprocess
import sys

RULES = (
    ("manila+sealed-bids", 3),
    ("manila+enhanced-pirates", 4),
    ("dixit", 3),
    ("klondike", 1),
    ("draughts", 2),
)

LOWER = """
import gc, hashlib, random, sys
from harbourmaster.interpreter.game import load_game
from harbourmaster.interpreter.python_backend import write_source
number = int(sys.argv[1])
held = [[bytes(n % 700) for n in range(k * 9)] for k in range(number * 40)]  # other addresses in each process
del held[:: 1 + number]
gc.set_threshold(700 - 150 * number)
for name, players in eval(sys.argv[2]):
    game = load_game(name, players=players)
    text = write_source(game.program, traced=True) + repr(game.program)
    print(name, hashlib.sha256(text.encode()).hexdigest())
"""


def test_lowering_depends_on_nothing_but_the_files() -> None:
    found = []
    for number in range(3):
        environment = {**os.environ, "HARBOURMASTER_CACHE": "off", "PYTHONHASHSEED": str(number)}
        ran = subprocess.run(
            [sys.executable, "-c", LOWER, str(number), repr(RULES)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(ran.stdout.splitlines())
    assert len(found[0]) == len(RULES)
    assert found[1] == found[0] and found[2] == found[0]
