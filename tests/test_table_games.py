"""Kept games at the table, stories, pictures, and bots watched at a pace."""

from __future__ import annotations

import re
import sys
import time
import types
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from harbourmaster.interpreter.game import load_game
from harbourmaster.repl.desk import Desk, run_line
from harbourmaster.repl.pictures import to_png, to_svg
from harbourmaster.repl.taking_up import keep
from harbourmaster.repl.terminal import Look, width
from harbourmaster.repl.texts import LANGUAGES

from .pseudo_terminal import Terminal
from .table import open_desk, open_session, play_on, settle, type_in

PEOPLE = ("Ann", "Bo", "Cy")


@pytest.fixture(autouse=True)
def _data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARBOURMASTER_DATA", str(tmp_path / "data"))


def kept_desk(seed: int = 1) -> Desk:
    """Opens a game that is kept."""
    session = open_session(load_game("manila", players=3), PEOPLE, seed)
    return Desk(session, Look(), kept=keep(session, "en"))


def test_games_resume_and_branch() -> None:
    desk = kept_desk()
    assert desk.kept is not None
    first = desk.kept
    type_in(desk, "bid 3", "pass")
    assert "(2 choices)" in type_in(desk, "games")
    assert "this is" not in type_in(desk, "branch")
    assert desk.kept != first
    type_in(desk, "bid 9")
    games = type_in(desk, "games").splitlines()
    assert len(games) == 2 and games[0].startswith("►") and "(3 choices)" in games[0]
    assert "game you are playing" in type_in(desk, "resume 1")
    assert "going on" in type_in(desk, f"resume {first.stem}")
    assert desk.session.at == 2 and desk.kept == first
    assert "bid 4" in type_in(desk, "bid 4")
    assert "going on" in type_in(desk, "resume")
    assert desk.session.at == 3 and desk.session.state.get("high") == 9
    assert "no kept game" in type_in(desk, "resume nothing")
    for language in LANGUAGES:
        desk.speak(language)
        assert len(type_in(desk, "games").splitlines()) == 2


def test_replay_steps_to_and_fro() -> None:
    desk = kept_desk()
    type_in(desk, "bid 3", "pass", "bid 5")
    state = desk.session.state
    shown = type_in(desk, "replay", "", "")
    assert "Ann: bid 3" in shown and "Bo: pass" in shown
    assert desk.question.startswith("2 of 3")
    assert "Ann: bid 3" in type_in(desk, "b")
    assert "Cy: bid 5" in type_in(desk, "3")
    assert "'pass' leads nowhere here" in type_in(desk, "pass") and desk.question.startswith("3 of 3")
    assert "back at the game" in type_in(desk, "q")
    assert desk.session.state is state and desk.pending is None
    assert "×" not in shown  # no hand is shown


def test_stories_in_three_languages_hide_secrets(tmp_path: Path) -> None:
    session = open_session(load_game("manila", players=3), PEOPLE, 4)
    play_on(session, 2000, seed=2)
    assert session.is_over
    desk = Desk(session, Look())
    told = type_in(desk, f"story {tmp_path}/evening.md")
    assert all(f"'{tmp_path}/evening.{language}.md'" in told for language in LANGUAGES)
    texts = [(tmp_path / f"evening.{language}.md").read_text("utf-8") for language in LANGUAGES]
    assert texts[0].startswith("# Manila") and "★" in texts[0] and "## voyage 2" in texts[0]
    assert all("## " in text and "\n- ★ " in text for text in texts)
    assert "pledge a share" in texts[0]
    assert not any(f"pledge {ware}" in texts[0] for ware in ("ginseng", "nutmeg", "silk", "jade"))
    assert "cannot write" in type_in(desk, "story /nowhere/at/all")
    assert "story where" in type_in(desk, "story")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("dark", [False, True])
def test_pictures_stand_as_on_the_terminal(language: str, dark: bool, tmp_path: Path) -> None:
    desk = open_desk(seats=PEOPLE, look=Look(120, 40, language))
    type_in(desk, "bid 3")
    path = tmp_path / "board.svg"
    run_line(desk, f"board --svg {path}{' --dark' if dark else ''}")
    root = xml.fromstring(path.read_text("utf-8"))
    texts = [e for e in root.iter() if e.tag.endswith("text")]
    assert any(e.text == "Ann" for e in texts)
    wide = float(root.get("width", "0"))
    assert all(float(e.get("x", "0")) + float(e.get("textLength", "0")) <= wide for e in texts)
    assert "board --svg FILE" in type_in(desk, "board --gif x") or language != "en"


def test_pictures_show_no_hand(tmp_path: Path) -> None:
    desk = open_desk(seats=("Ann", "random", "random"))
    assert "hand" in type_in(desk, "board")
    run_line(desk, f"board --svg {tmp_path}/b.svg")
    assert "hand" not in (tmp_path / "b.svg").read_text("utf-8")


def test_png(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    svg = to_svg([[("player1", "Bo"), ("", " & <x> ─│")]])
    assert to_png(svg).startswith(b"\x89PNG")


def test_png_without_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = types.ModuleType("resvg_py")
    drawn.svg_to_bytes = lambda svg_string, zoom: b"the same box"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "resvg_py", drawn)
    desk = open_desk(seats=PEOPLE)
    assert "saved" in type_in(desk, f"board --png {tmp_path}/b.png")
    desk.speak("zh-Hant")
    assert "--svg" in type_in(desk, f"board --png {tmp_path}/c.png")
    assert not (tmp_path / "c.png").exists()
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert "harbourmaster[pictures]" in type_in(desk, f"board --png {tmp_path}/d.png")


def test_pictures_write_each_script_in_its_own_font(tmp_path: Path) -> None:
    for language, font in (("zh-Hans", "CJK SC"), ("zh-Hant", "CJK TC")):
        desk = open_desk(seats=PEOPLE, look=Look(80, 24, language))
        run_line(desk, f"board --svg {tmp_path}/b.svg")
        root = xml.parse(tmp_path / "b.svg").getroot()
        for e in (e for e in root.iter() if e.tag.endswith("text") and e.text):
            widths = {width(ch) for ch in e.text or "" if ch != " "}
            assert len(widths) == 1, e.text
            assert (font in e.get("font-family", "")) == (widths == {2}), e.text


def test_pace() -> None:
    desk = open_desk(seats=PEOPLE)
    assert "wait 1.5 s" in type_in(desk, "pace 1.5")
    assert desk.pace == 1.5
    assert "how long" in type_in(desk, "pace soon")
    settle(desk)


def test_bots_are_watched_and_stopped(tmp_path: Path) -> None:
    arguments = ["play", "manila", "--seats", "random", "random", "random", "--pace", "0.2", "--lang", "en"]
    with Terminal([*arguments, "--seed", "3"], tmp_path) as terminal:
        terminal.until("Ann: ", "Manila", "cash")  # the board stands below what happens
        terminal.send(" ")
        terminal.until("paused", "Manila", "cash")
        terminal.read(0.1)
        raw = len(terminal.raw)
        time.sleep(0.7)
        terminal.read(0.1)
        assert len(terminal.raw) == raw
        terminal.send(" ")
        terminal.wait(lambda _: len(terminal.raw) > raw + 20)
        terminal.send("\x03")
        stopped = terminal.until("the bots are stopped", "? help")
        assert stopped.count("Manila") == 1  # and is wiped each time
        terminal.send("replay\r")
        choices = re.search(r"0 of (\d+)", terminal.until("0 of "))
        terminal.send("\r")
        terminal.until("1 of ")
        terminal.send("q\r")
        terminal.until("back at the game")
        terminal.read(0.5)
        terminal.send("replay\r")
        assert choices is not None
        terminal.until(choices[0])  # Enter stepped on in the replay alone: the bots are stopped still
        terminal.send("\x04")
        assert terminal.finish() == 0
        assert "Traceback" not in terminal.raw


def test_colours_are_chosen_and_swapped(tmp_path: Path) -> None:
    desk = open_desk(seats=PEOPLE)
    assert "there are orange" in type_in(desk, "colour Ann purple")
    type_in(desk, "colour Ann blue", "color Bo blue")
    assert desk.colours == {0: "sky", 1: "blue"}
    run_line(desk, f"board --svg {tmp_path}/b.svg")
    assert "#0072b2" in (tmp_path / "b.svg").read_text("utf-8")
    from harbourmaster.repl.colours import colour_of

    taken = [colour_of(p, desk.colours) for p in range(3)]
    assert len(set(taken)) == 3


@pytest.mark.parametrize(
    ("columns", "rows", "language"), [(80, 24, "en"), (60, 20, "zh-Hans"), (120, 40, "zh-Hant")]
)
def test_thinking_at_a_terminal(columns: int, rows: int, language: str, tmp_path: Path) -> None:
    arguments = ["play", "manila", "--players", "3", "--seats", "Ann", "Bo", "Cy", "--lang", language]
    with Terminal([*arguments, "--seed", "4"], tmp_path, columns=columns, rows=rows) as terminal:
        terminal.until("Ann>")
        for line in ("bid 2", "pass", "pass"):
            terminal.send(line + "\r")
            terminal.read(0.15)
        for line, seen in (
            ("questions loans", "none"),
            ("compare here loans", "forced-only"),
            ("colour Ann red", "red"),
            ("games", "manila"),
            ("goto", "3"),
        ):
            terminal.send(line + "\r")
            terminal.until(seen, "Ann>")
        terminal.send("replay\r")
        terminal.until(" >")
        terminal.send("\r")
        terminal.read(0.1)
        terminal.send("\x03")
        terminal.until("Ann>")
        terminal.send("\x04")
        assert terminal.finish() == 0
        assert "Traceback" not in terminal.raw
