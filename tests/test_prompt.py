"""The prompt at a (pseudo-) terminal: whole games, three languages, and whatever happens to a terminal."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harbourmaster.interpreter.game import load_game
from harbourmaster.repl.desk import Desk, run_line
from harbourmaster.repl.pace import let_bots_play
from harbourmaster.repl.terminal import Look, plain

from .pseudo_terminal import MAIN, Terminal
from .table import open_session

SEED = 11
AGAINST_CHANCE = ["play", "manila", "--seats", "Ann", "random", "random", "--seed", str(SEED)]


def twin(look: Look, seats: tuple[str, ...] = (), seed: int = SEED) -> Desk:
    """Opens the same game without a terminal."""
    desk = Desk(open_session(load_game("manila", players=3), seats, seed), look)
    for _ in let_bots_play(desk):
        pass
    return desk


def expected(desk: Desk) -> list[str]:
    """Gets the lines that must stand on the screen."""
    return [line for line in plain(desk.board()).splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("columns", "rows", "language"),
    [(80, 24, "en"), (120, 40, "zh-Hans"), (60, 20, "zh-Hant"), (80, 24, "zh-Hans"), (120, 40, "en")],
)
def test_a_whole_game(columns: int, rows: int, language: str, tmp_path: Path) -> None:
    desk = twin(Look(columns, rows, language))
    numbers = random.Random(columns)
    arguments = [*AGAINST_CHANCE, "--lang", language]
    with Terminal(arguments, tmp_path, columns=columns, rows=rows) as terminal:
        terminal.until(*expected(desk), "Ann>")
        while not desk.session.is_over:
            listed = [
                o
                for o in desk.options()
                if not o.words.startswith(("pledge", "redeem", "抵押", "赎回", "贖回"))
            ]
            words = numbers.choice(listed or desk.options()).words
            run_line(desk, words)
            for _ in let_bots_play(desk):
                pass
            terminal.send(words + "\r")
            if not desk.session.is_over:
                terminal.until(*expected(desk), "Ann>")
        terminal.until(*plain(desk.results()).splitlines())
        terminal.send("\x04")
        assert terminal.finish() == 0
        assert "Traceback" not in terminal.raw


def test_an_empty_line_names_the_moves(tmp_path: Path) -> None:
    arguments = [*AGAINST_CHANCE, "--lang", "en"]
    with Terminal(arguments, tmp_path, columns=60) as terminal:
        terminal.until("Ann> bid 1 … 54 · pass · pledge")
        terminal.send("b")
        terminal.wait(lambda text: "Ann> b" in text and "bid 1 …" not in text)
        terminal.send("\x7f")
        terminal.until("Ann> bid 1 … 54 · pass · pledge")
        terminal.send("\x04")
        assert terminal.finish() == 0


def test_menus_help_and_quit(tmp_path: Path) -> None:
    with Terminal(["play", "manila", "--seed", "1", "--lang", "en"], tmp_path) as terminal:
        terminal.until("Ann>", "? help")
        terminal.send("\t")
        terminal.until("bid no more in this auction")
        terminal.send("\x03")
        terminal.until("Nothing was done")
        terminal.send("moves\r")
        terminal.until("> moves", "2 pass")
        terminal.send("1\r")
        terminal.until("Ann> bid")
        terminal.send("54\r")
        terminal.until("Ann: bid 54")
        terminal.send("quit\r")
        assert terminal.finish() == 0
    assert "Goodbye" in terminal.raw and "--resume" in terminal.raw


def test_a_pasted_page_stops_at_its_first_mistake(tmp_path: Path) -> None:
    with Terminal(["play", "manila", "--seed", "1", "--lang", "en"], tmp_path) as terminal:
        terminal.until("Ann>")
        page = "\n".join(["moves", "log", *(f"line {n} of something else" for n in range(60))])
        terminal.send(f"\x1b[200~{page}\x1b[201~\r")
        terminal.until("the other 59 lines were not read", "Ann>")
        terminal.send("bid 54\r")
        terminal.until("Ann: bid 54")
        terminal.send("\x04")
        assert terminal.finish() == 0


def test_resizing_reflows_the_board(tmp_path: Path) -> None:
    desk = twin(Look(80, 24, "en"))
    arguments = ["play", "manila", "--players", "3", "--seed", str(SEED), "--lang", "en"]
    with Terminal(arguments, tmp_path) as terminal:
        terminal.until(*expected(desk))
        for columns, rows in ((60, 20), (150, 40), (100, 30), (40, 12), (80, 24)):
            terminal.resize(columns, rows)
            desk.look = Look(columns, rows, "en")
            shown = expected(desk)[: rows - 3]
            terminal.until(*shown[:8], "Ann>")
        terminal.send("bid 54\r")
        terminal.until("Ann: bid 54")


def test_a_killed_game_goes_on(tmp_path: Path) -> None:
    arguments = [*AGAINST_CHANCE, "--lang", "zh-Hant"]
    desk = twin(Look(80, 24, "zh-Hant"))
    with Terminal(arguments, tmp_path) as terminal:
        terminal.until("Ann>")
        for words in ("bid 54", "1", "1"):
            run_line(desk, words)
            for _ in let_bots_play(desk):
                pass
            terminal.send(words + "\r")
            terminal.until(*expected(desk), "Ann>")
        terminal.child.kill(signal.SIGKILL)
    with Terminal(["play", "--resume"], tmp_path) as terminal:
        terminal.until(*expected(desk), "Ann>")
        terminal.send("\x04")
        assert terminal.finish() == 0


def test_a_hand_is_hidden_again(tmp_path: Path) -> None:
    arguments = ["play", "manila", "--seats", "Eve", "Noa", "random", "--lang", "en", "--seed", "4"]
    with Terminal(arguments, tmp_path) as terminal:
        screen = terminal.until("Eve>")
        assert "hand" not in screen
        terminal.send("hand\r")
        assert "×" not in terminal.until("Now only Eve looks at the screen")
        terminal.send("\r")
        shown = terminal.until("Only Eve may see this", "Press Enter")
        assert "×1" in shown
        terminal.send("\r")
        hidden = terminal.wait(lambda text: "Eve>" in text and "Only Eve" not in text)
        assert "×" not in hidden
        number = next(line.split()[0] for line in terminal_menu(terminal) if "pledge a share" in line)
        terminal.send(f"{number}\r")
        assert "1 pledge" in terminal.until("Which one?")
        terminal.send("1\r")
        after = terminal.until("Eve: pledge a share", "Eve>")
        assert not any(f"pledge {ware}" in after for ware in ("ginseng", "nutmeg", "silk", "jade"))
        terminal.send("\x1b[A")
        terminal.read(0.2)
        assert not any(f"pledge {ware}" in terminal.text for ware in ("ginseng", "nutmeg", "silk", "jade"))


def terminal_menu(terminal: Terminal) -> list[str]:
    terminal.send("moves\r")
    return terminal.until("> moves", "pledge a share").splitlines()


def test_no_colour(tmp_path: Path) -> None:
    arguments = ["play", "manila", "--lang", "en", "--seed", "4"]
    with Terminal(arguments, tmp_path, environment={"NO_COLOR": "1"}) as terminal:
        terminal.until("Ann>")
        assert "38;" not in terminal.raw and "48;" not in terminal.raw


def test_a_dumb_terminal_gets_plain_lines(tmp_path: Path) -> None:
    arguments = ["play", "manila", "--lang", "en", "--seed", "4"]
    with Terminal(arguments, tmp_path, environment={"TERM": "dumb"}) as terminal:
        terminal.until("Ann>")
        terminal.send("pass\n")
        terminal.until("Ann: pass")
        terminal.wait(lambda text: text.rstrip().endswith("Ann>"))
        terminal.send("\x03")
        terminal.until("Nothing was done")
        terminal.send("\x04")
        assert terminal.finish() == 0
        assert "The game is kept" in terminal.raw
        assert "\x1b" not in terminal.raw and terminal.raw.isascii()


def test_a_script_through_a_pipe(tmp_path: Path) -> None:
    script = "moves\nbid 3\nwhy not bid 2\nlog\n" * 3
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "play", "manila", "--lang", "en", "--seed", "4"],
        input=script,
        capture_output=True,
        text=True,
        env={"HARBOURMASTER_DATA": str(tmp_path), "PATH": "", "LC_ALL": "C.UTF-8"},
        check=False,
    )
    assert done.returncode == 0 and done.stderr == ""
    assert "Ann: bid 3" in done.stdout and "\x1b" not in done.stdout


def test_keys_are_answered_at_once(tmp_path: Path) -> None:
    arguments = ["play", "manila", "--players", "5", "--lang", "en", "--seed", "4"]
    with Terminal(arguments, tmp_path, columns=120, rows=40) as terminal:
        terminal.until("Ann>")
        times = []
        for key in "bid 12":
            before = len(terminal.raw)
            start = time.monotonic()
            terminal.send(key)
            while len(terminal.raw) == before:
                terminal.read(0.002)
            times.append(time.monotonic() - start)
        assert sorted(times)[len(times) // 2] < 0.25  # about 0.02 on a quiet machine
