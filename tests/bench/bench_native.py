"""Measures random play in compiled C beside C written by hand and beside the Python backend, in one run.

    python -m tests.bench.bench_native [GAMES]

Manila, four players, no standing offers, every option as likely. The hand-written game is `handwritten.c` in this
folder. All take turns in short rounds, so that a machine whose speed changes treats all alike; the best round of
each counts. Told too: memory of a position, and how long it takes to write, compile and load the library.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from harbourmaster.interpreter import cache, native
from harbourmaster.interpreter.c_backend import write_c
from harbourmaster.interpreter.game import load_game
from harbourmaster.interpreter.native import NativeMachine, native_machine
from harbourmaster.interpreter.simulate import Plan, play_part

ROUNDS = 9
PYTHON_SHARE = 100
"""The Python backend plays this many times fewer games."""


def best_of(rounds: int, contestants: dict[str, Callable[[], float]]) -> dict[str, float]:
    """Lets each contestant measure its own speed in turn; gets the best of each."""
    best = dict.fromkeys(contestants, 0.0)
    for _ in range(rounds):
        for name, speed in contestants.items():
            best[name] = max(best[name], speed())
    return best


def timed(work: Callable[[], object]) -> float:
    """Gets the seconds that some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compile_by_hand(folder: Path) -> Path:
    """Compiles the hand-written game as well as the compiler can."""
    target = folder / "handwritten"
    source = Path(__file__).with_name("handwritten.c")
    subprocess.run([*native.compilers()[0], "-O3", "-o", target, source], check=True)
    return target


def main() -> None:
    """Measures and prints."""
    games = int(sys.argv[1]) if len(sys.argv) > 1 else 60_000
    game = load_game("manila", players=4, offers=False)
    writing = timed(lambda: write_c(game.program))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cache.folder.cache_clear()
        real, cache.folder = cache.folder, lambda: folder  # type: ignore[assignment]
        making = timed(lambda: native_machine(game))
        loading = timed(lambda: native_machine(game))
        cache.folder = real
        by_hand = compile_by_hand(folder)
        machine = native_machine(game)
        told: list[str] = []

        def hand_written() -> float:
            done = subprocess.run([by_hand, str(games), "5"], capture_output=True, text=True, check=True)
            told[:] = done.stdout.split()
            return float(told[0])

        def compiled() -> float:
            return games / timed(lambda: machine.play(5, 0, games))

        def python() -> float:
            count = max(1, games // PYTHON_SHARE)
            plan = Plan("manila", 4, count, 5, offers=False, check=False)
            return count / timed(lambda: play_part(plan, game, "python", 0, count))

        speeds = best_of(
            ROUNDS, {"C by hand": hand_written, "C from the rules": compiled, "Python backend": python}
        )
    report(machine, speeds, games, told)
    print(
        f"written in {writing:.2f} s, written and compiled in {making:.2f} s, loaded in {loading * 1e3:.1f} ms"
    )


def report(machine: NativeMachine, speeds: dict[str, float], games: int, told: list[str]) -> None:
    """Prints the table, and that the same game was played."""
    totals = machine.play(5, 0, games)[0]
    mean = totals.decisions / totals.games
    print(f"{games:,} games a round, {ROUNDS} rounds, {native.compilers()[0][0]} {' '.join(native.FLAGS)}")
    print(f"{'':<18}{'games/s':>10}{'decisions/s':>14}{'ratio':>8}")
    for name, speed in speeds.items():
        print(f"{name:<18}{speed:>10,.0f}{speed * mean:>14,.0f}{speed / speeds['C by hand']:>8.3f}")
    score = sum(totals.scores) / totals.games / machine.program.players
    print(
        f"decisions a game: {mean:.2f}, by hand {float(told[1]):.2f}; mean score: {score:.2f}, by hand {float(told[2]):.2f}"
    )
    print(f"a position takes {machine.position_bytes} bytes")


if __name__ == "__main__":
    main()
