"""Nobody learns from this screen what he cannot know: whatever it is altered to, every view shows the same.

A position is altered in all that a viewer cannot know (dealt anew, as bots deal it), and put in the place of the true one.
Then the board, the menu, the completion, hands, chances, what if, comparisons, pictures, stories, refusals and their
reasons must come out alike, letter by letter. The viewers: the only person at a table of bots, and all who look at one
screen together.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from harbourmaster.interpreter.game import State, load_game
from harbourmaster.repl.desk import Desk, Reply, run_line, suggest
from harbourmaster.repl.kept_games import story
from harbourmaster.repl.knowing import NOBODY, possible
from harbourmaster.repl.terminal import Look, plain

from .table import open_session, play_on

TOGETHER = ("Ann", "Bo", "Cy", "Di")
ALONE = ("Ann", "random", "random", "random")
GAMES = ("manila", "manila+sealed-bids", "manila+open-outcry", "dixit")
LINES = ("moves", "board", "hand", "rules", "questions", "log 3")


@pytest.fixture(autouse=True)
def _data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARBOURMASTER_DATA", str(tmp_path / "data"))


def open_at(name: str, seats: tuple[str, ...], choices: int, look: Look) -> Desk:
    """Opens a desk at a game after some random choices; where one person plays, at his next decision."""
    game = load_game(name, players=4)
    session = open_session(game, seats[: game.num_players()], seed=choices)
    play_on(session, choices, seed=choices)
    while not session.is_over and len(session.humans) == 1 and not session.waiting_for():
        play_on(session, 1, seed=len(session.moments))
    return Desk(session, look)


def altered(desk: Desk) -> list[State]:
    """Gets other positions that look the same to who looks at this screen."""
    viewer = NOBODY if desk.viewer is None else desk.viewer
    state = desk.copy()
    return [s for s in possible(state, viewer) if s.position != state.position]


def words_of(state: State, player: int, language: str, count: int) -> list[str]:
    """Gets the words of some moves of a game, allowed or not."""
    numbers = random.Random(count)
    actions = numbers.sample(range(state.game.program.actions), min(count, state.game.program.actions))
    return [state.describe(a, player, language) for a in actions]


def told(reply: Reply, desk: Desk) -> tuple[bool, str]:
    """Gets what those who look at the screen see of an answer."""
    return reply.private, "" if reply.private and desk.concealed else plain(reply.lines)


def everything(desk: Desk, words: list[str], allowed: set[str], pictures: Path) -> dict[str, object]:
    """Gets all that the screen shows at a position, by what was done to see it."""
    shown: dict[str, object] = {"board": plain(desk.board()), "status": plain([desk.status()])}
    for line in LINES:
        shown[line] = told(run_line(desk, line), desk)
        desk.pending = None
    for begun in ("", *"abdeghlprs", "why not ", "what if ", "hand ", "抵", "出"):
        shown[f"completion of '{begun}'"] = [(s.text, s.meaning) for s in suggest(desk, begun)]
    for text in words:
        for line in (f"why not {text}", f"what if {text}", text):
            if line in allowed or (line.startswith("what if") and text in allowed and desk.concealed):
                continue  # he says himself what he has
            shown[line] = told(run_line(desk, line), desk)
            desk.pending = None
    picture = pictures / "board.svg"
    run_line(desk, f"board --svg {picture}")
    shown["picture"] = picture.read_text("utf-8")
    shown["story"] = story(desk.session, desk.language)
    return shown


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seats", [TOGETHER, ALONE], ids=["together", "alone"])
@pytest.mark.parametrize("choices", [0, 9, *(pytest.param(n, marks=pytest.mark.slow) for n in (23, 61))])
def test_every_view_is_the_same_for_all_that_cannot_be_known(
    name: str, seats: tuple[str, ...], choices: int, tmp_path: Path
) -> None:
    language = ("en", "zh-Hans", "zh-Hant")[choices % 3]
    desk = open_at(name, seats, choices, Look(100, 40, language))
    if desk.session.is_over:
        pytest.skip("over by then")
    others = altered(desk)[:2]
    if not others and choices:
        pytest.skip("nothing is hidden here")
    player = desk.turn if desk.turn is not None else 0
    words = words_of(desk.session.state, player, language, 4)
    states = [desk.session.state, *others]
    allowed = {
        s.describe(a % s.game.program.actions, player, language)
        for s in states
        for a in s.legal_actions(player)
    }
    moment = desk.session.moments[desk.session.at]
    true = moment.state
    first = everything(desk, words, allowed, tmp_path)
    assert moment.state is true
    for state in others:
        moment.state = state
        desk.session.moments[desk.session.at] = moment
        twin = Desk(desk.session, desk.look)
        for what, seen in everything(twin, words, allowed, tmp_path).items():
            assert seen == first[what], what
        moment.state = true


def test_the_test_sees_a_leak(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Were the board drawn with a hand for all who look on, this would be found."""
    monkeypatch.setattr(Desk, "viewer", property(lambda desk: 0))
    desk = open_at("manila", TOGETHER, 9, Look())
    monkeypatch.setattr(Desk, "concealed", property(lambda desk: True))
    others = [s for s in possible(desk.copy(), NOBODY) if s.position != desk.session.state.position]
    first = plain(desk.board())
    for state in others:
        desk.session.moments[desk.session.at].state = state
        if plain(Desk(desk.session, desk.look).board()) != first:
            return
    pytest.fail("no leak was seen")
