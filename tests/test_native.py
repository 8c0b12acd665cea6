"""The C backend beside the Python backend: the same positions, options, chance, errors and sums, to the last bit."""

from __future__ import annotations

import os
import random
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harbourmaster.grammar.diagnostics import Report, RulesError
from harbourmaster.interpreter import cache, native
from harbourmaster.interpreter.c_backend import row_length, write_c
from harbourmaster.interpreter.chance import Streams
from harbourmaster.interpreter.errors import BrokenRule
from harbourmaster.interpreter.game import Game, load_game
from harbourmaster.interpreter.load import load_ruleset
from harbourmaster.interpreter.native import NativeMachine, NativeUnavailable, native_machine
from harbourmaster.interpreter.playout import player_of, policy_start, seed_of_game, stream_keys
from harbourmaster.interpreter.python_backend import Position, PythonMachine
from harbourmaster.interpreter.simulate import Plan, play_part

from tests import test_language
from tests.smallgame import make

pytestmark = pytest.mark.skipif(not native.compilers(), reason="no C compiler here")

RULES = [
    ("manila", 4, True),
    ("manila", 4, False),
    ("manila", 3, True),
    ("manila+enhanced-pirates", 5, True),
    ("manila+open-outcry", 3, True),
    pytest.param("manila+sealed-bids", 4, True, marks=pytest.mark.slow),
    pytest.param("manila+loans=any-time", 3, True, marks=pytest.mark.slow),
    ("dixit", 4, True),
    ("draughts", 2, True),
    ("klondike", 1, True),
    (str(Path(__file__).parent / "bench" / "placement"), 4, True),  # lists kept as bits, loops written out
]


def attempt(call: Any, *arguments: Any) -> tuple[str, Any]:
    """Calls a function; gets what it gave, or the error it raised."""
    try:
        return "gave", call(*arguments)
    except BrokenRule as error:
        return "raised", str(error)


class Pair:
    """A position of each backend, kept in step."""

    def __init__(self, game: Game, c: NativeMachine, seed: int) -> None:
        self.game = game
        self.python = game.machine()
        self.c = c
        self.random = random.Random(seed)
        self.streams = Streams(seed, game.program.streams)
        self.mine, stop = self.python.start()
        self.other, other = c.start()
        self.stop = self.agreed(("gave", stop), ("gave", other))

    def agreed(self, mine: tuple[str, Any], other: tuple[str, Any]) -> Any:
        """Checks that both did the same; gets the stop."""
        assert mine == other
        if mine[0] == "raised":
            return None
        differing = [(i, a, b) for i, (a, b) in enumerate(zip(self.mine, self.other, strict=True)) if a != b]
        assert not differing
        return mine[1]

    def step(self) -> None:
        """Makes a random move, or lets chance decide."""
        if isinstance(self.stop, list):
            assert self.stop
            action = self.random.choice(self.stop)
            if self.random.random() < 0.1:
                assert self.c.stop(self.other[:]) == self.stop
            self.stop = self.agreed(
                attempt(self.python.apply, self.mine, action), attempt(self.c.apply, self.other, action)
            )
            return
        node = self.stop[0]
        stream, row, ordinal, low, count, weigh = self.python.chance_info[node](self.mine)
        told = self.c.chance_info[node](self.other)
        assert told[:5] == (stream, row, ordinal, low, count)
        weights: list[int] | int = count
        if weigh is not None:
            weights = [weigh(self.mine, low + i) for i in range(count)]
            assert weights == [told[5](self.other, low + i) for i in range(count)]
        outcome = self.streams.outcome(stream, row, ordinal, low, weights)
        self.stop = self.agreed(
            attempt(self.python.decide, self.mine, node, outcome),
            attempt(self.c.decide, self.other, node, outcome),
        )

    def functions(self) -> None:
        """Calls every function of the rules that play needs, with random arguments."""
        for name, call in self.c.names.items():
            f = self.game.program.functions[name]
            if name in self.python.names and all(
                low > -999 and high < 99999 for low, high in f.parameter_bounds
            ):
                arguments = [self.random.randint(low, high) for low, high in f.parameter_bounds]
                mine = attempt(self.python.names[name], self.mine, *arguments)
                assert attempt(call, self.other, *arguments) == mine, (name, arguments)


def in_step(game: Game, seeds: range, most: int = 4000) -> int:
    """Plays games in both backends at once; gets how many steps were compared."""
    c, steps = native_machine(game), 0
    for seed in seeds:
        pair = Pair(game, c, seed)
        for _ in range(most):
            if pair.stop is None:
                break
            pair.step()
            steps += 1
        pair.functions()
    return steps


@pytest.mark.parametrize(("name", "players", "offers"), RULES)
def test_in_step(name: str, players: int, offers: bool) -> None:
    assert in_step(load_game(name, players=players, offers=offers), range(6)) > 50


def readings() -> Iterator[tuple[str, str]]:
    """Gets every reading of Manila that is not the base game's."""
    for q in load_ruleset("manila", players=4, report=Report()).questions.values():
        yield from ((q.name, r) for r in q.readings if r != q.base)


@pytest.mark.parametrize(
    ("question", "reading"),
    [
        pytest.param(q, r, marks=[] if i % 24 == 4 else [pytest.mark.slow])
        for i, (q, r) in enumerate(readings())
    ],
)
def test_readings_in_step(question: str, reading: str) -> None:
    try:
        game = load_game("manila", players=4, readings={question: reading})
    except RulesError:
        game = load_game("manila", players=4, variants=["enhanced-pirates"], readings={question: reading})
    assert in_step(game, range(4)) > 50


# ------------------------------------------------------------------------------------------ the language

ARITHMETIC = [
    "a + b - 3 * a",
    "a * b",
    "a / 4 rounded down",
    "a / 4 rounded up",
    "a / max(1, b) rounded down",
    "a / max(1, abs(b)) rounded up",
    "a mod 7",
    "a mod max(2, b)",
    "-a",
    "abs(a - b)",
    "min(a, b, 4)",
    "max(a, -b)",
    "a * a * b * b * 1000",
    "5 if a < b else 6",
    "1 if a < b and (b > 3 or a = b) and not (a = -4) else 0",
    "length of s",
    "number of f in fruit where f in s",
    "sum of f.price for f in fruit where f in s and a > 0",
    "the smallest f.price for f in fruit where f in s otherwise -1",
    "the first n in 2 to 20 where n * n > a otherwise 0",
    "the largest n for n in 2 to 6 where n mod 4 = 0 and n < b otherwise 0",
    "sum of n * a for n in 1 to 30 where n mod 3 = 1",
    "length of p * 100 + (first of p if length of p > 0 else 0)",
    "number of x in p where x = 3",
    "market.prices[1 + abs(a) mod 3]",
    "1 if (some f in fruit has f in s and f.price > b) else 0",
    "1 if (every n in 1 to 12 has n * a < 40) else 0",
    "sum of tricky(n * n mod 50, (n + abs(a)) mod 7) for n in 1 to 30",
    "the largest n for n in 1 to 30 where tricky(n * 7 mod 50, n mod 5) > 100 + a otherwise 0",
    "far",
]

MIXED = """
state:
    a: -30 to 30
    b: -30 to 30
    far: -9999999999 to 9999999999
    narrow: -40 to 90
    turns: 0 to 99
    loops: 0 to 9999
    s: set of fruit
    p: pile of 1 to 9, up to 4
    r[1 to {count}]: -9999999999 to 9999999999
    seen[fruit, player]: 0 to 99

rule play:
    repeat 12 times:
        choose player_of(turns): put_numbers, shuffle_piles, wait
        increase turns by 1
        work_out
        roll a_die
        choose any w in player: claim, or nobody_claims

state:
    die: 1 to 6

define tricky(n: 0 to 99, m: 0 to 99) -> 0 to 999: (n * 2 if m > 3 else n * 3 + 1)

rule work_out:
{lines}
    for k in 1 to 20:
        loops := (loops * 3 + tricky(k * k mod 40, (k + abs(b)) mod 6)) mod 9999
        if loops mod 3 = 1:
            increase narrow by 1
            skip if narrow > 50
            loops := (loops + tricky(max(0, narrow), loops mod 6)) mod 9999
    far := far * 3 mod 9999999977 + a
    narrow := narrow + a

move put_numbers(n: -30 to 30, m: -4 to 4):
    says "put {{n}} {{m}}"
    a := n; b := m

move shuffle_piles(f: fruit):
    says "piles {{f}}"
    needs length of p < 4 else "full"
    if f in s:
        remove f from s
    else:
        add f to s
    put f.price mod 9 + 1 on top of p
    if length of p > 2:
        take item 2 from p
    increase seen[f, actor] by f.price

move wait:
    says "wait"

move claim(k: 1 to 3):
    says "claim {{k}}"
    needs seat(actor) * k < 5 else "too high"
    increase seen[plum, actor] by 1

move nobody_claims:
    says "nobody"

score who: sum of seen[f, who] for f in fruit
measure "a": a
"""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Game:
    """A small game that uses much of the language on values unknown before play."""
    lines = "\n".join(f"    r[{i}] := {text}" for i, text in enumerate(ARITHMETIC, 1))
    rules = MIXED.format(count=len(ARITHMETIC), lines=lines)
    rules = rules.replace("player_of(turns)", "first of player").replace("roll a_die", "roll die")
    return make(tmp_path_factory.mktemp("mixed"), rules, players=3)


def test_the_language_in_step(mixed: Game) -> None:
    """Most games break a rule: `narrow` leaves its range. Both backends say so in the same words."""
    assert in_step(mixed, range(60)) > 300


def test_loops_of_the_language(tmp_path: Path) -> None:
    """What the tests of the language try one by one, all in one game."""
    bodies = list(test_language.LOOPS)
    rules = [
        "state:\n    x: 0 to 9999\n    r[1 to 99]: 0 to 9999\n\nrule play:\n    choose first of player: go, wait"
    ]
    for i in range(len(bodies)):
        rules.append(f"    x := 0; loop{i}\n    r[{i + 1}] := x")
    rules.append("    choose first of player: go, wait\n")
    for i, body in enumerate(bodies):
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        rules.append(f"\nrule loop{i}:\n{lines}")
    game = make(tmp_path, "\n".join(rules) + "\n" + test_language.WAIT)
    c = native_machine(game)
    position, stop = c.start()
    assert isinstance(stop, list)
    c.apply(position, stop[0])
    first = game.slot_of("r", 1)
    assert position[first : first + len(bodies)] == list(test_language.LOOPS.values())


def test_loops_without_end(tmp_path: Path) -> None:
    rules = "state:\n    x: 0 to 9\n\nrule play:\n    choose first of player: go, wait\n    repeat:\n        x := 1\n"
    game = make(tmp_path, rules + test_language.WAIT)
    c = native_machine(game)
    position, stop = c.start()
    assert isinstance(stop, list)
    with pytest.raises(BrokenRule, match="found no end within 500 turns"):
        c.apply(position, stop[0])


# ------------------------------------------------------------------------------------------- whole games


def play_in_python(
    game: Game, seed: int, number: int, position: Position, place: int
) -> tuple[Position, int, int]:
    """Plays one game of a run by the Python loop; gets the last position, decisions and the generator's state."""
    python = game.machine()
    own = seed_of_game(seed, number)
    position = position[:]
    decisions, x = player_of(python)(position, place, stream_keys(python, own), policy_start(own))
    return position, decisions, x


def row_of(game: Game, position: Position, decisions: int) -> list[int]:
    """Works out in Python what a row tells of a game."""
    machine: PythonMachine = game.machine()
    p, seats = game.program, range(game.num_players())
    scores = [machine.call(p.score, position, seat) if p.score else 0 for seat in seats]
    keys = [(s, machine.call(p.tie_break, position, i) if p.tie_break else 0) for i, s in enumerate(scores)]
    winners = sum(1 << seat for seat in seats if keys[seat] == max(keys))
    figures: list[int] = []
    for m in p.measures:
        figures += [
            machine.call(m.function, position, *([seat] if m.per else []))
            for seat in (seats if m.per else [0])
        ]
    return [decisions, winners, *scores, *figures]


@pytest.mark.parametrize(("name", "players", "offers"), RULES)
def test_whole_games(name: str, players: int, offers: bool) -> None:
    game = load_game(name, players=players, offers=offers)
    p, c = game.program, native_machine(game)
    totals, rows = c.play(9, 100, 12, rows=True)
    width = row_length(p)
    expected = []
    for number in range(100, 112):
        last, decisions, x = play_in_python(game, 9, number, p.initial, p.start)
        expected.append(row_of(game, last, decisions))
        own = seed_of_game(9, number)
        position = list(p.initial)
        keys = stream_keys(game.machine(), own)
        assert c.finish(position, p.start, keys, policy_start(own)) == (decisions, x)
        assert position == last
    assert [list(rows[i : i + width]) for i in range(0, len(rows), width)] == expected
    assert totals.games == 12
    assert totals.decisions == sum(row[0] for row in expected)
    assert totals.decisions_squared == sum(row[0] ** 2 for row in expected)
    assert totals.scores == [sum(column) for column in list(zip(*expected, strict=True))[2 : 2 + players]]
    assert totals.figures == [sum(column) for column in list(zip(*expected, strict=True))[2 + players :]]
    for seat in range(players):
        for k in range(players):
            won = [1 for row in expected if row[1] >> seat & 1 and row[1].bit_count() == k + 1]
            assert totals.wins[seat][k] == len(won)
    assert c.play(9, 100, 12, check=True)[0] == totals
    assert c.play(9, 100, 5)[0] + c.play(9, 105, 7)[0] == totals


@pytest.mark.slow
@pytest.mark.parametrize("offers", [True, False])
def test_a_million_decisions(offers: bool) -> None:
    game = load_game("manila", players=4, offers=offers)
    totals = native_machine(game).play(11, 0, 8800)[0]
    assert totals.decisions > 1_000_000
    plan = Plan("manila", 4, 8800, 11, offers=offers, backend="python", check=False)
    assert play_part(plan, game, "python", 0, 8800) == totals


def test_playing_on_from_a_position() -> None:
    """What bots do: from a position in the middle of a game, after each of its options."""
    game = load_game("manila", players=4)
    c, python = native_machine(game), game.machine()
    state = game.new_initial_state(3)
    rng = random.Random(3)
    for _ in range(60):
        state.apply_action(rng.choice(state.legal_actions()))
    assert state.decision is not None
    for action in state.legal_actions()[:6]:
        _, rows = c.play(5, 0, 4, position=state.position, action=action, rows=True)
        width = row_length(game.program)
        for number in range(4):
            position = state.position[:]
            place = python.appliers[position[0]](position, action)
            last, decisions, _ = play_in_python(game, 5, number, position, place)  # type: ignore[arg-type]
            assert list(rows[number * width : (number + 1) * width]) == row_of(game, last, decisions)
    totals, _ = c.play(5, 0, 4, position=state.position)
    assert totals.games == 4


def test_games_without_end(tmp_path: Path) -> None:
    rules = f"rule play:\n    repeat:\n        choose first of player: go, wait\n{test_language.WAIT}"
    totals, rows = native_machine(make(tmp_path, rules)).play(1, 0, 3, rows=True)
    assert (totals.games, totals.unfinished) == (0, 3)
    assert rows[0] < 0


def test_broken_rules_in_whole_games(mixed: Game) -> None:
    c = native_machine(mixed)
    with pytest.raises(BrokenRule) as told:
        c.play(1, 0, 100)
    for number in range(100):
        try:
            play_in_python(mixed, 1, number, mixed.program.initial, mixed.program.start)
        except BrokenRule as error:
            assert str(error) == str(told.value)
            break
    else:
        pytest.fail("Python broke no rule")


def test_broken_invariants(tmp_path: Path) -> None:
    rules = """
state:
    x: 0 to 9

rule play:
    choose first of player: up, wait

move up:
    says "up"
    x := 1

move wait:
    says "wait"

invariant "x stays 0": x = 0
"""
    c = native_machine(make(tmp_path, rules))
    assert c.play(1, 0, 20)[0].games == 20
    with pytest.raises(BrokenRule, match="x stays 0"):
        c.play(1, 0, 20, check=True)


def test_what_is_no_position_is_refused() -> None:
    game = load_game("manila", players=4)
    c = native_machine(game)
    position, _ = c.start()
    with pytest.raises(ValueError, match="cannot hold"):
        c.stop([position[0], *[1 << 40] * (len(position) - 1)])
    with pytest.raises(ValueError, match="cannot stand at"):
        c.stop([9999, *position[1:]])


def test_positions_are_small() -> None:
    assert native_machine(load_game("manila", players=4)).position_bytes < 512


def test_the_text_is_always_the_same() -> None:
    script = (
        "import hashlib; from harbourmaster.interpreter.game import load_game; "
        "from harbourmaster.interpreter.c_backend import write_c; "
        "print(hashlib.sha256(write_c(load_game('manila', players=3).program).encode()).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


# ----------------------------------------------------------------------------------- compiling and keeping


@pytest.fixture
def small(tmp_path: Path) -> Game:
    """A game that compiles quickly."""
    rules = f"state:\n    x: 0 to 9\n\nrule play:\n    choose first of player: go, wait\n{test_language.WAIT}\nscore p: x\n"
    return make(tmp_path / "game", rules)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder of its own."""
    path = tmp_path / "cache"
    path.mkdir()
    monkeypatch.setattr(cache, "folder", lambda: path)
    native.compilers.cache_clear()
    yield path
    native.compilers.cache_clear()


def compiler(path: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets a shell script as the C compiler."""
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CC", str(path))
    native.compilers.cache_clear()


def test_compiled_once(small: Game, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    native_machine(small)
    kept = list(folder.iterdir())
    assert [p.name.endswith(".native.so") for p in kept] == [True]
    monkeypatch.setattr(native, "_compile", None)
    assert native_machine(small).play(1, 0, 5)[0].games == 5


def test_damaged_libraries_are_made_anew(small: Game, folder: Path) -> None:
    native_machine(small)
    (path,) = folder.iterdir()
    path.unlink()  # the library is in use: writing over it would change it under our feet
    path.write_bytes(b"\x7fELF nonsense")
    assert native_machine(small).play(1, 0, 5)[0].games == 5
    assert path.stat().st_size > 1000


def test_several_processes_compile_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    script = (
        "from harbourmaster.interpreter.game import load_game; "
        "from harbourmaster.interpreter.native import native_machine; "
        "print(native_machine(load_game('draughts', players=2)).play(1, 0, 50)[0].numbers)"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            env={**os.environ, "HARBOURMASTER_CACHE": str(folder)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    said = {p.communicate()[0] for p in running}
    assert [p.returncode for p in running] == [0, 0, 0]
    assert len(said) == 1
    assert len(list(folder.glob("*.native.so"))) == 1
    assert not list(folder.glob("compiling-*"))


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("exit 1", "exit 1"),
        ("echo 'rules.c:1: error: out of luck' >&2; exit 3", "out of luck"),
        ('while [ "$1" != -o ]; do shift; done; echo half > "$2"; exit 1', "failed"),
        ('while [ "$1" != -o ]; do shift; done; echo nonsense > "$2"', "cannot be loaded"),
        ("exit 0", "failed"),
        ("kill -9 $$", "failed"),
        ('while [ "$1" != -o ]; do shift; done; echo half > "$2"; kill -9 $$', "failed"),
    ],
)
def test_broken_compilers(
    body: str, says: str, small: Game, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler(tmp_path / "broken-cc", body, monkeypatch)
    with pytest.raises(NativeUnavailable, match=says) as told:
        native_machine(small)
    assert "pip install 'harbourmaster[native]'" in str(told.value)
    assert not list(folder.iterdir())


def test_no_compiler(small: Game, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nowhere/cc")
    native.compilers.cache_clear()
    with pytest.raises(NativeUnavailable, match="CC=/nowhere/cc is not there"):
        native_machine(small)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(native, "find_spec", lambda name: None)
    for nothing in (None, "", "  "):
        monkeypatch.delenv("CC") if nothing is None else monkeypatch.setenv("CC", nothing)
        native.compilers.cache_clear()
        with pytest.raises(NativeUnavailable, match="no C compiler found"):
            native_machine(small)


def test_no_cache(small: Game, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "folder", lambda: None)
    assert native_machine(small).play(1, 0, 5)[0].games == 5
    assert not list(folder.iterdir())


def test_a_cache_that_cannot_be_written(small: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "folder", lambda: Path("/proc/self"))
    assert native_machine(small).play(1, 0, 5)[0].games == 5


def test_a_file_in_place_of_the_cache(small: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write everywhere, so a folder without permission would try nothing."""
    (tmp_path / "file").write_text("mine")
    for name in ("file", "file/deeper"):
        monkeypatch.setenv("HARBOURMASTER_CACHE", str(tmp_path / name))
        cache.folder.cache_clear()
        try:
            assert native_machine(small).play(1, 0, 5)[0].games == 5
        finally:
            cache.folder.cache_clear()
    assert (tmp_path / "file").read_text() == "mine"


def test_interrupted_while_compiling(
    small: Game, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler(tmp_path / "interrupting-cc", f"kill -INT {os.getpid()}; sleep 30", monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        native_machine(small)
    assert not list(folder.iterdir())


def test_a_full_cache(small: Game, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = native.compilers()[0][0]
    body = f'case "$*" in *{folder}*) echo "No space left on device" >&2; exit 1;; esac; exec {real} "$@"'
    compiler(tmp_path / "cc-without-room", body, monkeypatch)
    assert native_machine(small).play(1, 0, 5)[0].games == 5
    assert not list(folder.iterdir())


def test_what_is_too_large_for_c(tmp_path: Path) -> None:
    rules = """
state:
    x: 0 to 99999

rule play:
    choose first of player: big

move big(n: 0 to 99999):
    says "big {n}"
    x := n
"""
    game = make(tmp_path, rules)
    with pytest.raises(NativeUnavailable, match="100,000 options"):
        native_machine(game)
    state = game.new_initial_state(seed=1)
    state.apply_action(12345)
    assert state.get("x") == 12345


def test_no_warnings(tmp_path: Path) -> None:
    """The compiler finds nothing to say about the text but that some of it is not needed."""
    text = tmp_path / "rules.c"
    text.write_text(write_c(load_game("manila", players=4).program))
    gcc = shutil.which("gcc") or native.compilers()[0][0]
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Wno-unused", "-Wno-unused-parameter", "-Wno-sign-compare"]
    done = subprocess.run(
        [gcc, *flags, "-c", "-o", os.devnull, text], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
