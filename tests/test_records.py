"""Tests records: written while playing, killed, resumed, replayed, refused, and turned into scenarios."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from harbourmaster.interpreter.errors import IllegalMove
from harbourmaster.interpreter.game import Game, State, load_game
from harbourmaster.interpreter.record_files import Choice, RecordError, parse_record
from harbourmaster.interpreter.record_scenarios import quoted, scenario_from_record
from harbourmaster.interpreter.records import Recorder, load_record, parting, read_record, replay
from harbourmaster.interpreter.scenarios import run_scenarios

from .smallgame import make

SMALL = """
rule play:
    shuffle deck
    repeat 4 times:
        roll die
        choose p_turn: grab, leave, write
        p_turn := left_of(p_turn)
    choose each p in player: grab, leave
    choose any p in player: grab, or leave

state:
    die: 1 to 6
    p_turn: player
    got[player]: 0 to 99
    deck: pile of fruit, up to 4
    note: text

move grab(n: 1 to 6):
    says "grab {n}"
    needs n <= die           else "you may grab up to {die}"
    increase got[actor] by worth(n)

define worth(n: 1 to 6) -> 0 to 9: n * fruit_rate

define fruit_rate -> 1 to 2: 1

move leave:
    says "leave"

move write(words: text):
    says "write {words}"
    note := words

score p: got[p]
"""
FILL = "rule play:\n    put apple on top of deck\n    put pear on top of deck\n    put plum on top of deck\n"


def small_rules(**changes: str) -> str:
    """Writes the rules of the small game, with some text changed."""
    text = SMALL.replace("rule play:\n", FILL)
    for change in changes.values():
        old, new = change.split(" => ")
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.fixture
def small(tmp_path: Path) -> Game:
    return make(tmp_path / "small", small_rules())


def started(
    game: Game, path: Path | None = None, seed: int = 7, names: Sequence[str] | None = None
) -> tuple[State, Recorder]:
    """Deals, and begins a record."""
    state = game.new_initial_state(seed=seed, trace=True)
    return state, Recorder.start(state, seed, path=path, names=names)


def say(state: State, recorder: Recorder, *words: str) -> None:
    """Makes the moves named."""
    for w in words:
        recorder.choose(state, state.parse_action(w))


def play_on(state: State, recorder: Recorder, rng: random.Random, most: int = 10_000) -> int:
    """Plays at random to the end, or so many choices; gets how many there were."""
    made = 0
    while not state.is_terminal() and made < most:
        player = None
        actions = state.legal_actions()
        if state.is_simultaneous_node():
            player = rng.choice(state.players_to_act())
            actions = state.legal_actions(player)
        recorder.choose(state, rng.choice(actions), player)
        made += 1
    return made


# ---------------------------------------------------------------------------------------------------- writing


def test_a_record_reads_as_it_was_written(small: Game, tmp_path: Path) -> None:
    path = tmp_path / "a.record"
    state, recorder = started(small, path, names=["小明", "Bo Bo"])
    say(state, recorder, "grab 1", "write  hello   there", "leave")
    recorder.close()
    text = path.read_text("utf-8")
    assert text == recorder.record.text()
    record = read_record(path)
    assert (record.rules, record.content_hash) == (small.canonical, small.content_hash)
    assert (record.names, record.seed, record.offers) == (("小明", "Bo Bo"), 7, True)
    assert [(c.number, c.player, c.words) for c in record.choices()] == [
        (1, "小明", "grab 1"),
        (2, "Bo Bo", "write hello there"),
        (3, "小明", "leave"),
    ]
    first, second, _ = record.choices()
    assert first.changes.values["got[小明]"] == "1"
    assert second.changes.values["note"] == "hello there"
    assert first.options == len(small.new_initial_state(seed=7).legal_actions())
    assert text.startswith("harbourmaster record 1\nrules: ")
    assert parse_record(text).text() == text


def test_an_illegal_choice_is_not_written(small: Game, tmp_path: Path) -> None:
    path = tmp_path / "a.record"
    state, recorder = started(small, path)
    before = path.read_text()
    with pytest.raises(IllegalMove):
        recorder.choose(state, 10_000_000)
    assert path.read_text() == before


@pytest.mark.parametrize(
    "names", [["A", "A"], ["A", "-"], ["A", "*"], ["A", " "], ["A", "b\tc"], ["A", "b\nc"]]
)
def test_names_that_would_tear_a_record_are_refused(small: Game, names: list[str]) -> None:
    with pytest.raises(RecordError):
        started(small, names=names)


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_random_games_replay(tmp_path: Path, players: int, seed: int) -> None:
    game = make(tmp_path / "small", small_rules(), players=players)
    path = tmp_path / "a.record"
    state, recorder = started(game, path, seed)
    made = play_on(state, recorder, random.Random(seed))
    record = load_record(path)
    states = [s.clone() for s in replay(record, game=game)]
    assert len(states) == made + 1
    assert states[-1].key() == state.key()
    assert record.items[-1].line() == "end\t" + "\t".join(str(s) for s in state.scores()) + "\n"


def test_a_game_without_a_seed_keeps_what_chance_was_told(small: Game, tmp_path: Path) -> None:
    path = tmp_path / "a.record"
    state = small.new_initial_state()
    recorder = Recorder.start(state, None, path=path)
    play_on(state, recorder, random.Random(3))
    record = load_record(path)
    assert [c.player for c in record.choices()[:3]] == ["*", "*", "*"]
    assert [s.clone() for s in replay(record, game=small)][-1] == state
    (result,) = run_scenarios(written(scenario_from_record(record, 6, game=small), tmp_path))
    assert result.passed, result.report()


def written(text: str, folder: Path) -> Path:
    """Writes a file of scenarios."""
    path = folder / "scenario.yaml"
    path.write_text(text, "utf-8")
    return path


# -------------------------------------------------------------------------------------------- undo and resume


def test_undo_and_new_dice(small: Game, tmp_path: Path) -> None:
    path = tmp_path / "a.record"
    state, recorder = started(small, path)
    say(state, recorder, "leave")
    kept = state.clone()
    say(state, recorder, "leave", "leave")
    after = state.clone()
    recorder.undo(2)
    state = kept.clone()
    recorder.reseed(state, 99)
    say(state, recorder, "grab 1", "leave")
    assert state.get("die") != after.get("die")
    record = load_record(path)
    assert [c.words for c in record.choices()] == ["leave", "grab 1", "leave"]
    assert [item.line().split()[0] for item in record.items] == ["1", "2", "3", "undo", "seed", "2", "3"]
    assert [s.clone() for s in replay(record, game=small)][-1] == state
    with pytest.raises(ValueError, match="taken back"):
        recorder.undo(4)


def test_resume_goes_on_where_a_torn_record_ends(small: Game, tmp_path: Path) -> None:
    path = tmp_path / "a.record"
    state, recorder = started(small, path)
    say(state, recorder, "leave", "grab 1")
    recorder.reseed(state, 5)
    recorder.close()
    whole = path.read_bytes()
    path.write_bytes(whole + "3\tAnn\twrite 小".encode()[:-1])
    resumed, found = Recorder.resume(path, game=small)
    assert path.read_bytes() == whole
    assert found == state
    say(found, resumed, "leave")
    say(state, Recorder.start(state, 0), "leave")
    assert found == state
    resumed.undo(1)
    assert [c.words for c in load_record(path).choices()] == ["leave", "grab 1"]


KILLED = """
import random, sys
from harbourmaster.interpreter.game import load_game
from harbourmaster.interpreter.records import Recorder
game = load_game(sys.argv[1], players=2)
while True:
    state = game.new_initial_state(seed=3)
    recorder = Recorder.start(state, 3, path=sys.argv[2])
    rng = random.Random(1)
    for n in range(100000):
        recorder.choose(state, rng.choice([a for a in state.legal_actions() if a != n]))
        print(n + 1, flush=True)
        if state.is_terminal():
            break
"""


def test_killed_in_the_middle_loses_at_most_the_last_choice(tmp_path: Path) -> None:
    make(tmp_path / "small", small_rules().replace("repeat 4 times", "repeat 5000 times"))
    path = tmp_path / "a.record"
    command = [sys.executable, "-c", KILLED, str(tmp_path / "small"), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while int(process.stdout.readline()) < 20:
            pass
        os.kill(process.pid, signal.SIGKILL)
        told = [int(line) for line in process.stdout.read().split()]
    made = len(load_record(path).choices())
    assert made >= max([20, *told])
    resumed, state = Recorder.resume(path)
    assert len(state.choices()) == made
    resumed.choose(state, state.legal_actions()[0])
    assert len(load_record(path).choices()) == made + 1


def test_writing_a_choice_is_quick(tmp_path: Path) -> None:
    game = load_game("manila", players=4)
    state, recorder = started(game, tmp_path / "a.record")
    begun = time.process_time()
    made = play_on(state, recorder, random.Random(1), 60)
    assert (time.process_time() - begun) / made < 0.02


# ---------------------------------------------------------------------------------------- altered and refused


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("leave\t", "grab 1\t", "choice 2: 'grab 1' is action"),
        ("Bo\tleave", "Ann\tleave", "choice 2: Ann: leave: it is not Ann who decides but Bo"),
        ("got[Ann] = 1", "got[Ann] = 2", r"choice 1: got\[Ann\] becomes 1, the record has 2 \(rule grab"),
        ("got[Ann] = 1", "got[Bo] = 1", r"unchanged; got\[Bo\] does not change, the record has 1"),
        ("\tof ", "\tof 1", "choice 1: there are"),
        ("leave\t", "flee\t", "choice 2: Bo: flee: no move is called 'flee'"),
        ("seed: 7", "seed: 8", "the deal: "),
        ("leave\t", "leave", "this is no line of a record"),
        ("2\tBo", "3\tBo", "got choice 3, want choice 2"),
        ("2\tBo", "2\tCy", "nobody is called 'Cy'"),
        ("2\tBo", "two\tBo", "got 'two', want a number"),
        ("harbourmaster record 1", "harbourmaster record 2", "this is no record"),
        ("seed: 7\n", "", "does not say 'seed'"),
        ("seed: 7\n", "seed: 7\nseed: 8\n", "each key once"),
        ("2\tBo", "undo\t2\n2\tBo", "2 choices are taken back of 1"),
    ],
)  # fmt: skip
def test_altered_records_are_refused_at_the_line(
    small: Game, tmp_path: Path, old: str, new: str, wanted: str
) -> None:
    path = tmp_path / "a.record"
    state, recorder = started(small, path)
    say(state, recorder, "grab 1", "leave")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(RecordError, match=wanted) as error:
        list(replay(load_record(path), game=small))
    assert error.value.span is not None
    assert error.value.span.source.name == str(path)


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"hello", b"harbourmaster record 1\n", b"\x00" * 99])
def test_what_is_no_record_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.record"
    path.write_bytes(data)
    with pytest.raises(RecordError):
        load_record(path)


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ("n * fruit_rate => n * fruit_rate + 1", r"1 on: got\[Ann\] becomes 2, the record has 1 \(rule grab"),
        ("choose p_turn: grab, leave, write => choose p_turn: grab, write",
         r"from choice 1 on: there are \d options, the record had \d \(rule play"),
        ("needs n <= die  => needs n < die  ", r"choice 1 on: Ann: grab 1: you may grab up to 1 \(rule grab"),
        ("p_turn := left_of(p_turn) => p_turn := p_turn",
         "from choice 1 on: p_turn does not change, the record has Bo"),
        ("put pear on top of deck => put plum on top of deck", "from the deal on: "),
        ('says "leave" => says "go"', "from choice 2 on: Bo: leave: no move is called 'leave'"),
        ("repeat 4 times => repeat 5 times", "though its 2 choices lead to the same today"),
        ("note: text => note: text\n    more: 0 to 3", "though its 2 choices lead to the same today"),
    ],
)  # fmt: skip
def test_a_record_of_other_rules_tells_where_they_part(tmp_path: Path, change: str, wanted: str) -> None:
    seed = 7
    game = make(tmp_path / "small", small_rules())
    while game.new_initial_state(seed=seed).get("die") != 1:
        seed += 1
    state, recorder = started(game, tmp_path / "a.record", seed)
    say(state, recorder, "grab 1", "leave")
    make(tmp_path / "small", small_rules(change=change))
    with pytest.raises(RecordError, match="has changed since this record was made.*" + wanted):
        load_record(tmp_path / "a.record")
    assert len(load_record(tmp_path / "a.record", any_rules=True).choices()) == 2


def test_where_a_real_game_parts_from_a_house_rule(tmp_path: Path) -> None:
    game = load_game("manila", players=3)
    state, recorder = started(game, seed=2)
    play_on(state, recorder, random.Random(5))
    record = recorder.record
    assert parting(record, game) is None
    found = parting(record, load_game("manila+harbour.A.pays=7", players=3))
    assert found is not None
    assert found.rule_span is not None
    assert found.rule == "receive"
    assert found.message.startswith("cash[")
    choice = record.choices()[found.number - 1]
    assert any(name.startswith("step[") for name in choice.changes.values)  # the end of the first voyage


# ----------------------------------------------------------------------------------------------- to scenarios


@pytest.mark.parametrize("seed", range(3))
def test_every_moment_of_a_game_makes_a_scenario_that_passes(tmp_path: Path, seed: int) -> None:
    game = make(tmp_path / "small", small_rules(), players=3)
    state, recorder = started(game, seed=seed)
    say(state, recorder, "write it rains: a # lot")
    play_on(state, recorder, random.Random(seed))
    for at in range(len(recorder.record.choices()) + 1):
        text = scenario_from_record(recorder.record, at, game=game)
        (result,) = run_scenarios(written(text, tmp_path))
        assert result.passed, f"{result.report()}\n{text}"
    with pytest.raises(RecordError, match="choices, got 99"):
        scenario_from_record(recorder.record, 99, game=game)


def test_a_scenario_keeps_names_dice_and_what_came_next(tmp_path: Path) -> None:
    game = load_game("manila", players=3)
    state, recorder = started(game, seed=3, names=["Xi", "Yu", "Zo"])
    say(state, recorder, "bid 4", "pass", "pass", "no share")
    lines = scenario_from_record(recorder.record, 3, name="the office is sold").splitlines()
    assert lines[1:4] == ["- name: the office is sold", "  rules: manila", "  players: [Xi, Yu, Zo]"]
    assert lines[lines.index("  moves:") + 1 :][:3] == ["    - Xi bid 4", "    - Yu pass", "    - Zo pass"]
    assert "    - decides: Xi" in lines
    assert "    - cash[Xi]: 26" in lines
    assert lines[-1] == "    - offered: Xi no share"


@pytest.mark.parametrize(
    "text", ["Ann bid 3", "yes", "true", "null", "a: b", "a #b", "- a", "3", "小", " a", "it's", "a, b"]
)
def test_quoted_text_reads_as_itself(text: str) -> None:
    from harbourmaster.grammar.diagnostics import Report
    from harbourmaster.grammar.span import Source
    from harbourmaster.interpreter.yamlfile import plain, read_yaml

    node = read_yaml(Source("x", f"a: [{quoted(text)}]\n"), Report())
    assert node is not None
    assert plain(node) == {"a": [text]}


def test_choices_are_what_was_not_taken_back(small: Game) -> None:
    state, recorder = started(small)
    say(state, recorder, "leave")
    recorder.undo(1)
    assert recorder.record.choices() == []
    assert isinstance(recorder.record.items[0], Choice)
