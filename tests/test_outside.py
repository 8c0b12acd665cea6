"""Players that are programs of their own: what they are told, what becomes of their answers and faults."""

from __future__ import annotations

import io
import json
import shlex
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from harbourmaster.interpreter.bots import outside
from harbourmaster.interpreter.bots.outside import OutsidePolicy
from harbourmaster.interpreter.bots.policy import UnknownPolicy, make_policy
from harbourmaster.interpreter.bots.tournament import Plan as TournamentPlan
from harbourmaster.interpreter.bots.tournament import play_tournament
from harbourmaster.interpreter.game import Game, State, load_game
from harbourmaster.interpreter.playout import Random
from harbourmaster.interpreter.seen import Onlooker
from harbourmaster.interpreter.simulate import POLICIES, Plan, simulate
from harbourmaster.repl.bots import make_bot
from harbourmaster.repl.cli import main
from harbourmaster.repl.seats import SeatError, make_seats
from harbourmaster.repl.taking_up import save, take_up

from .smallgame import make
from .table import open_desk, type_in

HERE = Path(__file__).parent / "outside"
GAME = """\
rule play:
    for n in 1 to 2:
        round := n
        choose each p in player: seal
    for p in player:
        choose p: say, spend
    choose any p in player: shout, or silence

state:
    round: 0 to 9
    secret_number[player]: 0 to 9 secret to its player
    points[player]: 0 to 99
    tale: text

move seal(secret n: 1 to 3):
    says "seal {n}"
    shows "seal something"
    secret_number[actor] := n

move say(words: text):
    says "say {words}"
    tale := words
    increase points[actor] by 5

move spend(n: 1 to 2):
    says "spend {n}"
    needs n < 2 else "too much"
    increase points[actor] by n

move shout:
    says "shout"
    increase points[actor] by 20

move silence:
    says "silence"

score p: points[p]
"""


@pytest.fixture(autouse=True)
def _no_program_is_left() -> Iterator[None]:
    yield
    outside.end_all()
    outside._faults_in_a_row.clear()
    assert outside._running == {}


def command(how: str, *more: object) -> str:
    """Writes the command of the bot that answers so."""
    return shlex.join([sys.executable, str(HERE / "bot.py"), how, *map(str, more)])


def play(game: Game, *policies: str, games: int = 2, jobs: int = 1) -> tuple[list[float], tuple[str, ...]]:
    """Plays games; gets the mean returns and the faults."""
    plan = Plan(game.name, game.num_players(), games, 5, policies=policies)
    found = simulate(plan, game=game, jobs=jobs)
    return found.returns(), found.faults


def make_program(name: str) -> OutsidePolicy:
    """Makes the policy of a program."""
    made = make_policy(name, programs=True)
    assert isinstance(made, OutsidePolicy)
    return made


# -------------------------------------------------------------------------------------------------- what it is told


def test_a_program_is_told_what_its_player_sees_and_no_more(tmp_path: Path) -> None:
    game = make(tmp_path, GAME)
    asked = tmp_path / "asked"
    play(game, f"exec:{command('last', asked)}", "random", games=1)
    questions = [json.loads(line) for line in asked.read_text("utf-8").splitlines()]
    assert len(questions) >= 3
    assert all(q["player"] == 0 and q["protocol"] == 1 and q["ask"] == "choose" for q in questions)
    assert {q["hash"] for q in questions} == {game.content_hash}
    second, third = questions[1], questions[2]
    assert second["variables"]["secret_number[Ann]"] == 3
    assert [a["words"] for a in second["actions"]] == ["seal 1", "seal 2", "seal 3"]
    assert not any("[Bo]" in name and "secret" in name for q in questions for name in q["variables"])
    assert "0 seal 3" in second["information_state"] and "1 seal ?" in second["information_state"]
    assert third["players"] == ["Ann", "Bo"] and third["may_pass"] is False


@pytest.mark.parametrize("name", ["manila", "manila+sealed-bids", "dixit", "klondike", "draughts"])
def test_what_is_hidden_changes_nothing_of_what_is_told(name: str) -> None:
    game = load_game(name)
    onlooker, policy = Onlooker(game), OutsidePolicy("exec:x", ("x",))
    state, numbers = game.new_initial_state(4), Random(4)
    looked = 0
    for _ in range(60):
        if state.is_terminal():
            break
        player = state.current_player()
        altered = state.clone()
        seen = {slot for _, slot, _ in state.visible(player)}
        pending = state.decision.pending if state.decision and state.decision.mode == "each" else -1
        for v in game.program.variables.values():
            for slot in range(v.slot, v.slot + v.width):
                if slot not in seen and v.visibility == "none" and v.width > 1:
                    altered.position[slot] = v.high if slot > v.slot else altered.position[slot]
        for p in range(game.num_players()):
            if pending >= 0 and p != player and altered.position[pending + p] > 0:
                altered.position[pending + p] = 1
        assert onlooker.seen(altered, player) == onlooker.seen(state, player)
        assert policy.message(altered, player, False, 1) == policy.message(state, player, False, 1)
        looked += 1
        actions = state.legal_actions()
        state.apply_action(actions[numbers.below(len(actions))])
    assert looked > 10


def test_values_are_told_as_what_they_are() -> None:
    game = load_game("manila", players=3)
    variables = Onlooker(game).variables(game.new_initial_state(1), 0)
    assert variables["cash[Bo]"] == 30 and variables["master"] is None
    assert variables["bidding"] == ["Ann", "Bo", "Cy"] and variables["refrained[Ann]"] is False
    cards = load_game("klondike")
    piles = Onlooker(cards).variables(cards.new_initial_state(1), 0)
    assert piles["waste"] == [] and len(piles["face_up[3]"]) == 1
    json.dumps([variables, piles])


# ------------------------------------------------------------------------------------------------------- answers


def test_answers_by_number_and_by_words_are_the_same(tmp_path: Path) -> None:
    for game in (make(tmp_path, GAME), load_game("manila+sealed-bids", players=3), load_game("dixit")):
        rest = ("random",) * (game.num_players() - 1)
        by_number, faults = play(game, f"exec:{command('number')}", *rest)
        assert faults == ()
        assert play(game, f"exec:{command('words')}", *rest) == (by_number, ())
        assert play(game, f"exec:{command('number')}", *rest, jobs=2) == (by_number, ())


def test_free_words_may_be_said(tmp_path: Path) -> None:
    game = make(tmp_path, GAME)
    state = game.new_initial_state(1)
    while state.is_simultaneous_node():
        state.apply_action(state.legal_actions()[0])
    policy = OutsidePolicy("exec:x", ("x",))
    offered = state.legal_actions(0)
    action = policy._read(b'{"words": "say the sea was calm"}', state, 0, offered, False)
    assert action is not None and action not in offered
    assert state.describe(action, 0) == "say the sea was calm"
    state.apply_action(action)
    with pytest.raises(outside.Failure, match="chose 'spend 2': too much"):
        policy._read(b'{"words": "spend 2"}', state, 1, state.legal_actions(1), False)


def test_it_passes_where_others_may_act(tmp_path: Path) -> None:
    before = GAME.index("    for n in")
    game = make(tmp_path, GAME[:before] + GAME[GAME.index("    choose any") :])
    passing, shouting = f"exec:{command('pass')}", f"exec:{command('first')}"
    assert play(game, passing, passing, games=4) == ([0, 0], ())
    returns, _ = play(game, shouting, shouting, games=4)
    assert sum(returns) > 0


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no shell")
def test_a_program_in_another_language_plays() -> None:
    game = load_game("draughts")
    shell = f"exec:sh {shlex.quote(str(HERE / 'bot.sh'))}"
    python = f"exec:{command('first')}"
    with_shell, faults = play(game, shell, "random", games=1)
    assert faults == ()
    assert play(game, python, "random", games=1) == (with_shell, ())


def test_each_seat_has_a_program_of_its_own_for_all_games(tmp_path: Path) -> None:
    game = make(tmp_path, GAME)
    name = f"exec:{command('number')}"
    play(game, name, name, games=5)
    assert len(outside._running) == 2
    programs = list(outside._running.values())
    outside.end_all()
    assert [p.process.returncode for p in programs] == [0, 0]


# -------------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("crash", "ended with exit status 3 before it answered; the last it said: out of luck; chance chose"),
        ("garbage", "answered 'well, let me think', which is no JSON; chance chose"),
        ("illegal", "chose action -7, which is not offered; chance chose"),
        ("pass", "passed, where it cannot; chance chose"),
        ("flood", "answered with more than 1,048,576 bytes on one line; chance chose"),
    ],
)
def test_faults_are_told_and_the_game_goes_on(tmp_path: Path, how: str, told: str) -> None:
    game = make(tmp_path, GAME)
    _, faults = play(game, f"exec:{command(how)}", "random", games=3)
    assert len(faults) == 3
    assert all(told in fault and "at seat 1" in fault for fault in faults)
    assert faults[0].startswith("game 0: ")
    assert faults[2].endswith("it is not asked any more") and not faults[1].endswith("any more")


def test_one_that_is_too_slow_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "_TO_START", 0.2)
    game = make(tmp_path, GAME)
    _, faults = play(game, f"exec:100:{command('silent')}", "random", games=1)
    assert len(faults) == 3 and "did not answer within 0.3 s" in faults[0]
    assert outside._running == {}


def test_one_that_is_told_to_stop_is_not_waited_for(tmp_path: Path) -> None:
    game = make(tmp_path, GAME)
    policy = make_program(f"exec:{command('silent')}")
    policy.stop = lambda: True
    state = game.new_initial_state(1)
    for _ in range(4):
        assert policy.choose(state, 0, Random(1)) in state.legal_actions(0)
    assert len(policy.faults) == 4 and all("was told to stop" in fault for fault in policy.faults)
    assert not any("any more" in fault for fault in policy.faults)


def test_one_that_was_told_to_stop_is_not_believed_late(tmp_path: Path) -> None:
    """Its answer to the question before comes later, and must not be taken for the answer to the next."""
    game = make(tmp_path, GAME)
    state = game.new_initial_state(1)
    policy = make_program(f"exec:{command('late')}")
    policy.stop = lambda: True
    policy.choose(state, 0, Random(1))
    policy.stop = lambda: False
    state.apply_action(state.legal_actions()[0])
    assert state.current_player() == 1
    state.apply_action(state.legal_actions()[1])
    assert policy.choose(state, 0, Random(2)) == state.legal_actions(0)[-1]
    assert len(policy.faults) == 1


def test_what_is_said_unasked_is_a_fault_at_most(tmp_path: Path) -> None:
    game = make(tmp_path, GAME)
    _, faults = play(game, f"exec:{command('blurt')}", "random", games=1)
    assert all("answered 'ready when you are', which is no JSON" in fault for fault in faults)


def test_after_a_good_answer_faults_are_counted_anew(tmp_path: Path) -> None:
    game = make(tmp_path, GAME)
    state = game.new_initial_state(1)
    policy = make_program(f"exec:{command('number')}")
    policy.choose(state, 0, Random(1))
    (key,) = outside._running
    outside._running[key].process.kill()
    policy.choose(state, 0, Random(2))
    assert len(policy.faults) == 1 and "was ended by signal 9" in policy.faults[0]
    policy.choose(state, 0, Random(3))
    assert len(policy.faults) == 1 and outside._faults_in_a_row[key] == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("exec:", "'exec:' names no program"),
        ("exec", "'exec' names no program"),
        ("exec:no-such-program -x", "there is no program 'no-such-program' that can be run"),
        ("exec:0:cat", "got 0 milliseconds, want 1 to 3600000"),
        ("exec:cat 'x", "no closing quotation"),
    ],
)
def test_wrong_names_are_told(name: str, message: str) -> None:
    with pytest.raises(UnknownPolicy, match=message):
        make_policy(name, programs=True)
    assert name not in POLICIES
    assert message in POLICIES.complaint(name)[0]


# ---------------------------------------------------------------------------------------------------- at the table


def test_at_the_table_a_fault_stands_in_the_log() -> None:
    seats = ("Ann", f"Bo=exec:{command('number')}", f"exec:{command('crash')}")
    desk = open_desk(seats=seats, programs=True)
    type_in(desk, "bid 3")
    log = type_in(desk, "log")
    assert "Cy: '" in log and "ended with exit status 3" in log and "out of luck" in log
    assert "Bo: '" not in log


def test_nobody_at_the_table_starts_a_program(tmp_path: Path) -> None:
    """What is typed at a prompt may come from a guest; only the command line that opens the table may name commands."""
    asked = tmp_path / "asked"
    name = f"exec:{command('first', asked)}"
    assert make_bot(name) is None
    with pytest.raises(UnknownPolicy, match="are not started from here"):
        make_policy(name)
    desk = open_desk()
    assert "are not started from here" in type_in(desk, f"hint {name}")
    with pytest.raises(SeatError):
        make_seats([f"Ann={name}"], ["Ann", "Bo"])
    assert make_seats([f"{name}=human"], ["Ann", "Bo"])[0].is_human  # a strange name, no more
    assert not asked.exists() and outside._running == {}


def test_a_file_from_elsewhere_runs_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARBOURMASTER_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "games").mkdir(parents=True)
    seat = f"exec:{command('number')}"
    desk = open_desk(seats=("Ann", f"Bo={seat}", "random"), programs=True)
    type_in(desk, "bid 3")
    for path, kind in ((tmp_path / "a.record", "random"), (tmp_path / "data" / "games" / "a.record", seat)):
        save(desk.session, "en", path)
        session, _ = take_up(path, go_on=False)
        assert [s.kind for s in session.seats] == ["human", kind, "random"]
        notes = [e.key for e in session.fresh()]
        assert ("program-not-run" in notes) == (kind == "random")


def test_the_state_given_is_not_changed() -> None:
    game = load_game("manila", players=3)
    state: State = game.new_initial_state(2)
    before = state.position[:]
    policy = make_program(f"exec:{command('number')}")
    assert policy.choose(state, state.current_player(), Random(1)) in state.legal_actions()
    assert state.position == before


def test_programs_play_each_other_at_a_table(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARBOURMASTER_DATA", str(tmp_path))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    seats = [f"Ann=exec:{command('first')}", f"exec:{command('number')}"]
    assert main(["play", "draughts", "--no-save", "--lang", "en", "--seed", "1", "--seats", *seats]) == 0
    told = capfd.readouterr().out
    assert "Final scores" in told and "chance chose" not in told
    assert main(["play", "draughts", "--lang", "en", "--seats", "exec:no-such-program"]) == 2
    assert "there is no program 'no-such-program' that can be run" in capfd.readouterr().err


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")
def test_what_a_program_has_started_ends_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "_TO_START", 0.3)
    game = make(tmp_path, GAME)
    helper = tmp_path / "pid"
    script = f"sleep 60 & echo $! > {shlex.quote(str(helper))}; wait"
    policy = make_program(f"exec:100:sh -c {shlex.quote(script)}")
    policy.choose(game.new_initial_state(1), 0, Random(1))
    assert "did not answer" in policy.faults[0]
    stat = Path(f"/proc/{helper.read_text().strip()}/stat")
    end = time.monotonic() + 10
    while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < end, "it runs on"
        time.sleep(0.01)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_tournament_goes_on_and_tells(tmp_path: Path, jobs: int) -> None:
    game = make(tmp_path, GAME)
    crashing, good = f"exec:{command('crash')}", f"exec:{command('number')}"
    plan = TournamentPlan(game.name, 2, (good, crashing), games=4)
    found = play_tournament(plan, jobs=jobs, game=game)
    assert found.games == 4 and found.problems == []
    assert [s.seats for s in found.standings] == [4, 4]
    assert {fault.partition(": ")[0] for fault in found.faults} <= {f"game {n}" for n in range(4)}
    assert found.faults and all("bot.py crash" in fault for fault in found.faults)
    assert found.as_dict()["faults"] == found.faults


def test_the_command_tells_faults_beside_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["simulate", "draughts", "--games", "6", "--policy", f"Bo=exec:{command('crash')}"]
    assert main(asked) == 0
    out, err = capsys.readouterr()
    assert "6 games" in out and "chance chose" not in out
    assert err.count("note: game 0: ") == 3 and "out of luck" in err
    assert main([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["policies"] == ["random", asked[-1].removeprefix("Bo=")]
    assert main(["compare", "manila", "manila+loans=none", "--policy", "exec:cat"]) == 2
    assert "'simulate' and 'tournament' take them" in capsys.readouterr().err
