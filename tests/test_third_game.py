"""Draughts on a small board against a checker written from the rules: same moves, same pieces, same end."""

from __future__ import annotations

import itertools
import random
from functools import cache

import pytest
from harbourmaster.interpreter.game import Game, State, load_game
from harbourmaster.interpreter.native import NativeUnavailable
from harbourmaster.interpreter.perft import perft
from harbourmaster.interpreter.simulate import Plan, simulate

SIZE = 6
COLUMNS = "abcdef"
MOST_QUIET = 30
DIAGONALS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
FORWARD = (1, -1)
LAST = (SIZE, 1)

Square = tuple[int, int]
"""Row and column, from 1."""

READINGS: dict[str, dict[str, str]] = {
    "": {},
    "+russian": {"back": "yes", "kings": "flying", "crowned": "as-king"},
    "+capturing=free": {"capturing": "free"},
    "+men-capture=backwards-too": {"back": "yes"},
    "+kings=flying": {"kings": "flying"},
    "+men-capture=backwards-too+crowned-in-passing=as-man": {"back": "yes", "crowned": "as-man"},
    "+capturing=free+kings=flying+crowned-in-passing=as-king": {
        "capturing": "free",
        "kings": "flying",
        "crowned": "as-king",
    },
    "+losing": {"losing": "yes"},
}


def name(square: Square) -> str:
    """Names a square."""
    return f"{COLUMNS[square[1] - 1]}{square[0]}"


def inside(square: Square) -> bool:
    """Tests if a square is on the board."""
    return 1 <= square[0] <= SIZE and 1 <= square[1] <= SIZE


class Checker:
    """A game of draughts."""

    def __init__(self, readings: dict[str, str]) -> None:
        self.readings = readings
        self.men: dict[Square, int] = {}
        self.kings: set[Square] = set()
        for row, column in itertools.product(range(1, SIZE + 1), repeat=2):
            if (row + column) % 2 == 0 and row not in (3, 4):
                self.men[row, column] = 0 if row < 3 else 1
        self.player = 0
        self.chain: Square | None = None
        self.quiet = 0
        self.winner: int | None = None
        self.over = False
        self.settle()

    def steps(self, square: Square) -> dict[str, Square]:
        """Finds where a piece may step."""
        found = {}
        for up, right in DIAGONALS:
            if square not in self.kings and up != FORWARD[self.player]:
                continue
            to = (square[0] + up, square[1] + right)
            while inside(to) and to not in self.men:
                found[f"{name(square)} to {name(to)}"] = to
                if not self.flies(square):
                    break
                to = (to[0] + up, to[1] + right)
        return found

    def jumps(self, square: Square) -> dict[str, tuple[Square, Square]]:
        """Finds what a piece may capture: where it lands, and whom it takes."""
        found = {}
        for up, right in DIAGONALS:
            if square not in self.kings and up != FORWARD[self.player] and "back" not in self.readings:
                continue
            over = (square[0] + up, square[1] + right)
            while self.flies(square) and inside(over) and over not in self.men:
                over = (over[0] + up, over[1] + right)
            if self.men.get(over) != 1 - self.player:
                continue
            to = (over[0] + up, over[1] + right)
            while inside(to) and to not in self.men:
                found[f"{name(square)} takes to {name(to)}"] = (to, over)
                if not self.flies(square):
                    break
                to = (to[0] + up, to[1] + right)
        return found

    def flies(self, square: Square) -> bool:
        """Tests if a piece is a king that goes far."""
        return square in self.kings and self.readings.get("kings") == "flying"

    def own(self) -> list[Square]:
        """Lists the pieces of the player to move."""
        return [square for square, player in self.men.items() if player == self.player]

    def options(self) -> list[str]:
        """Lists the moves that may be made."""
        free = self.readings.get("capturing") == "free"
        if self.chain is not None:
            return [*self.jumps(self.chain), *["rest"] * free]
        jumps = [move for square in self.own() for move in self.jumps(square)]
        if jumps and not free:
            return jumps
        return jumps + [move for square in self.own() for move in self.steps(square)]

    def move(self, words: str) -> None:
        """Makes a move."""
        if words == "rest":
            assert self.chain is not None
            self.finish(self.chain)
            return
        square = (int(words[1]), COLUMNS.index(words[0]) + 1)
        was_king = square in self.kings
        if "takes" in words:
            to, over = self.jumps(square)[words]
            del self.men[over]
            self.kings.discard(over)
            self.quiet = 0
        else:
            to = self.steps(square)[words]
            self.quiet = self.quiet + 1 if was_king else 0
        self.men[to] = self.men.pop(square)
        if was_king:
            self.kings.remove(square)
            self.kings.add(to)
        if "takes" not in words:
            self.finish(to)
            return
        crowned = to[0] == LAST[self.player] and not was_king
        rule = self.readings.get("crowned", "stops")
        if crowned and rule == "as-king":
            self.kings.add(to)
        if self.jumps(to) and not (crowned and rule == "stops"):
            self.chain = to
        else:
            self.finish(to)

    def finish(self, square: Square) -> None:
        """Ends a turn in which the piece now on `square` was moved."""
        if square[0] == LAST[self.player]:
            self.kings.add(square)
        self.chain = None
        self.player = 1 - self.player
        if not self.options():
            self.winner = 1 - self.player
            self.over = True

    def settle(self) -> None:
        """Makes the moves that are the only ones; a draw comes when the next choice would."""
        while not self.over:
            if self.quiet == MOST_QUIET:
                self.over = True
            elif len(options := self.options()) == 1:
                self.move(options[0])
            else:
                return

    def follow(self, words: str) -> None:
        """Makes a move, and those after it that are the only ones."""
        self.move(words)
        self.settle()

    def scores(self) -> list[int]:
        """Counts the result."""
        if self.winner is None:
            return [0, 0]
        sign = -1 if "losing" in self.readings else 1
        return [sign if p == self.winner else -sign for p in (0, 1)]

    def clone(self) -> Checker:
        """Copies the game."""
        copy = object.__new__(Checker)
        copy.__dict__.update(self.__dict__)
        copy.men, copy.kings = dict(self.men), set(self.kings)
        return copy


def draughts(settings: str = "") -> Game:
    """Loads the game."""
    return load_game(f"draughts{settings}")


@cache
def words_of(game: Game, action: int) -> str:
    """Gets the words of an action."""
    return game.new_initial_state(0).describe(action, 0)


def pieces(state: State) -> tuple[dict[Square, int], set[Square]]:
    """Reads the board."""
    squares = [(row, column) for row in range(1, SIZE + 1) for column in range(1, SIZE + 1)]
    men = {square: state.get("on", *square) for square in squares if state.get("on", *square) >= 0}
    return men, {square for square in squares if state.get("king", *square)}


def play(settings: str, seed: int) -> Checker:
    """Plays a game in step."""
    game = draughts(settings)
    checker = Checker(READINGS[settings])
    state = game.new_initial_state(seed)
    numbers = random.Random(seed)
    while True:
        assert pieces(state) == (checker.men, checker.kings)
        assert state.is_terminal() == checker.over
        assert not state.broken_invariants()
        if checker.over:
            break
        assert state.current_player() == checker.player
        assert state.get("quiet") == checker.quiet
        actions = {words_of(game, a): a for a in state.legal_actions()}
        assert sorted(actions) == sorted(checker.options())
        words = numbers.choice(sorted(actions))
        state.apply_action(actions[words])
        checker.follow(words)
    assert state.scores() == checker.scores()
    return checker


@pytest.mark.parametrize("settings", READINGS)
def test_in_step(settings: str) -> None:
    for seed in range(12):
        play(settings, seed)


@pytest.mark.slow
@pytest.mark.parametrize("settings", READINGS)
def test_many_games_in_step(settings: str) -> None:
    ends = {play(settings, seed).winner for seed in range(100, 500)}
    assert ends >= {0, 1}


def count(checker: Checker, depth: int) -> int:
    """Counts the sequences of choices."""
    if checker.over:
        return 0
    options = checker.options()
    if depth == 1:
        return len(options)
    total = 0
    for words in options:
        after = checker.clone()
        after.follow(words)
        total += count(after, depth - 1)
    return total


COUNTS: dict[str, tuple[int, ...]] = {
    "": (5, 25, 117, 568, 2601),
    "+russian": (5, 25, 117, 568, 2565),
    "+capturing=free": (5, 25, 141, 770, 4222),
}
"""Sequences of one choice, two choices and so on, from the start."""


@pytest.mark.parametrize("settings", COUNTS)
def test_counts(settings: str) -> None:
    state = draughts(settings).new_initial_state(0)
    for depth, wanted in enumerate(COUNTS[settings], 1):
        assert count(Checker(READINGS[settings]), depth) == wanted
        assert perft(state, depth) == wanted


@pytest.mark.parametrize(
    ("moves", "refused", "reason"),
    [
        ("", "a1 to b2", "b2 is taken"),
        ("", "b2 to b3", "pieces move along diagonals"),
        ("", "b2 to d4", "d4 is too far"),
        ("", "a5 to b4", "no piece of yours stands on a5"),
        ("", "b2 takes to d4", "cannot capture that way"),
        ("d2 to e3", "c5 to c4", "pieces move along diagonals"),
        ("f2 to e3, c5 to d4", "a5 to b4", "you can capture, so you must"),
    ],
)
def test_why_not(moves: str, refused: str, reason: str) -> None:
    state = draughts().new_initial_state(0)
    for move in filter(None, moves.split(", ")):
        state.apply_action(state.parse_action(move))
    (action,) = state.game.words().read(refused)
    refusal = state.why_not(action)
    assert refusal is not None
    assert reason in refusal.reason


def test_every_name_and_sentence_has_a_label() -> None:
    game = draughts("+losing")
    for language in ("zh-Hans", "zh-Hant"):
        assert game.labels(language).missing(game.program) == []
    for language in ("en", "zh-Hans", "zh-Hant"):
        names = game.labels(language).names
        enums = [game.checked().enums[name] for name in ("column", "direction")]
        assert all(f"{enum.name}.{entry}" in names for enum in enums for entry in enum.entries)


@pytest.mark.parametrize("settings", ["", "+russian"])
def test_backends_play_the_same(settings: str) -> None:
    plan = {"name": f"draughts{settings}", "players": 2, "games": 100, "seed": 3, "check": False}
    try:
        native = simulate(Plan(**plan, backend="c"))  # type: ignore[arg-type]
    except NativeUnavailable:
        pytest.skip("no C compiler")
    assert native.totals == simulate(Plan(**plan, backend="python")).totals  # type: ignore[arg-type]
