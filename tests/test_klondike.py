"""Klondike against a checker that knows the game from its rules alone: same moves, same layout, no card lost.

The checker is plain Python: cards are a suit and a number, moves are the words a player types. It is given the
order of the pack, deals and follows by itself; at every position the options and all piles are compared.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache
from itertools import permutations

import pytest
from harbourmaster.interpreter.game import Game, State, load_game
from harbourmaster.interpreter.native import NativeUnavailable
from harbourmaster.interpreter.perft import perft
from harbourmaster.interpreter.simulate import Plan, simulate

SUITS = ("clubs", "diamonds", "hearts", "spades")
RANKS = "A23456789TJQK"
PACK = [(suit, rank) for suit in SUITS for rank in range(1, 14)]
"""Cards in the order of the rules' table: (suit, rank from 1)."""
RED = ("diamonds", "hearts")
MOST_MOVES = 1000

Card = tuple[str, int]


class Checker:
    """A game of Klondike."""

    def __init__(self, pack: list[Card], *, turned: int = 1, redeals: int = MOST_MOVES) -> None:
        """Deals `pack`, whose last card is its top: row by row, the first card of each row face up."""
        self.turned, self.redeals = turned, redeals
        self.take_back = self.parts = True
        self.stock = list(pack)
        self.waste: list[Card] = []
        self.down: list[list[Card]] = [[] for _ in range(7)]
        self.up: list[list[Card]] = [[] for _ in range(7)]
        self.home = dict.fromkeys(SUITS, 0)
        for row in range(7):
            self.up[row].append(self.stock.pop())
            for column in range(row + 1, 7):
                self.down[column].append(self.stock.pop())
        self.played_from_waste = False
        self.moves = 0
        self.over = False

    def fits(self, card: Card, column: int) -> bool:
        """Tests if a card may be laid on a column."""
        if not self.up[column]:
            return card[1] == 13
        suit, rank = self.up[column][-1]
        return card[1] == rank - 1 and (card[0] in RED) != (suit in RED)

    def run(self, a: int, b: int) -> int:
        """Counts the cards that would go from column to column; 0 when none may."""
        for start, card in enumerate(self.up[a]):
            if self.fits(card, b):
                return len(self.up[a]) - start
            if not self.parts:
                break
        return 0

    def options(self) -> list[str]:
        """Lists the moves that are offered."""
        found = [f"{a + 1} home" for a in range(7) if self.up[a] and self.goes_home(self.up[a][-1])]
        if self.waste:
            found += ["waste home"] * self.goes_home(self.waste[-1])
            found += [f"waste to {b + 1}" for b in range(7) if self.fits(self.waste[-1], b)]
        found += [f"{a + 1} to {b + 1}" for a, b in permutations(range(7), 2) if self.run(a, b)]
        if self.take_back:
            for suit, rank in self.home.items():
                found += [f"{suit} back to {b + 1}" for b in range(7) if rank and self.fits((suit, rank), b)]
        again = bool(self.waste) and self.redeals > 0
        if self.stock:
            found.append("turn")
        elif again:
            found.append("redeal")
        if not self.stock and not (again and self.played_from_waste):
            found.append("give up")
        return found

    def goes_home(self, card: Card) -> bool:
        """Tests if a card is the next of its foundation."""
        return self.home[card[0]] == card[1] - 1

    def move(self, words: str) -> None:
        """Makes a move."""
        first, last = words.split()[0], words.split()[-1]
        if words == "give up":
            self.over = True
            return
        if words == "turn":
            for _ in range(min(self.turned, len(self.stock))):
                self.waste.append(self.stock.pop())
        elif words == "redeal":
            self.stock, self.waste = self.waste[::-1], []
            self.redeals -= 1
            self.played_from_waste = False
        else:
            cards = self.lift(first, last)
            if last == "home":
                assert len(cards) == 1
                self.home[cards[0][0]] += 1
            else:
                self.up[int(last) - 1] += cards
        self.moves += 1
        if sum(self.home.values()) == 52 or self.moves == MOST_MOVES:
            self.over = True

    def lift(self, first: str, last: str) -> list[Card]:
        """Takes the cards that are moved from where they lie."""
        if first == "waste":
            self.played_from_waste = True
            return [self.waste.pop()]
        if first in SUITS:
            self.home[first] -= 1
            return [(first, self.home[first] + 1)]
        column = int(first) - 1
        count = 1 if last == "home" else self.run(column, int(last) - 1)
        self.up[column], cards = self.up[column][:-count], self.up[column][-count:]
        if not self.up[column] and self.down[column]:
            self.up[column].append(self.down[column].pop())
        return cards

    def follow(self, words: str) -> None:
        """Makes a move, and those after it that are the only ones."""
        self.move(words)
        self.settle()

    def settle(self) -> None:
        """Makes the moves that are the only ones: nobody is asked."""
        while not self.over and len(options := self.options()) == 1:
            self.move(options[0])

    def clone(self) -> Checker:
        """Copies the game."""
        copy = object.__new__(Checker)
        copy.__dict__.update(self.__dict__)
        copy.stock, copy.waste, copy.home = self.stock[:], self.waste[:], dict(self.home)
        copy.down, copy.up = [pile[:] for pile in self.down], [pile[:] for pile in self.up]
        return copy

    def layout(self) -> list[list[Card]]:
        """Gets all piles, bottom first."""
        homes = [[(suit, rank + 1) for rank in range(count)] for suit, count in self.home.items()]
        return [self.stock, self.waste, *self.down, *self.up, *homes]


# ------------------------------------------------------------------------------------------------- our game


def klondike(settings: str = "") -> Game:
    """Loads the game."""
    return load_game(f"klondike{settings}")


def pile(state: State, name: str, *indices: int) -> list[Card]:
    """Reads a pile."""
    first = state.game.slot_of(name, *indices)
    return [PACK[c] for c in state.position[first + 1 : first + 1 + state.position[first]]]


def layout(state: State) -> list[list[Card]]:
    """Reads all piles."""
    columns = range(1, 8)
    return [
        pile(state, "stock"),
        pile(state, "waste"),
        *(pile(state, "face_down", k) for k in columns),
        *(pile(state, "face_up", k) for k in columns),
        *(pile(state, "foundation", s) for s in range(4)),
    ]


def scripted(pack: list[Card]) -> Mapping[str, list[list[int]]]:
    """Makes the script of chance with which the shuffle makes `pack`, whose last card is its top."""
    cards = PACK[:]
    places = [0] * 52
    for top in range(51, 0, -1):
        other = cards.index(pack[top])
        places[top] = other
        cards[top], cards[other] = cards[other], cards[top]
    assert cards == pack
    return {"stock": [places]}


def shuffled(seed: int) -> list[Card]:
    """Shuffles a pack."""
    pack = PACK[:]
    random.Random(seed).shuffle(pack)
    return pack


SETTINGS: dict[str, dict[str, int]] = {
    "": {},
    "+draw-three": {"turned": 3},
    "+vegas": {"redeals": 0},
    "+vegas+draw-three": {"redeals": 2, "turned": 3},
    "+redeals=one": {"redeals": 1},
    "+redeals=three": {"redeals": 3},
    "+back-from-foundation=no": {"take_back": 0},
    "+runs=whole": {"parts": 0},
    "+back-from-foundation=no+redeals=one+runs=whole": {"redeals": 1, "take_back": 0, "parts": 0},
}


def start(game: Game, settings: str, pack: list[Card]) -> tuple[State, Checker]:
    """Deals a pack in both games."""
    options = SETTINGS[settings]
    checker = Checker(pack, turned=options.get("turned", 1), redeals=options.get("redeals", MOST_MOVES))
    checker.take_back, checker.parts = bool(options.get("take_back", 1)), bool(options.get("parts", 1))
    checker.settle()
    return game.new_initial_state(scripts=scripted(pack)), checker


@cache
def words_of(game: Game, action: int) -> str:
    """Gets the words of an action."""
    return game.new_initial_state(0).describe(action, 0)


def random_choice(numbers: random.Random, options: list[str]) -> str:
    """Picks any move."""
    return numbers.choice(options)


def greedy_choice(numbers: random.Random, options: list[str]) -> str:
    """Picks a move of the first kind there is: home, from the waste, and so on; now and then any."""
    if numbers.random() < 0.05:
        return numbers.choice(options)
    for kind in ("home", "waste to", " to ", "turn", "redeal"):
        found = [o for o in options if kind in o and "back" not in o]
        if found and (kind != " to " or numbers.random() < 0.5):
            return numbers.choice(found)
    return numbers.choice(options)


def play(game: Game, settings: str, seed: int, limit: int = MOST_MOVES) -> Checker:
    """Plays a deal in step for at most `limit` choices."""
    state, checker = start(game, settings, shuffled(seed))
    numbers = random.Random(seed)
    choose = greedy_choice if seed % 2 else random_choice
    for _ in range(limit):
        cards = layout(state)
        assert cards == checker.layout(), (seed, checker.moves)
        assert sorted(card for cards_of_one in cards for card in cards_of_one) == PACK
        assert state.get("moves_made") == checker.moves
        assert state.is_terminal() == checker.over
        if checker.over:
            break
        actions = {words_of(game, a): a for a in state.legal_actions()}
        assert sorted(actions) == sorted(checker.options()), (seed, checker.moves)
        words = choose(numbers, sorted(actions))
        state.apply_action(actions[words])
        checker.follow(words)
    assert not state.broken_invariants()
    return checker


# -------------------------------------------------------------------------------------------------- in step


@pytest.mark.parametrize("settings", SETTINGS)
def test_in_step(settings: str) -> None:
    game = klondike(settings)
    for seed in range(6):
        play(game, settings, seed, 120)


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS)
def test_many_deals_in_step(settings: str) -> None:
    game = klondike(settings)
    for seed in range(100, 200):
        play(game, settings, seed)


def test_shuffled_deals_use_the_whole_pack() -> None:
    game = klondike()
    tops = set()
    for seed in range(40):
        cards = layout(game.new_initial_state(seed))
        stock, waste = cards.pop(0), cards.pop(0)  # cards are turned at once where nothing else can be done
        assert len(stock) + len(waste) == 24
        assert [len(pile) for pile in cards] == [*range(7), *[1] * 7, 0, 0, 0, 0]
        cards += [stock, waste]
        assert sorted(card for pile in cards for card in pile) == PACK
        tops.add(stock[-1])
    assert len(tops) > 20


# ------------------------------------------------------------------------------------- deals known by heart


def easy_pack() -> list[Card]:
    """Gets a pack in order of rank, aces on top."""
    return [(suit, rank) for rank in range(13, 0, -1) for suit in SUITS]


COUNTS = {
    ("", "easy"): (3, 9, 29, 99, 360, 1403),
    ("", 2): (4, 16, 66, 284, 1282),
    ("+draw-three", 2): (4, 16, 67, 297, 1389),
    ("+runs=whole", 2): (4, 16, 66, 284, 1275),
}
"""Sequences of one choice, two choices and so on, from a deal."""


def count(checker: Checker, depth: int) -> int:
    """Counts the sequences of choices."""
    if checker.over or depth == 0:
        return int(depth == 0)
    options = checker.options()
    if depth == 1:
        return len(options)
    total = 0
    for words in options:
        after = checker.clone()
        after.follow(words)
        total += count(after, depth - 1)
    return total


@pytest.mark.parametrize(("settings", "deal"), COUNTS)
def test_counts(settings: str, deal: int | str) -> None:
    pack = easy_pack() if isinstance(deal, str) else shuffled(deal)
    state, checker = start(klondike(settings), settings, pack)
    for depth, wanted in enumerate(COUNTS[settings, deal], 1):
        assert count(checker, depth) == wanted
        assert perft(state, depth) == wanted


def words(state: State) -> list[str]:
    """Lists the options."""
    return [state.action_to_string(a) for a in state.legal_actions()]


def make(state: State, *moves: str) -> None:
    """Makes moves."""
    for move in moves:
        state.apply_action(state.parse_action(move))


def test_a_win() -> None:
    seed = 111
    state, checker = start(klondike(), "", shuffled(seed))
    numbers = random.Random(seed)
    while not checker.over:
        move = greedy_choice(numbers, sorted(checker.options()))
        checker.follow(move)
        make(state, move)
    assert state.is_terminal()
    assert state.returns() == [52.0]
    assert state.winners() == [0]
    assert state.measures()["won"] == 1


def test_giving_up() -> None:
    game = klondike()
    state, _ = start(game, "", shuffled(3))
    assert "give up" not in words(state)
    make(state, "give up")  # not offered yet, but allowed
    assert state.is_terminal()
    assert state.measures()["won"] == 0
    for settings, redeal in (("", True), ("+vegas", False)):
        state, _ = start(klondike(settings), settings, shuffled(3))
        while "turn" in words(state):
            make(state, "turn")
        assert "give up" in words(state)
        assert ("redeal" in words(state)) == redeal


def test_draw_three() -> None:
    settings = "+draw-three"
    state, _ = start(klondike(settings), settings, shuffled(2))
    stock = layout(state)[0]
    make(state, "turn")
    assert layout(state)[1] == stock[:-4:-1]  # the first card turned lies lowest
    make(state, *["turn"] * 7)
    assert layout(state)[1] == stock[::-1]
    make(state, "redeal")
    assert layout(state)[0] == stock


def test_vegas_scoring() -> None:
    for settings in ("+vegas", "+vegas+draw-three"):
        state, _ = start(klondike(settings), settings, easy_pack())
        while (options := words(state)) and (home := [o for o in options if o.endswith("home")]):
            make(state, home[0])
        made = sum(len(pile) for pile in layout(state)[-4:])
        assert made > 0
        assert state.scores() == [5 * made - 52]


def test_why_not() -> None:
    state, checker = start(klondike("+back-from-foundation=no"), "+back-from-foundation=no", easy_pack())
    told = {
        "1 to 1": "that is the same column",
        "redeal": "there are 24 cards left in the stock",
        "waste home": "there is no card in the waste",
        "clubs back to 1": "what lies on a foundation stays there",
        "7 home": "does not go onto its foundation yet",
    }
    for move, reason in told.items():
        (action,) = state.game.words().read(move)
        refusal = state.why_not(action)
        assert refusal is not None
        assert reason in refusal.reason
    assert sorted(checker.options()) == sorted(words(state))


# -------------------------------------------------------------------------------------------------- secrets


def test_nobody_sees_cards_that_lie_face_down() -> None:
    state, _ = start(klondike(), "", shuffled(5))
    numbers = random.Random(5)
    for _ in range(40):
        other = state.clone()
        piles = [state.game.slot_of("stock"), *(state.game.slot_of("face_down", n) for n in range(1, 8))]
        slots = [pile + 1 + k for pile in piles for k in range(state.position[pile])]
        hidden = [state.position[slot] for slot in slots]
        numbers.shuffle(hidden)
        for slot, card in zip(slots, hidden, strict=True):
            other.position[slot] = card
        assert other.observation_string(0) == state.observation_string(0)
        assert other.legal_actions() == state.legal_actions()
        assert [other.explain(a).meaning for a in other.legal_actions()] == [
            state.explain(a).meaning for a in state.legal_actions()
        ]
        state.apply_action(numbers.choice(state.legal_actions()))
        if state.is_terminal():
            break


# ------------------------------------------------------------------------------------------------ languages


def test_every_name_and_sentence_has_a_label() -> None:
    game = klondike("+vegas")
    for language in ("zh-Hans", "zh-Hant"):
        assert game.labels(language).missing(game.program) == []
    enums = [game.checked().enums[name] for name in ("suit", "rank", "card", "colour")]
    for language in ("en", "zh-Hans", "zh-Hant"):
        names = game.labels(language).names
        assert all(f"{enum.name}.{entry}" in names for enum in enums for entry in enum.entries)


def test_backends_play_the_same() -> None:
    plan = {"name": "klondike+draw-three", "players": 1, "games": 40, "seed": 3, "check": False}
    try:
        native = simulate(Plan(**plan, backend="c"))  # type: ignore[arg-type]
    except NativeUnavailable:
        pytest.skip("no C compiler")
    assert native.totals == simulate(Plan(**plan, backend="python")).totals  # type: ignore[arg-type]
