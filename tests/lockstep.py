"""Plays the rules of Manila and the hand-written referee in step: the same hands, the same dice, the same choices.

`Pair` holds one game of each. At every stop it compares who decides, the words of all options and what lies on the
table; a difference is an `AssertionError` that tells the story so far. Where two words differ, ours are mapped here:

- an open decision: ours names the player beside the action, the referee writes `seat 2: bid 7`;
- `nobody acts` is an option without a player in ours, `silence` in both;
- a share that was bought lies open in ours, as all have seen it; the referee counts it as hidden. So the sums alone
  are compared;
- sealed bids: ours lets every seat choose at any time, the referee asks clockwise from the opener. The pair follows
  the referee, and others' standing offers stay out while a bid is being sealed.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache
from typing import Any

from harbourmaster.interpreter.chance import Streams
from harbourmaster.interpreter.game import ANYONE, Game, State, encode, load_game

from .referee import OPEN, Referee
from .referee.board import LETTERS, WARES

Options = dict[str, int]

NOBODY = -1
RARE = (
    "start 0 ",
    "pirate boat",
    "small pilot",
    "large pilot",
    "insurance",
    "board ",
    "evict ",
    " forward ",
    " back ",
)
"""Words of choices that lead to where readings differ."""


@cache
def _named(game: Game) -> dict[int, str]:
    """Gets the words of actions met so far; those of Manila depend on nothing but the action."""
    return {}


@cache
def _dice(game: Game) -> int:
    """Gets the number of the stream of the dice."""
    return game.program.streams.index("die_shows")


def words_of(state: State, actions: list[int]) -> Options:
    """Gets the words of actions in the referee's manner, each with its action."""
    n = state.game.program.actions
    named = _named(state.game)
    open_to_all = state.current_player() == ANYONE
    found: Options = {}
    for action in actions:
        plain = action % n
        words = named.get(plain)
        if words is None:
            words = named[plain] = state.describe(plain, 0)
        if (action >= n or open_to_all) and state.actor(action) >= 0:
            words = f"seat {state.actor(action) + 1}: {words}"
        found[words] = action
    return found


def manila(
    players: int,
    readings: Mapping[str, str] | None = None,
    variants: tuple[str, ...] = (),
    offers: bool = True,
) -> Game:
    """Loads Manila."""
    return load_game(
        "manila", players=players, readings=dict(readings or {}), variants=variants, offers=offers
    )


def _rolls(seed: int) -> list[list[int]]:
    """Makes rolls of which some are slow and some come to rest on or near the last space, row by row."""
    rng = random.Random(seed)
    faces = rng.choices([(1, 1, 2), (4, 5), (1, 2, 3, 4, 5, 6)], [1, 3, 3], k=150)
    return [[rng.choice(of_voyage) for _ in range(3)] for of_voyage in faces for _ in range(3)]


class Reader:
    """Reads positions of one game in the referee's terms."""

    def __init__(self, game: Game) -> None:
        players, slot = range(game.num_players()), game.slot_of
        wares = range(len(WARES))
        self.players = players
        self.cash = [slot("cash", p) for p in players]
        self.accomplices = [slot("accomplices", p) for p in players]
        self.supply = [slot("supply", w) for w in wares]
        self.step = [slot("step", w) for w in wares]
        self.hand = [[slot("hand", p, w) for w in wares] for p in players]
        self.shown = [[slot("shown", p, w) for w in wares] for p in players]
        self.pledged = [[slot("pledged", p, w) for w in wares] for p in players]
        self.space = [slot("space", w) for w in wares]
        self.lies = [slot("lies", w) for w in wares]
        self.in_harbour = [slot("in_harbour", h) for h in range(3)]
        self.in_yard = [slot("in_yard", s) for s in range(3)]
        self.at_harbour = [slot("at_harbour", h) for h in range(3)]
        self.at_shipyard = [slot("at_shipyard", s) for s in range(3)]
        _, low, berths = game.program.variables["aboard"].dims[1]
        self.aboard = [[slot("aboard", w, b) for b in range(low, low + berths)] for w in wares]
        self.crew = slot("crew")
        self.piloting = [slot("piloting", k) for k in range(2)]
        self.insurer = slot("insurer")

    def shares(self, s: list[int]) -> list[Any]:
        """Gets money, shares and prices."""
        return [
            [s[i] for i in self.cash],
            [[s[h] + s[f] for h, f in zip(self.hand[p], self.shown[p], strict=True)] for p in self.players],
            [[s[i] for i in self.pledged[p]] for p in self.players],
            [s[i] for i in self.supply],
            [s[i] for i in self.step],
        ]

    def punts(self, s: list[int]) -> dict[str, int | str]:
        """Gets where each loaded punt is, as the referee's `punts` does."""
        places: dict[str, int | str] = {}
        for w, ware in enumerate(WARES):
            match s[self.lies[w]]:
                case 1:
                    places[ware] = s[self.space[w]]
                case 2:
                    places[ware] = f"harbour {LETTERS[[s[i] for i in self.in_harbour].index(w)]}"
                case 3:
                    places[ware] = f"shipyard {LETTERS[[s[i] for i in self.in_yard].index(w)]}"
        return places

    def occupied(self, s: list[int]) -> dict[str, int]:
        """Gets who stands where, as the referee's `occupied` does."""
        everything = {
            f"{ware} berth {b + 1}": s[i]
            for ware, row in zip(WARES, self.aboard, strict=True)
            for b, i in enumerate(row)
        }
        for i, letter in enumerate(LETTERS):
            everything[f"harbour {letter}"] = s[self.at_harbour[i]]
            everything[f"shipyard {letter}"] = s[self.at_shipyard[i]]
        for k in range(s[self.crew]):
            everything[f"pirate boat {k + 1}"] = s[self.crew + 1 + k]
        everything["small pilot"], everything["large pilot"] = (s[i] for i in self.piloting)
        everything["insurance"] = s[self.insurer]
        return {space: man for space, man in everything.items() if man >= 0}


@cache
def _reader(game: Game) -> Reader:
    return Reader(game)


class Pair:
    """One game of ours and the referee's, at the same point."""

    def __init__(
        self,
        game: Game,
        seed: int,
        readings: Mapping[str, str] | None = None,
        variants: tuple[str, ...] = (),
    ) -> None:
        """Deals both. `readings` and `variants` are the referee's: `game` must have been loaded with the same."""
        self.game = game
        scripts = {"die_shows": _rolls(seed)} if seed % 3 == 0 else {}
        self.state = game.new_initial_state(seed, scripts=scripts)
        self.story: list[str] = []
        self.rng = random.Random(seed)
        self.tame = seed % 2 == 1
        """Whether bids stay low, so that players keep money and shares."""
        self.eager = seed % 4 > 1
        """Whether choices that lead to where readings differ are made more often."""
        self.shy = seed % 7 == 3
        """Whether most auctions go without a bid."""
        self.name = f"{game.canonical}, {game.num_players()} players, offers {game.offers}, seed {seed}"
        self.reader = _reader(game)
        streams = Streams(seed, game.program.streams, scripts)
        number, rolls = _dice(game), 3
        hands = [
            [ware for ware, slot in zip(WARES, row, strict=True) for _ in range(self.state.position[slot])]
            for row in self.reader.hand
        ]

        def dice(voyage: int, roll: int, die: int) -> int:
            return streams.outcome(number, (voyage - 1) * rolls + roll - 1, die - 1, 1, 6)

        self.referee = Referee(
            game.num_players(), hands, dice, dict(readings or {}), variants, game.offers, seed
        )

    # Comparing

    def check(self, what: str, ours: object, referee: object) -> None:
        """Refuses a difference."""
        if ours == referee:
            return
        story = "\n  ".join(self.story[-25:])
        raise AssertionError(
            f"{what} differs in {self.name} after {len(self.story)} choices\n  ours:    {ours}\n"
            f"  referee: {referee}\n  {story}"
        )

    def options(self) -> Options:
        """Gets our options in words, compared with the referee's."""
        state, referee = self.state, self.referee
        decision = state.decision
        assert decision is not None
        theirs = referee.options()
        if decision.mode == "each":
            actions = state.legal_actions(referee.who())
            theirs = [o for o in theirs if not o.startswith("seat ")]
        else:
            actions = state.legal_actions()
        ours = words_of(state, actions)
        self.check("how many options have the same words", len(actions), len(ours))
        if ours.keys() != set(theirs):
            self.check("the options", sorted(ours.keys() - set(theirs)), sorted(set(theirs) - ours.keys()))
        return ours

    def compare(self) -> Options:
        """Compares the two positions and gets the options."""
        state, referee, s = self.state, self.referee, self.state.position
        self.check("whether it is over", state.is_terminal(), referee.over())
        if referee.over():
            self.check("money and shares", self.reader.shares(s), _shares(referee))
            self.check("the fortunes", state.scores(), referee.fortunes())
            self.check("the winners", state.winners(), referee.winners())
            self.check("the invariants", state.broken_invariants(), [])
            return {}
        who = state.current_player()
        if state.is_simultaneous_node():
            self.check("who may choose", referee.who() in state.players_to_act(), True)
        else:
            self.check(
                "who decides",
                NOBODY if who == ANYONE else who,
                OPEN if referee.who() == OPEN else referee.who(),
            )
        options = self.options()
        self.check("money and shares", self.reader.shares(s), _shares(referee))
        self.check("the accomplices left", [s[i] for i in self.reader.accomplices], referee.accomplices)
        self.check("who stands where", self.reader.occupied(s), referee.occupied())
        if referee.lanes and referee.at and referee.task[0] != "arrive":
            self.check("where the punts are", self.reader.punts(s), referee.punts())
        if self.rng.random() < 0.02:
            self.check("the invariants", state.broken_invariants(), [])
        return options

    # Playing

    def choose(self, options: Options) -> str:
        """Picks one of the options."""
        words = sorted(options)
        if self.shy and self.rng.random() < 0.8:
            words = [w for w in words if w in ("pass", "silence")] or words
        if self.eager and self.rng.random() < 0.6:
            words = [w for w in words if any(rare in w for rare in RARE)] or words
        choice = self.rng.choice(words)
        if self.tame and "bid" in choice and self.rng.random() < 0.9:
            low = sorted((int(w.rsplit(" ", 1)[1]), w) for w in words if "bid " in w)[:4]
            others = [w for w in words if "bid " not in w]
            choice = self.rng.choice([*(w for _, w in low), *others])
        return choice

    def apply(self, words: str, action: int) -> None:
        """Makes one choice on both sides."""
        seat = self.referee.who()
        self.story.append(words if words.startswith("seat") or seat < 0 else f"seat {seat + 1}: {words}")
        if self.state.is_simultaneous_node():
            self.state.apply_action(action, seat)
        else:
            self.state.apply_action(action)
        self.referee.apply(words)

    def step(self, options: Options) -> None:
        """Makes one random choice; a load may name its wares in any order."""
        words = self.choose(options)
        action = options[words]
        if words.startswith("load ") and self.rng.random() < 0.6:
            wares = words.split()[1:]
            self.rng.shuffle(wares)
            words = " ".join(["load", *wares])
            move = next(m for m in self.game.program.moves if m.name == "load")
            action = encode(move, [WARES.index(w) for w in wares])
        self.apply(words, action)

    def play(self, limit: int = 20000) -> int:
        """Plays to the end; gets the number of choices."""
        for choices in range(limit):
            options = self.compare()
            if self.referee.over():
                return choices
            self.step(options)
        raise AssertionError(f"no end within {limit} choices in {self.name}")


def _shares(referee: Referee) -> list[Any]:
    """Gets the referee's money, shares and prices as `Reader.shares` gives ours."""
    return [
        referee.cash,
        [list(held.values()) for held in referee.free],
        [list(held.values()) for held in referee.pledged],
        list(referee.supply.values()),
        [referee.track.index(price) + 1 for price in referee.prices.values()],
    ]


def lockstep(
    readings: Mapping[str, str],
    variants: tuple[str, ...],
    seeds: range,
    *,
    players: int,
    offers: bool,
    extra: tuple[str, ...] = (),
) -> int:
    """Plays games of every seed to the end; gets the choices made. `extra` are variants that only ours knows."""
    game = manila(players, readings, (*variants, *extra), offers)
    return sum(Pair(game, seed, readings, variants).play() for seed in seeds)
