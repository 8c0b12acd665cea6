"""Prints the table of benchmarks: speed, memory, and the times to load and compile.

    python -m tests.bench [SCALE]

SCALE (default 1) multiplies how many games are played. Contestants take turns in short rounds, and the best round of
each counts, in processor time, so that a machine shared with others treats all alike. Before anything is said of speed
it is made sure that all play the same game.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from harbourmaster.interpreter import native
from harbourmaster.interpreter.game import load_game
from harbourmaster.interpreter.native import native_machine

from .contestants import PLACEMENT, Contestant, Missing, Played, large, small

ROUNDS = 7
GAMES = {"large": 20_000, "small": 60_000}
ROOT = Path(__file__).parents[2]


def measure(who: Sequence[Contestant], games: int, folder: Path) -> None:
    """Lets contestants play in turn and notes the best round of each."""
    plays = []
    for c in who:
        try:
            plays.append((c, c.ready(folder)))
        except Missing as error:
            c.missing = str(error)
    for c, play in plays:
        play(max(1, games // c.share // 20))  # what is made at first use is made
    for _ in range(ROUNDS):
        for c, play in plays:
            c.last = play(max(1, games // c.share))
            c.rounds.append(c.last.decisions / c.last.seconds)
            c.best = max(c.rounds)


def check(who: Sequence[Contestant], games: int, folder: Path) -> str:
    """Makes sure that all play the same games: equal decisions, options offered and money; tells so."""
    told: dict[str, Played] = {}
    for c in who:
        if c.same:
            try:
                told[c.name] = c.ready(folder)(games)
            except Missing:
                continue
    first = next(iter(told.values()))
    for name, played in told.items():
        offered = first.offered if played.offered is None else played.offered
        if (played.decisions, offered, played.money) != (first.decisions, first.offered, first.money):
            raise SystemExit(f"{name} plays another game: {played}, {first}")
    options = options_offered(games)
    if options != first.offered:
        raise SystemExit(f"our rules offer {options} options, the others {first.offered}")
    mean = sum(first.money) / 4 / games
    return (
        f"{len(told)} play the same {games:,} games: {first.decisions / games:g} decisions a game, {first.offered:,} "
        f"options offered in all, {mean:.2f} coins for each player at the end on average"
    )


def options_offered(games: int) -> int:
    """Counts the options our rules offer, by the Python API."""
    from harbourmaster.interpreter.playout import Random, seed_of_game

    from .contestants import SEED

    game = load_game(str(PLACEMENT), players=4)
    offered = 0
    for number in range(games):
        own = seed_of_game(SEED, number)
        state, numbers = game.new_initial_state(own), Random(own)
        while not state.is_terminal():
            actions = state.legal_actions()
            offered += len(actions)
            state.apply_action(actions[numbers.below(len(actions))])
    return offered


def print_speeds(title: str, who: Sequence[Contestant]) -> None:
    """Prints a table of speeds, beside the first contestant's."""
    print(f"\n{title}\n{'':<28}{'decisions/s':>14}{'ratio':>9}   median round")
    measure = who[0].best
    for c in who:
        if c.missing:
            print(f"{c.name:<28}{'—':>14}{'':>9}   not measured: {c.missing}")
            continue
        ratio = f"{c.best / measure:>9.3f}" if measure else f"{'':>9}"
        print(f"{c.name:<28}{c.best:>14,.0f}{ratio}   {sorted(c.rounds)[len(c.rounds) // 2]:,.0f}")


def print_sizes() -> None:
    """Prints memory of positions, and the processor time to load (imports included), write, compile and open."""
    print(
        f"\n{'':<28}{'position, C':>12}{'Python':>9}{'load cold':>11}{'warm':>8}{'write C':>9}{'compile':>9}{'open':>8}"
    )
    for name, offers in (("manila", False), ("manila", True), (str(PLACEMENT), True)):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "HARBOURMASTER_CACHE": folder}
            times = [
                float(
                    subprocess.run(
                        [sys.executable, "-c", _SCRIPT, step, name, str(int(offers))],
                        env=environment,
                        cwd=ROOT,
                        capture_output=True,
                        text=True,
                        check=True,
                    ).stdout
                )
                for step in ("load", "load", "write", "native", "native")
            ]
        game = load_game(name, players=4, offers=offers)
        position, _ = game.machine().start()
        in_python = sys.getsizeof(position)
        in_c = native_machine(game).position_bytes if native.compilers() else 0
        cold, warm, write, made, opened = times
        title = f"{Path(name).name}{'' if offers else ', no offers'}"
        print(
            f"{title:<28}{in_c:>10} B{in_python:>7} B{cold:>9.2f} s{warm * 1e3:>5.0f} ms{write:>7.2f} s"
            f"{made - write:>7.2f} s{opened * 1e3:>5.0f} ms"
        )


_SCRIPT = """
import os, sys
def spent():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
step, name, offers = sys.argv[1:]
start = spent()
from harbourmaster.interpreter.game import load_game
game = load_game(name, players=4, offers=offers == "1")
game.machine()
if step == "write":
    from harbourmaster.interpreter.c_backend import write_c
    start = spent()
    write_c(game.program, "")
if step == "native":
    from harbourmaster.interpreter.native import NativeUnavailable, native_machine
    start = spent()
    try:
        native_machine(game)
    except NativeUnavailable:
        start = float("nan")
print(spent() - start)
"""


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("scale", nargs="?", type=float, default=1.0, help="how many games, as a multiple")
    scale = parser.parse_args().scale
    compiler = " ".join(native.compilers()[0]) if native.compilers() else "no C compiler"
    print(f"Python {platform.python_version()}, {compiler} {' '.join(native.FLAGS)}, {platform.machine()}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        who = large()
        measure(who, max(1, int(GAMES["large"] * scale)), folder)
        print_speeds("manila, four players, random play without offers (by hand: C without bit masks)", who)
        who = small()
        said = check(who, 200, folder)
        measure(who, max(1, int(GAMES["small"] * scale)), folder)
        print_speeds("placement, four players, 60 decisions, random play", who)
        print(said)
    print_sizes()


if __name__ == "__main__":
    main()
