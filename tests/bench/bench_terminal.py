"""Measures what a player waits for at a real (pseudo-) terminal: the first prompt, and each key's redraw.

    python -m tests.bench.bench_terminal [--quick]

A key is sent, and the time runs until the terminal has been quiet for a while; the last byte that came counts,
so a completion menu that opens late is late. Points: a game's start, its middle, a decision with many options, with the
menu open, in three languages and three window sizes. The limits are 50 ms a key and half a second to the
first prompt; what goes beyond them is marked. Both are worth quoting only from a machine with nothing else to do.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import pexpect

from tests.pseudo_terminal import Terminal

KEY_LIMIT = 0.050
START_LIMIT = 0.5
QUIET = 0.12
"""After so many seconds without output a redraw counts as done."""

LANGUAGES = {"en": ("bid", "shar"), "zh-Hans": ("出价", "买"), "zh-Hant": ("出價", "買")}
SIZES = ((60, 20), (80, 24), (200, 50))
_WHERE = "\x1b[6n"
TAB, DOWN, UP, BACK, DROP = "\t", "\x1b[B", "\x1b[A", "\x7f", "\x15"


def redraw(terminal: Terminal, key: str) -> float:
    """Sends a key; gets the seconds until the last byte of its redraw; 0 where nothing was drawn."""
    begun = last = time.perf_counter()
    terminal.send(key)
    come: list[str] = []
    while True:
        try:
            come.append(terminal.child.read_nonblocking(65536, timeout=QUIET))
        except (pexpect.TIMEOUT, pexpect.EOF):
            break
        last = time.perf_counter()
        if _WHERE in come[-1]:  # only a question is answered at once: drawing takes the reader's time
            terminal.stream.feed("".join(come))
            come.clear()
    terminal.stream.feed("".join(come))
    return last - begun


def typed(terminal: Terminal, keys: list[str], times: dict[str, list[float]], point: str) -> None:
    """Types keys one by one, noting how long each redraw took."""
    for key in keys:
        times.setdefault(point, []).append(redraw(terminal, key))


def to_prompt(data: Path, arguments: list[str]) -> float:
    """Gets the seconds from the start of the program until it can be typed at."""
    begun = time.perf_counter()
    with Terminal(arguments, data) as terminal:
        terminal.until("Ann>")
        return time.perf_counter() - begun


def main() -> int:
    """Measures and prints."""
    quick = "--quick" in sys.argv
    late = 0
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        to_prompt(data, ["play", "manila", "--lang", "en"])  # the first start of all compiles
        for language in LANGUAGES:
            starts = sorted(
                to_prompt(data, ["play", "manila", "--lang", language]) for _ in range(3 if quick else 7)
            )
            late += starts[len(starts) // 2] > START_LIMIT
            print(f"first prompt, {language}: {_told(starts, START_LIMIT)}")
        for language in LANGUAGES:
            for columns, rows in SIZES[1:2] if quick else SIZES:
                for point, times in measured(data, language, columns, rows).items():
                    times.sort()
                    late += times[int(len(times) * 0.9)] > KEY_LIMIT
                    print(
                        f"{language:8}{columns:4}×{rows:<3} {point:32} {_told(times, KEY_LIMIT)}", flush=True
                    )
    return 1 if late else 0


def _told(times: list[float], limit: float) -> str:
    middle, ninth, last = times[len(times) // 2], times[int(len(times) * 0.9)], times[-1]
    mark = "  TOO SLOW" if ninth > limit else ""
    return f"median {middle * 1000:4.0f}  90 % {ninth * 1000:4.0f}  most {last * 1000:4.0f} ms  of {len(times)}{mark}"


def measured(data: Path, language: str, columns: int, rows: int) -> dict[str, list[float]]:
    """Plays through some points of a game; gets the times of the keys by point."""
    times: dict[str, list[float]] = {}
    bid, _ = LANGUAGES[language]
    arguments = ["play", "manila", "--players", "5", "--seed", "4", "--lang", language, "--no-save"]
    with Terminal(
        [*arguments, "--seats", "Ann", *["random"] * 4], data, columns=columns, rows=rows
    ) as terminal:
        terminal.until("Ann>")
        terminal.read(0.3)
        typed(terminal, [*f"{bid} 12", *[BACK] * 3], times, "start, words of a move")
        typed(
            terminal, [DROP, "z", DROP, *"zzz", DROP, *"od", DROP], times, "start, words of nothing, commands"
        )
        typed(terminal, [TAB, DOWN, DOWN, DOWN, UP, TAB, DROP], times, "start, with the menu open")
        typed(terminal, [*"why not ", *f"{bid} 1", DROP], times, "start, a command's argument")
        typed(terminal, [*"switch ", DOWN, DOWN, *"lo", DROP], times, "start, names of readings")
        terminal.send("200000\r")
        terminal.read(0.3)
        for _ in range(60):
            if _many_moves(terminal, language):
                break
            terminal.send("1\r")
            terminal.read(0.25)
        typed(terminal, ["m", BACK, *"harb", DROP, *"1 1", DROP], times, "placing, words")
        typed(terminal, [TAB, DOWN, DOWN, UP, TAB, TAB, DROP], times, "placing, with the menu open")
        typed(
            terminal,
            ["moves\r", "log\r", "hand\r", "board\r", "?\r", "q", "\r"],
            times,
            "placing, commands' answers",
        )
    return times


def _many_moves(terminal: Terminal, language: str) -> bool:
    stage = {"en": "placing accomplices", "zh-Hans": "放置同伙", "zh-Hant": "放置同夥"}[language]
    return (
        terminal.text.splitlines()[-1].replace(" ", "").startswith(f"Ann:{stage}".replace(" ", ""))
        or stage in (terminal.text.splitlines()[-1].partition("·")[0])
    )


if __name__ == "__main__":
    raise SystemExit(main())
