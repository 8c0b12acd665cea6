"""The rules at hand: questions, variants, other readings and edited files in mid-game, and the README."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from harbourmaster.grammar.diagnostics import Report
from harbourmaster.interpreter.game import load_game
from harbourmaster.interpreter.records import replay
from harbourmaster.repl.carrying import Misfit, carry
from harbourmaster.repl.commands import COMMANDS as SHELL_COMMANDS
from harbourmaster.repl.desk import Desk, run_line, suggest
from harbourmaster.repl.prompt_commands import COMMANDS
from harbourmaster.repl.terminal import Look
from harbourmaster.repl.texts import LANGUAGES, sentences
from harbourmaster.repl.view_check import check_view

from .table import open_desk, open_session, play_on, type_in

ROOT = Path(__file__).parent.parent
PEOPLE = ("Ann", "Bo", "Cy")
PLACING = ("bid 1", "pass", "pass", "no share", "load g n s", "start 4 0 5")


@pytest.fixture(autouse=True)
def _data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARBOURMASTER_DATA", str(tmp_path / "data"))


def test_the_readme_names_every_command() -> None:
    text = (ROOT / "repl/README.md").read_text("utf-8")
    shell, _, prompt = text.partition("## At the prompt")
    assert [n for n in SHELL_COMMANDS if f"\n| `{n}` |" not in shell] == []
    rows = [line.split("|")[1] for line in prompt.splitlines() if line.startswith("| `")]
    named = [part.split("`")[0] for row in rows for part in row.split("`")[1::2]]
    assert [
        c.name for c in COMMANDS.values() if not any(f"{n} ".startswith(f"{c.name} ") for n in named)
    ] == []
    for command in COMMANDS.values():
        assert all(f"`{alias}`" in prompt for alias in command.aliases), command.name


def test_every_language_has_every_sentence_with_the_same_placeholders() -> None:
    import string

    def fields(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    english = sentences("en")
    for language in LANGUAGES:
        other = sentences(language)
        assert set(other) == set(english)
        assert [k for k in english if fields(english[k]) != fields(other[k])] == []


def test_questions_and_variants() -> None:
    desk = open_desk(seats=PEOPLE)
    assert "loans = at-own-decisions" in type_in(desk, "questions")
    shown = type_in(desk, "questions stowaway-where")
    assert "* anywhere-but-insurance" in shown and "S3 step 2 placing" in shown
    assert "did you mean 'loans'" in type_in(desk, "questions laons")
    assert "open-outcry" in type_in(desk, "variants")
    assert "loans none" in [s.text for s in suggest(desk, "switch loans ")]
    assert "未决" not in type_in(open_desk("draughts", 2, look=Look(language="zh-Hans")), "variants")


def test_rules_name_their_documents() -> None:
    assert "S3: A player's own presentation" in type_in(open_desk(seats=PEOPLE), "rules placing_round")


def test_switch_plays_the_choices_again_where_that_comes_to_the_same() -> None:
    desk = open_desk(seats=PEOPLE)
    shown = type_in(desk, *PLACING, "switch berth-choice any")
    assert "lead to the same position" in shown
    assert desk.session.game.canonical == "manila+berth-choice=any"
    assert "Ann: silk berth 2" in type_in(desk, "silk berth 2")
    assert desk.session.recorder is not None
    assert desk.session.recorder.record.rules == "manila+berth-choice=any"
    assert "Bo: pass" in type_in(desk, "log")


def _aboard() -> Desk:
    desk = open_desk(seats=PEOPLE)
    type_in(desk, "switch berth-choice any", *PLACING, "silk berth 2")
    return desk


def test_switch_keeps_a_position_that_did_not_come_about_so() -> None:
    desk = _aboard()
    before = desk.session.state
    shown = type_in(desk, "switch berth-choice cheapest")
    assert "position is kept" in shown and "not kept from here on" in shown
    state = desk.session.state
    for name in ("cash", "hand", "aboard", "space"):
        v, w = before.game.program.variables[name], state.game.program.variables[name]
        assert before.position[v.slot : v.slot + 9] == state.position[w.slot : w.slot + 9]
    assert state.current_player() == before.current_player()
    assert "silk berth" in [o.words for o in desk.options()]
    assert "no record" in type_in(desk, "save nowhere")
    assert "Ann: silk berth 2" in type_in(desk, "log")
    type_in(desk, "silk berth")
    assert desk.session.state.get("aboard", 2, 1) == 1
    assert "rules of before" in type_in(desk, "undo", "undo")
    assert desk.session.game.canonical == "manila+berth-choice=any" and desk.session.recorder is not None


def test_switch_says_what_is_wrong() -> None:
    desk = open_desk(seats=PEOPLE)
    assert "switch what" in type_in(desk, "switch")
    assert "any-time" in type_in(desk, "switch loans")
    assert "no reading 'often'" in type_in(desk, "switch loans often")
    assert "holds already" in type_in(desk, "switch loans at-own-decisions")
    assert "no question" in type_in(desk, "switch xyzzy a")
    assert desk.session.at == 0


def test_positions_carried_over_play_on_alike() -> None:
    """A position carried to the same rules, loaded anew, has the same future, wherever it stands."""
    game = load_game("manila", players=3)
    twin = load_game("manila", players=3)
    numbers = random.Random(4)
    for seed in range(3):
        state = game.new_initial_state(seed=seed)
        while not state.is_terminal():
            if numbers.random() < 0.05:
                other = carry(state, twin)
                copy = state.clone()
                other.streams = copy.streams
                for _ in range(30):
                    if copy.is_terminal():
                        break
                    assert other.position == copy.position
                    assert other.legal_actions() == copy.legal_actions()
                    action = numbers.choice(copy.legal_actions())
                    copy.apply_action(action)
                    other.apply_action(action)
            state.apply_action(numbers.choice(state.legal_actions()))


@pytest.mark.parametrize(
    "setting",
    ["loans=none", "large-pilot=two-pushes", "vacated-seat=spent", "berth-choice=any", "enhanced-pirates"],
)
def test_positions_carried_to_other_rules_play_on_to_the_end(setting: str) -> None:
    game = load_game("manila", players=3)
    other_game = load_game(f"manila+{setting}", players=3)
    numbers = random.Random(setting)
    carried = 0
    for seed in range(4):
        state = game.new_initial_state(seed=seed)
        for _ in range(numbers.randrange(60)):
            state.apply_action(numbers.choice(state.legal_actions()))
        try:
            other = carry(state, other_game)
        except Misfit:
            continue
        carried += 1
        other.streams = other_game.new_initial_state(seed=seed).streams
        while not other.is_terminal():
            assert other.broken_invariants() == []
            other.apply_action(numbers.choice(other.legal_actions()))
    assert carried


def _copied(tmp_path: Path) -> Path:
    folder = tmp_path / "manila"
    shutil.copytree(ROOT / "rules/manila", folder)
    return folder


def test_reload_after_an_edit(tmp_path: Path) -> None:
    folder = _copied(tmp_path)
    game = load_game(str(folder), players=3)
    desk = Desk(open_session(game, PEOPLE), Look())
    type_in(desk, *PLACING)
    assert "have not changed" in type_in(desk, "reload")
    board = folder / "board.yaml"
    board.write_text(board.read_text("utf-8").replace("profit: 30", "profit: 40"), "utf-8")
    assert "same position" in type_in(desk, "reload")
    assert "40" in type_in(desk, "board")
    rules = folder / "auction.rules"
    text = rules.read_text("utf-8")
    rules.write_text("# a line more\n" + text, "utf-8")
    assert "same position" in type_in(desk, "reload")
    rules.write_text(text.replace("move pass", "move pas s"), "utf-8")
    shown = type_in(desk, "reload")
    assert "auction.rules" in shown and "error" in shown
    assert desk.session.at == 6
    type_in(desk, "silk berth")
    assert desk.session.state.get("aboard", 2, 1) == 0


def test_a_reloaded_record_leads_where_it_says(tmp_path: Path) -> None:
    folder = _copied(tmp_path)
    desk = Desk(open_session(load_game(str(folder), players=3), PEOPLE, seed=5), Look())
    play_on(desk.session, 40)
    board = folder / "board.yaml"
    board.write_text(board.read_text("utf-8").replace("pays_at_once: 10", "pays_at_once: 11"), "utf-8")
    run_line(desk, "reload")
    run_line(desk, "yes") if desk.pending is not None else None
    recorder = desk.session.recorder
    if recorder is not None:
        *_, last = replay(recorder.record, game=desk.session.game)
        assert last.key() == desk.session.state.key()


@pytest.mark.parametrize("name", ["manila", "dixit", "klondike", "draughts"])
def test_views_fit_their_rules(name: str) -> None:
    report = Report()
    check_view(load_game(name), report)
    assert report.diagnostics == []


def test_faults_of_a_view_are_told_with_their_place(tmp_path: Path) -> None:
    folder = _copied(tmp_path)
    view = folder / "view.yaml"
    text = view.read_text("utf-8")
    mistakes = {
        "shows: cash[p]": "shows: cahs[p]",
        "until: [end_of_sailing]": "until: [end_of_sialing]",
        "price: w.berths[b]": "price: w.berth[b]",
        "voyage {voyage_number} ·": "voyage {voyage_nmber} ·",
        "shows: free_shares[p]": "shows: hand[p, silk]",
        "- variable: from_punts": "- variable: from_punt",
        "  pirates_board:": "  pirates_bord:",
    }
    for right, wrong in mistakes.items():
        assert right in text
        text = text.replace(right, wrong, 1)
    view.write_text(text, "utf-8")
    report = Report()
    check_view(load_game(str(folder), players=3), report)
    told = {(d.span.source.name.rpartition("/")[2], d.span.line) for d in report.diagnostics}
    lines = text.splitlines()
    for wrong in mistakes.values():
        line = next(n for n, shown in enumerate(lines, 1) if wrong in shown)
        assert ("view.yaml", line) in told, (wrong, report.diagnostics)
    assert len(told) == len(mistakes)


def test_the_examples_of_the_readme_can_be_typed() -> None:
    from harbourmaster.repl.cli import parser_of

    text = (ROOT / "repl/README.md").read_text("utf-8").partition("## At the prompt")[0]
    for line in text.splitlines():
        if not line.startswith("| `"):
            continue
        words = line.split("|")[3].strip(" `").split()
        assert words[0] == "harbourmaster"
        command = SHELL_COMMANDS.get(words[1])
        if command is not None and "--help" not in words:
            parser_of(command).parse_args(words[2:])
