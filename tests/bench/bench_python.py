"""Measures random play on the Python backend beside the hand-written referee, in one run.

    python -m tests.bench.bench_python [GAMES]

Manila, four players, no standing offers, every option as likely. The contestants take turns in short rounds
with calibration between, so that a machine whose speed changes treats all alike; each is quoted in games per
million calibration steps, and as a ratio to the referee.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from harbourmaster.interpreter.game import load_game
from harbourmaster.interpreter.playout import Random
from harbourmaster.interpreter.simulate import Plan, play_part

from tests.bench.calibration import Calibration
from tests.referee.bench import play as play_referee

ROUNDS = 5
Contestant = Callable[[int, int], int]
"""Plays games `first` … of so many; gets how many decisions were made."""


def contestants() -> dict[str, Contestant]:
    """Gets who competes, the referee last."""
    game = load_game("manila", players=4, offers=False)

    def simulated(first: int, count: int, *, check: bool) -> int:
        totals = play_part(
            Plan("manila", 4, count, 1, offers=False, check=check), game, "python", first, count
        )
        return int(totals.decisions)  # type: ignore[union-attr]

    def stated(first: int, count: int) -> int:
        decisions = 0
        for number in range(first, first + count):
            state, numbers = game.new_initial_state(number), Random(number)
            while not state.is_terminal():
                actions = state.legal_actions()
                state.apply_action(actions[numbers.below(len(actions))])
                decisions += 1
        return decisions

    return {
        "Python backend, racing": lambda first, count: simulated(first, count, check=False),
        "… with invariants": lambda first, count: simulated(first, count, check=True),
        "… through State": stated,
        "hand-written referee": lambda first, count: sum(
            play_referee(s)[1] for s in range(first, first + count)
        ),
    }


def main() -> None:
    """Measures and prints."""
    games = max(ROUNDS, int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
    who = contestants()
    seconds = dict.fromkeys(who, 0.0)
    decisions = dict.fromkeys(who, 0)
    calibration = Calibration()
    for play in who.values():
        play(0, 20)  # so that what is made at first use is made
    calibration.measure()
    each = games // ROUNDS
    for turn in range(ROUNDS):
        for name, play in who.items():
            start = time.perf_counter()
            decisions[name] += play(turn * each, each)
            seconds[name] += time.perf_counter() - start
            calibration.measure()
    played = each * ROUNDS
    speed = calibration.steps_per_second
    print(f"{speed:,.0f} calibration steps/s; {played:,} games each, {ROUNDS} rounds")
    print(f"{'':<24}{'games/s':>9}{'per M steps':>13}{'ratio':>8}{'decisions':>11}")
    referee = played / seconds["hand-written referee"]
    for name in who:
        rate = played / seconds[name]
        row = f"{rate:>9,.0f}{rate / speed * 1e6:>13,.0f}{rate / referee:>8.2f}"
        print(f"{name:<24}{row}{decisions[name] / played:>11.2f}")
    print(f"clone of a position: {clone_time():.2f} µs; of a State: {clone_time(state=True):.2f} µs")


def clone_time(*, state: bool = False) -> float:
    """Gets the microseconds a copy takes."""
    one = load_game("manila", players=4, offers=False).new_initial_state(1)
    copy: Callable[[], object] = one.clone if state else one.position.copy
    times = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(10_000):
            copy()
        times.append(time.perf_counter() - start)
    return min(times) / 10_000 * 1e6


if __name__ == "__main__":
    main()
