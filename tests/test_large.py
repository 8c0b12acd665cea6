"""A rule set of five thousand lines: it loads, plays in both backends alike, and a mistake in its middle is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from harbourmaster.grammar.diagnostics import RulesError
from harbourmaster.interpreter.c_backend import write_c
from harbourmaster.interpreter.native_totals import Totals
from harbourmaster.interpreter.simulate import Plan, play_part

from .smallgame import make

pytestmark = pytest.mark.slow


def large(lines: int) -> str:
    """Writes rules of about so many lines: many moves, rules, defines and variables, all used."""
    n = lines // 24
    out = ["state:", "    turns: 0 to 99", "    purse[player]: 0 to 99 = 20", ""]
    for i in range(n):
        out += ["state:", f"    held_{i}[player]: 0 to 9", f"    open_{i}: yes or no = yes", ""]
    out += ["rule play:", "    repeat 12 times:", "        for p in player:"]
    out += [f"            if turns mod {n} = {i}: round_{i}(p)" for i in range(n)]
    out += ["            increase turns by 1", ""]
    for i in range(n):
        out += [
            f"rule round_{i}(p: player):",
            f"    choose p: buy_{i}, sell_{i}, wait",
            f"    if worth_{i}(p) > 20 and open_{i}:",
            f"        open_{i} := no",
            "",
            f"define worth_{i}(p: player) -> 0 to 99:",
            f"    min(99, held_{i}[p] * {i % 7 + 1} + (3 if open_{i} else 0))",
            "",
            f"move buy_{i}(k: 1 to 3):",
            f'    says "buy {{k}} of {i}"',
            f'    needs purse[actor] >= k * {i % 5 + 1}  else "you have only {{purse[actor]}}"',
            f'    needs held_{i}[actor] + k <= 9 else "you hold {{held_{i}[actor]}}"',
            f"    decrease purse[actor] by k * {i % 5 + 1}",
            f"    increase held_{i}[actor] by k",
            "",
            f"move sell_{i}:",
            f'    says "sell {i}"',
            f'    needs held_{i}[actor] > 0 else "you hold none"',
            f"    decrease held_{i}[actor] by 1",
            f"    increase purse[actor] by min(99 - purse[actor], {i % 5 + 1})",
            "",
        ]
    out += ["move wait:", '    says "wait"', "", "score p: purse[p]"]
    return "\n".join(out) + "\n"


def test_five_thousand_lines(tmp_path: Path) -> None:
    rules = large(5000)
    assert rules.count("\n") > 5000
    game = make(tmp_path, rules)
    totals = play_part(Plan(game.name, 2, 20, 1, backend="python"), game, "python", 0, 20)
    assert isinstance(totals, Totals) and totals.games == 20
    # what compilers take grows with the text: it must not grow faster than the rules
    assert write_c(game.program).count("\n") < 100_000


def test_a_mistake_in_the_middle(tmp_path: Path) -> None:
    rules = large(5000).replace("held_100[actor] + k <= 9", "held_100[actor] + kk <= 9")
    line = next(i for i, text in enumerate(rules.splitlines(), 1) if "+ kk" in text)
    with pytest.raises(RulesError, match=f"play.rules:{line}:"):
        make(tmp_path, rules)
