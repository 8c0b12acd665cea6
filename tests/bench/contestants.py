"""Who plays in the table of benchmarks: each plays so many games and tells the seconds of processor time it took.

All contestants at the small placement game (`placement/`) meet the same dice and make the same choices, so the sums of
what they tell must be equal. What is not installed raises `Missing` with what to do.
"""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harbourmaster.interpreter import native
from harbourmaster.interpreter.chance import name_hash
from harbourmaster.interpreter.game import Game, load_game
from harbourmaster.interpreter.native import native_machine
from harbourmaster.interpreter.simulate import Plan, play_part

HERE = Path(__file__).parent
PLACEMENT = HERE / "placement"
SEED = 5


class Missing(Exception):
    """Says that a contestant cannot play here, and why."""


@dataclass(frozen=True, slots=True)
class Played:
    """What some games came to: processor seconds, decisions, options offered (None: not told), sums of money."""

    seconds: float
    decisions: float
    offered: int | None = None
    money: tuple[int, ...] = ()


Play = Callable[[int], Played]


@dataclass(slots=True)
class Contestant:
    """A name, how to make ready, and how many times fewer games it plays than the quickest."""

    name: str
    ready: Callable[[Path], Play]
    share: int = 1
    same: bool = True
    """Whether it plays the very same games as the others."""
    best: float = 0.0
    """Decisions a second in its best round."""
    last: Played | None = None
    missing: str = ""
    rounds: list[float] = field(default_factory=list)


def clocked(work: Callable[[], Any]) -> tuple[float, Any]:
    """Gets the processor seconds that some work takes in this process, and what it gives."""
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


# ------------------------------------------------------------------------------------------------------- from rules


def totals_of(game: Game, backend: str) -> Play:
    """Makes a contestant of a game's rules."""
    machine = native_machine(game) if backend == "c" else None

    def play(games: int) -> Played:
        if machine is not None:
            seconds, totals = clocked(lambda: machine.play(SEED, 0, games)[0])
        else:
            plan = Plan(game.name, game.num_players(), games, SEED, offers=game.offers, check=False)
            seconds, totals = clocked(lambda: play_part(plan, game, "python", 0, games))
        return Played(seconds, totals.decisions, None, tuple(totals.scores))

    return play


def rules(name: str, backend: str, *, offers: bool = True) -> Callable[[Path], Play]:
    """Makes what makes a contestant of rules ready."""

    def ready(folder: Path) -> Play:
        try:
            return totals_of(load_game(name, players=4, offers=offers), backend)
        except native.NativeUnavailable as error:
            raise Missing(str(error)) from None

    return ready


# --------------------------------------------------------------------------------------------------- written by hand


def by_hand(source: Path, *flags: str) -> Callable[[Path], Play]:
    """Makes what compiles a program written by hand, as well as the compiler can, and lets it play."""

    def ready(folder: Path) -> Play:
        if not native.compilers():
            raise Missing("no C compiler")
        target = folder / f"{source.stem}{''.join(flags)}"
        subprocess.run(
            [*native.compilers()[0], "-O3", "-march=native", *flags, "-o", target, source], check=True
        )

        def play(games: int) -> Played:
            done = subprocess.run([target, str(games), str(SEED)], capture_output=True, text=True, check=True)
            told = done.stdout.split()
            if len(told) == 4:  # handwritten.c: games a second, decisions and score a game
                return Played(games / float(told[0]), float(told[1]) * games)
            return Played(float(told[0]), int(told[1]), int(told[2]), tuple(map(int, told[3:])))

        return play

    return ready


def plain_python(folder: Path) -> Play:
    """Makes the game in plain Python ready."""
    from .placement.plain import play_many

    def play(games: int) -> Played:
        seconds, (decisions, offered, money) = clocked(lambda: play_many(games, SEED))
        return Played(seconds, decisions, offered, tuple(money))

    return play


def numba(folder: Path) -> Play:
    """Makes the game in numba ready."""
    if importlib.util.find_spec("numba") is None:
        raise Missing("numba is not installed: pip install 'harbourmaster[bench]'")
    from .placement.compiled import play_many

    def play(games: int) -> Played:
        seconds, (decisions, offered, money) = clocked(lambda: play_many(games, SEED))
        return Played(seconds, int(decisions), int(offered), tuple(int(n) for n in money))

    return play


def rulebook(folder: Path) -> Play:
    """Makes the game in Rulebook ready: compiled to a library by `rlc --O2`."""
    beside = Path(sys.executable).with_name("rlc")
    rlc = str(beside) if beside.exists() else shutil.which("rlc")
    if rlc is None:
        raise Missing("Rulebook is not installed: pip install 'harbourmaster[bench]'")
    target = folder / "placement.so"
    done = subprocess.run(
        [rlc, PLACEMENT / "placement.rl", "--shared", "--O2", "-o", target],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 or not target.exists():
        raise Missing(f"rlc failed: {(done.stderr or done.stdout).strip()[:200]}")
    library = ctypes.CDLL(str(target))
    function = library.rl_hm_play__int64_t_int64_t_int64_t_int64_t_int64_t_8
    hashes = [ctypes.c_int64(name_hash(name)) for name in ("policy", "die")]

    def play(games: int) -> Played:
        out = (ctypes.c_int64 * 8)()
        arguments = [ctypes.c_int64(games), ctypes.c_int64(SEED), *hashes]
        seconds, _ = clocked(lambda: function(*map(ctypes.byref, arguments), out))
        return Played(seconds, out[4], out[5], tuple(out[:4]))

    return play


def large() -> list[Contestant]:
    """Gets who plays the first game of the house: four players, no standing offers."""
    return [
        Contestant("C by hand", by_hand(HERE / "handwritten.c"), same=False),
        Contestant("our rules, C backend", rules("manila", "c", offers=False)),
        Contestant("our rules, Python backend", rules("manila", "python", offers=False), share=200),
    ]


def small() -> list[Contestant]:
    """Gets who plays the small game of placing workers, the measure first."""
    source = PLACEMENT / "placement.c"
    return [
        Contestant("C, bit masks", by_hand(source, "-DMASKS")),
        Contestant("C, bit masks, cheaper dice", by_hand(source, "-DMASKS", "-DOWN_DICE"), same=False),
        Contestant("C, lists", by_hand(source)),
        Contestant("our rules, C backend", rules(str(PLACEMENT), "c")),
        Contestant("Rulebook (rlc --O2)", rulebook),
        Contestant("numba", numba),
        Contestant("our rules, Python backend", rules(str(PLACEMENT), "python"), share=200),
        Contestant("plain Python", plain_python, share=200),
    ]
