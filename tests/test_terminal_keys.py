"""Whatever is typed, whenever: a page pasted, Ctrl-C, Ctrl-D, Ctrl-Z and a resized window, wherever a game stands.

The points: the main prompt, the middle of a move of several parts, a question to the table, a long answer page by page,
the curtain and the screen of one person alone, a bot that thinks, bots that are watched.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .pseudo_terminal import MAIN, Terminal

PAGE = (
    "\x1b[200~"
    + "\n".join(["pass", "yes", "1", "bid 7", "q", "quit", *("a page of text" for _ in range(60))])
    + "\x1b[201~"
)
"""Pasted where the terminal marks what is pasted; many of its lines would do something, if they were typed."""

ALONE = ("--seats", "Ann", "random", "random")
TOGETHER = ("--seats", "Eve", "Noa", "Zoe")


def at_the_prompt(terminal: Terminal) -> None:
    terminal.until("Ann>")


def in_a_move(terminal: Terminal) -> None:
    terminal.until("Ann>")
    terminal.send("bid\r")
    terminal.until("which one?", "Ann> bid")


def at_a_question(terminal: Terminal) -> None:
    terminal.until("Ann>")
    for line in ("bid 54", "pledge jade", "load ginseng nutmeg silk", "start 4 0 5"):
        terminal.send(line + "\r")
        terminal.until(f"Ann: {line}", "Ann>")
    terminal.send("refrain\r")
    terminal.until("voyage 2", "Ann>")
    terminal.send("goto 0\r")
    terminal.until("agree?")


def in_the_pager(terminal: Terminal) -> None:
    terminal.until("Ann>")
    terminal.send("?\r")
    terminal.until("q returns to the table")


def at_the_curtain(terminal: Terminal) -> None:
    terminal.until("Eve>")
    terminal.send("hand\r")
    terminal.until("Now only Eve looks")


def at_a_secret(terminal: Terminal) -> None:
    at_the_curtain(terminal)
    terminal.send("\r")
    terminal.until("Only Eve may see this", "Press Enter")


def while_a_bot_thinks(terminal: Terminal) -> None:
    terminal.until("Ann>")
    terminal.send("pass\r")
    terminal.until("Bo .", "(Ctrl-C)")


def while_bots_are_watched(terminal: Terminal) -> None:
    terminal.until("Ann: ", "Bo: ")  # each told as it is made


SLOW = ("--seats", "Ann", "Bo=montecarlo:1000", "Cy=random")
WATCHED = ("--seats", "random", "random", "random", "--pace", "0.3")
POINTS: dict[str, tuple[Callable[[Terminal], None], tuple[str, ...], str]] = {
    "prompt": (at_the_prompt, ALONE, "Ann>"),
    "move": (in_a_move, ALONE, "Ann>"),
    "question": (at_a_question, ALONE, "Ann>"),
    "pager": (in_the_pager, ALONE, "Ann>"),
    "curtain": (at_the_curtain, TOGETHER, "Eve>"),
    "secret": (at_a_secret, TOGETHER, "Eve>"),
    "thinking": (while_a_bot_thinks, SLOW, ">"),
    "watching": (while_bots_are_watched, WATCHED, ">"),
}
QUICK = ("move", "secret")
EVERY = [p if p in QUICK else pytest.param(p, marks=pytest.mark.slow) for p in POINTS]
AWAKE = [
    "move",
    *(
        pytest.param(p, marks=pytest.mark.slow)
        for p in ("prompt", "question", "pager", "thinking", "watching")
    ),
]


@contextmanager
def standing(point: str, data: Path) -> Iterator[Terminal]:
    """Opens a terminal with a game that stands at a point."""
    go, seats, _ = POINTS[point]
    arguments = ["play", "manila", "--lang", "en", "--seed", "11", *seats]
    with Terminal(arguments, data) as terminal:
        go(terminal)
        yield terminal
        assert "Traceback" not in terminal.raw


def back_at_the_table(terminal: Terminal, point: str) -> str:
    """Gets back to the prompt with Ctrl-C, whatever is open, and asks for the log."""
    prompt = POINTS[point][2]
    for _ in range(6):
        terminal.send("\x03")
        terminal.read(0.1)
    terminal.wait(lambda text: any(line.startswith((prompt, "Ann>")) for line in text.splitlines()))
    terminal.send("log 5\r")
    return terminal.until("> log 5")


@pytest.mark.parametrize("point", EVERY)
def test_a_page_pasted_moves_nothing(point: str, tmp_path: Path) -> None:
    with standing(point, tmp_path) as terminal:
        terminal.send(PAGE)
        terminal.read(0.3)
        log = back_at_the_table(terminal, point)
        assert not re.search(r"^(Ann|Eve|Noa): bid 7$", log, re.MULTILINE)
        if point not in ("thinking", "watching"):
            assert "Ann: pass" not in log
        assert terminal.child.isalive()


@pytest.mark.parametrize("point", EVERY)
def test_ctrl_c_leads_back_to_the_table(point: str, tmp_path: Path) -> None:
    with standing(point, tmp_path) as terminal:
        back_at_the_table(terminal, point)
        terminal.send("\x04")
        assert terminal.finish() == 0


@pytest.mark.parametrize("point", EVERY)
def test_ctrl_d_leaves_or_goes_back_a_step(point: str, tmp_path: Path) -> None:
    with standing(point, tmp_path) as terminal:
        if point in ("thinking", "watching"):  # kept for the next prompt
            terminal.send("\x03\x03")
            terminal.until(POINTS[point][2])
        for _ in range(3):
            if not terminal.child.isalive():
                break
            terminal.send("\x15\x04" if point == "move" else "\x04")
            terminal.read(0.3)
        assert terminal.finish() == 0
        assert "Goodbye" in terminal.raw


@pytest.mark.parametrize("point", EVERY)
def test_a_window_that_changes_is_followed(point: str, tmp_path: Path) -> None:
    with standing(point, tmp_path) as terminal:
        for columns, rows in ((60, 20), (160, 50), (34, 8), (80, 24)):
            terminal.resize(columns, rows)
            terminal.read(0.1)
        back_at_the_table(terminal, point)
        terminal.send("board\r")
        terminal.until("supply", "harbour")


@pytest.mark.parametrize("point", AWAKE)
def test_ctrl_z_sleeps_and_fg_goes_on(point: str, tmp_path: Path) -> None:
    go, seats, _ = POINTS[point]
    arguments = ["play", "manila", "--lang", "en", "--seed", "11", *seats]
    command = " ".join(f"'{word}'" for word in (sys.executable, "-c", MAIN, *arguments))
    shell = ["bash", "--norc", "--noprofile", "-i"]
    with Terminal(
        [], tmp_path, program=shell, environment={"PS1": "shell% ", "HISTFILE": os.devnull}
    ) as terminal:
        terminal.until("shell%")
        terminal.send(f"clear; {command}\r")
        go(terminal)
        terminal.send("\x1a")
        terminal.until("Stopped")
        terminal.send("clear; echo awake\r")
        terminal.until("awake\nshell%")
        terminal.send("fg\r")
        if point == "pager":
            terminal.until("q returns to the table")
        else:
            terminal.until("fg", "harbourmaster.repl.cli")
        back_at_the_table(terminal, point)
        terminal.send("\x04")
        terminal.wait(lambda text: text.rstrip().endswith("shell%"))
        terminal.send("stty -a | tr ' ' '\\n' | grep -x -e echo -e icanon | sort | tr '\\n' '+'\r")
        terminal.until("echo+icanon+")  # as it was before


def test_a_secret_is_not_left_on_the_screen(tmp_path: Path) -> None:
    with standing("secret", tmp_path) as terminal:
        assert "×" in terminal.text
        terminal.send("\x1a")  # would show it to whoever sits down at the shell
        terminal.read(0.2)
        terminal.send("\r")
        shown = terminal.until("Eve>")
        assert "×" not in shown


def test_a_page_that_comes_unmarked_stops_at_its_first_mistake(tmp_path: Path) -> None:
    """Some terminals do not tell what is pasted: there the rest of a page is dropped after a mistake."""
    with standing("prompt", tmp_path) as terminal:
        terminal.send("moves\rlog\rnonsense here\r" + "pass\r" * 40)
        terminal.until("lines were not read")
        log = back_at_the_table(terminal, "prompt")
        assert "Ann: pass" not in log


@pytest.mark.slow
def test_what_is_typed_while_a_bot_thinks_is_not_lost(tmp_path: Path) -> None:
    with standing("thinking", tmp_path) as terminal:
        terminal.send("hint random")
        terminal.read(0.3)
        assert "hint" not in terminal.text  # nor is it written into the picture
        terminal.until("> hint random")


def test_the_board_stays_while_a_bot_thinks(tmp_path: Path) -> None:
    with standing("thinking", tmp_path) as terminal:
        assert "Bo: auction" in terminal.until("Manila", "cash", "(Ctrl-C)")
        terminal.resize(60, 24)
        terminal.send("\x03")
        terminal.wait(lambda text: "(Ctrl-C)" not in text and "? help" in text)
        assert terminal.text.count("Manila") == 1


def test_escape_drops_a_move_that_was_begun(tmp_path: Path) -> None:
    with standing("move", tmp_path) as terminal:
        terminal.send("\x1b")
        terminal.until("Ann> bid 1 … ")  # what could be typed, as nothing is
        terminal.send("pledge jade\r")
        terminal.until("Ann: pledge jade")


def test_another_move_may_follow_a_head(tmp_path: Path) -> None:
    """After `bid` the prompt begins with `bid`: what cannot be its rest is read as a line of its own."""
    with standing("move", tmp_path) as terminal:
        terminal.send("pledge jade\r")
        terminal.until("Ann: pledge jade")


def test_a_long_answer_is_read_page_by_page(tmp_path: Path) -> None:
    with standing("pager", tmp_path) as terminal:
        assert "lines 1–" in terminal.text
        terminal.send(" ")
        terminal.wait(lambda text: "lines 1–" not in text)
        terminal.send("g")
        terminal.until("lines 1–")
        terminal.send("q")
        terminal.until("Ann>", "harbour master")


def test_an_answer_that_needs_the_board_s_room_stands_alone(tmp_path: Path) -> None:
    with standing("prompt", tmp_path) as terminal:
        terminal.send("questions loans\r")
        alone = terminal.until("> questions loans", "any-time", "Enter: board")
        assert "harbour master" not in alone.splitlines()[-4]
        terminal.send("\r")
        terminal.until("Manila", "Ann>", "? help")


def test_a_low_window_scrolls_the_board(tmp_path: Path) -> None:
    with Terminal(["play", "manila", "--lang", "en", *ALONE], tmp_path, columns=80, rows=12) as terminal:
        assert "hand" not in terminal.until("Page Down", "Ann>")
        terminal.send("\x1b[6~")
        terminal.until("hand")
        terminal.send("\x1b[5~")
        terminal.wait(lambda text: "hand" not in text)
