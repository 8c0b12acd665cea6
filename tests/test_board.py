"""The board: golden pictures, widths, and nothing secret in what others see."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from harbourmaster.interpreter.game import load_game
from harbourmaster.repl.board import draw_board, draw_hands, letters_of, stage_of
from harbourmaster.repl.colours import STYLES
from harbourmaster.repl.session import Session
from harbourmaster.repl.terminal import Look, line_width, plain, width, wrap
from harbourmaster.repl.texts import LANGUAGES, sentences
from harbourmaster.repl.view import View, ViewError

from .table import open_session, play_on

GOLDEN = Path(__file__).parent / "boards"
LOOKS = (
    ("80-en", Look(80, 24, "en")),
    ("80-zh-Hans", Look(80, 24, "zh-Hans")),
    ("60-zh-Hant", Look(60, 20, "zh-Hant")),
    ("60-ascii", Look(60, 20, "en", ascii=True)),
    ("120-en", Look(120, 40, "en")),
    ("150-zh-Hant", Look(150, 40, "zh-Hant")),
)
POSITIONS = ((3, 0), (3, 60), (4, 45), (5, 40), (5, 23))


def picture(session: Session, look: Look, hand_of: int | None = 0) -> str:
    title = session.game.compiled.title[look.language]
    lines = draw_board(session.view, session.state, look, title=title, names=session.names(), hand_of=hand_of)
    stage = stage_of(session.view, session.state, look.language)
    return plain(lines) + f"\n{stage.says} | {stage.now} | {stage.next}\n"


def session_at(players: int, choices: int, seed: int = 5) -> Session:
    session = open_session(load_game("manila", players=players), seed=seed)
    play_on(session, choices, seed)
    return session


@pytest.mark.parametrize(("players", "choices"), POSITIONS)
def test_pictures_are_those_reviewed(players: int, choices: int) -> None:
    session = session_at(players, choices)
    shown = ""
    for name, look in LOOKS:
        shown += f"{'=' * 20} {name}\n{picture(session, look)}"
    path = GOLDEN / f"manila-{players}-{choices}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(shown, "utf-8")
    assert shown == path.read_text("utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_picture_is_wider_or_higher_than_its_window(language: str) -> None:
    session = open_session(
        load_game("manila", players=5), ("Maximilian", "Annabella", "三井住友", "Cy", "Di"), seed=3
    )
    for step in range(40):
        play_on(session, 3, step)
        for columns in (40, 60, 72, 80, 100, 120, 160, 240):
            look = Look(columns, 24, language, ascii=step % 2 == 1)
            lines = draw_board(session.view, session.state, look, title="M", names=session.names(), hand_of=2)
            assert max(map(line_width, lines)) <= columns
            if columns >= 80:
                assert len(lines) <= 18
            elif columns == 60:
                assert len(lines) <= 20


def test_ascii_is_ascii() -> None:
    session = session_at(4, 40)
    for columns in (60, 80, 140):
        lines = draw_board(session.view, session.state, Look(columns, 24, "en", ascii=True), hand_of=1)
        assert plain(lines).isascii()


@pytest.mark.parametrize("viewer", [None, 0, 1, 2])
def test_the_picture_shows_nobody_elses_secrets(viewer: int | None) -> None:
    session = session_at(3, 30)
    look = Look(80, 24, "en")
    before = picture(session, look, viewer)
    game, state = session.game, session.state.clone()
    for v in game.program.variables.values():
        if v.visibility != "index":
            continue
        for player in range(3):
            if player == viewer:
                continue
            for entry in range(v.dims[1][2]):
                state.position[game.slot_of(v.name, player, entry)] = (entry + player) % 4
    session.moments[session.at].state = state
    assert picture(session, look, viewer) == before


def test_a_hand_is_drawn_for_its_player_alone() -> None:
    session = session_at(3, 0)
    look = Look(80, 24, "en")
    assert "hand" not in picture(session, look, None)
    hands = {plain(draw_hands(session.view, session.state, look, p)) for p in range(3)}
    assert all("hand" in h for h in hands)


def test_a_view_that_would_show_a_secret_is_refused() -> None:
    game = load_game("manila", players=3)
    column = {"title": "x", "shows": "hand[p, ginseng]"}
    with pytest.raises(ViewError, match="secret"):
        View(game, {"panels": [{"panel": "table", "rows": {"p": "player"}, "columns": [column]}]})
    theirs = {"each": {"w": "ware"}, "count": "sum of hand[q, w] for q in player"}
    with pytest.raises(ViewError, match="secret"):
        View(game, {"panels": [{"panel": "hand", "of": "p", "rows": [theirs]}]})


def test_what_does_not_fit_is_left_out_and_told() -> None:
    game = load_game("manila", players=3)
    broken = {"panel": "note", "shows": "x", "when": "nonsense > 3"}
    sound = {"panel": "note", "shows": "bank {bank} {first of crew} {nonsense}"}
    view = View(game, {"panels": [broken, sound]}, strict=False)
    assert len(view.panels) == 1 and "nonsense" in view.problems[0]
    session = open_session(game, seed=5)
    assert plain(draw_board(view, session.state, Look())) == "?"
    view = View(game, {"panels": [{"panel": "note", "shows": "bank {bank} {first of crew}"}]})
    assert plain(draw_board(view, session.state, Look())) == "bank 0 ?"


def test_a_domain_must_have_members() -> None:
    game = load_game("manila", players=3)
    with pytest.raises(ViewError, match="one value"):
        View(game, {"panels": [{"panel": "table", "rows": {"p": "master"}, "columns": [{"title": "x"}]}]})


def test_piles_and_notes_are_drawn() -> None:
    game = load_game("manila", players=3)
    panels = [
        {"panel": "piles", "name": "at sea", "cards": {"w": "fleet"}, "count": "length of fleet"},
        {"panel": "note", "shows": "bank {bank}", "when": "bank = 0"},
        {"panel": "note", "shows": "never", "when": "bank > 0"},
    ]
    session = open_session(game, seed=5)
    lines = draw_board(View(game, {"panels": panels}), session.state, Look(80, 24, "en"))
    assert plain(lines) == "at sea 0 –\nbank 0"


def test_a_game_without_a_view_shows_its_public_variables() -> None:
    session = session_at(3, 10)
    lines = draw_board(View(session.game, None), session.state, Look(80, 24, "en"))
    text = plain(lines)
    assert "cash" in text and "hand" not in text


def test_every_sentence_of_the_view_is_in_three_languages() -> None:
    def walk(data: object, path: str) -> list[str]:
        if isinstance(data, dict):
            if "en" in data or "zh-Hans" in data:
                return [] if set(data) == set(LANGUAGES) else [path]
            return [m for k, v in data.items() for m in walk(v, f"{path}.{k}")]
        if isinstance(data, list):
            return [m for n, v in enumerate(data) for m in walk(v, f"{path}[{n}]")]
        return []

    assert walk(load_game("manila", players=3).view(), "view") == []


def test_every_stage_at_which_somebody_decides_has_a_name() -> None:
    game = load_game("manila", players=3)
    view = View(game, game.view())
    assert {d.rule for d in game.program.decisions} <= set(view.stages)


def luminance(colour: str) -> float:
    """Gets how light a colour is (WCAG 2.1, relative luminance)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Gets the contrast of two colours (WCAG 2.1)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ground", ["#000000", "#ffffff"])
def test_colours_can_be_read_on_light_and_on_dark(ground: str) -> None:
    for name, style in STYLES.items():
        words = style.split()
        ink = next((w[3:] for w in words if w.startswith("fg:")), ground)
        under = next((w[3:] for w in words if w.startswith("bg:")), ground)
        if ink != ground or under != ground:
            assert contrast(ink, under) >= (3 if "bold" in words else 3.99), name


def test_colours_are_those_of_the_box() -> None:
    game = load_game("manila", players=3)
    table = game.checked().rules.tables["ware"]
    printed = {f"ware.{entry}": cell.value for entry, cell in table.cells["colour"].items()}
    assert View(game, game.view()).colours == printed


def test_colours_by_condition() -> None:
    game = load_game("manila", players=3)
    colours = {"ware": {"each": "w", "red": "w.profit > 30", "blue": "w.profit > 20"}, "ware.silk": "pink"}
    view = View(game, {"colours": colours, "panels": []})
    assert view.colours == {"ware.jade": "red", "ware.nutmeg": "blue", "ware.silk": "pink"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_our_own_sentences_are_complete(language: str) -> None:
    english, other = sentences("en"), sentences(language)
    assert set(english) == set(other)
    for key, text in english.items():
        names = {p.partition("}")[0] for p in text.split("{")[1:]}
        assert names == {p.partition("}")[0] for p in other[key].split("{")[1:]}, key


def test_widths() -> None:
    assert width("玉 jade") == 7
    assert [plain([line]) for line in wrap([("", "one two three")], 8)] == ["one two", "three"]
    assert [plain([line]) for line in wrap([("", "人参肉豆蔻丝绸")], 8, 2)] == ["人参肉豆", "  蔻丝绸"]
    assert [plain([line]) for line in wrap([("", "x" * 10)], 4)] == ["xxxx", "xxxx", "xx"]


def test_letters() -> None:
    assert letters_of(("Ann", "Al", "Bo", "三井")) == ["A", "L", "B", "三"]
    assert letters_of(("Ab", "Ba", "Ab2", "A")) == ["A", "B", "2", "4"]


def test_tables_too_wide_go_on_below() -> None:
    """Nothing of a table is cut away: what does not fit side by side stands below, the names written again."""
    session = open_session(load_game("manila", players=4), seed=3)
    whole = picture(session, Look(80, 24, "en"))
    narrow = picture(session, Look(34, 40, "en"))
    for word in ("cash", "shares", "ginseng", "nutmeg", "silk", "jade"):
        assert word in whole and word in narrow
    assert narrow.count("supply") == 2 and narrow.count("Di") > whole.count("Di")
    assert "…" not in "".join(line for line in narrow.splitlines() if line.lstrip("► ").startswith("Di "))
