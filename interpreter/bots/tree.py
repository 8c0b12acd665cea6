"""A search tree over what one player knows: information-set Monte Carlo tree search with one observer.

Cowling, Powley and Whitehouse (IEEE TCIAIG 2012): every turn deals a position as it may be, and goes down one tree that
all of them share. A node stands for what the thinking player would have seen be chosen on the way there: his own choices,
others' as they would look to him. Chance is not part of it: dice come out anew on every way down. At a node only those
options count that there are in the position dealt. Whoever chooses takes what has been best for himself, so others are
thought to play for themselves, each for his own.

A few hundred ways down are all there is time for, and most nodes have more options than ever get visits. So rollouts are
played by taste (`taste.py`), and what the taste has learnt of an option counts as its first few visits: a way down
begins with what looks good, instead of with everything once.

At the root, where the choice falls, options are halved as in `search.py`: with quick rollouts while there are many, with
ways down the tree once there are few, and then these alone count. The same turn meets the same chance below each option.
"""

from __future__ import annotations

from math import ceil, log, log2, sqrt
from typing import TYPE_CHECKING

from ..errors import BrokenRule
from ..playout import Random, seed_of_game, settle_chance, stream_keys
from ..python_backend import Position, Stop
from .search import best_of, narrow
from .sight import decision_at, owner_of_action
from .thinker import Choice, Thinker
from .trail import look_of

if TYPE_CHECKING:
    from .rollouts import Result

_CURIOSITY = 0.12
"""The weight of what is not well known, for values between 0 and 1."""
_BELIEF = 4
"""How many visits the taste of rollouts counts for."""
_DEEPEST = 12
"""How many choices deep the tree may grow below the root."""
_AT_ONCE, _WAYS = 8, 400
"""Rollouts from each leaf, at most, and how many ways down there should be with fewer."""
_WIDE = 64
"""Of longer lists of options so many are looked at, taken by chance, and those tried before."""
_FEW, _QUICK, _WARM = 4, 0.5, 0.15
"""How many options the tree begins with, the share of the budget that is spent until then, and when there are no more."""

Key = tuple[int, ...]


class _Node:
    """What is known of a way to choose: visits, and what it was worth to each."""

    __slots__ = ("action", "children", "totals", "visits")

    def __init__(self, players: int) -> None:
        self.action = -1
        """The action by which it was reached last."""
        self.visits = 0
        self.totals = [0.0] * players
        self.children: dict[Key, _Node] = {}


class Tree:
    """One choice's search."""

    def __init__(self, thinker: Thinker, numbers: Random) -> None:
        self.thinker = thinker
        self.machine = thinker.game.machine()
        self.program = thinker.game.program
        self.players = self.program.players
        self.player = thinker.player
        self.numbers = numbers
        self._keys: dict[int, Key] = {}
        self._streams: list[int] = []
        self._at_once = 1

    def search(self, choices: list[Choice]) -> Choice:
        """Gets the best option: few are left after quick trials, and the tree grows below these."""
        meter = self.thinker.meter
        quick = _QUICK if len(choices) > _FEW else _WARM
        left = narrow(self.thinker, choices, self.numbers, to=_FEW, share=quick)
        if meter.is_spent() or len(left) == 1:
            return best_of(left)
        self._at_once = max(1, min(_AT_ONCE, int(meter.spent / meter.share()) // _WAYS))
        roots = [(Choice(c.action, c.coded), _Node(self.players)) for c in left]
        rounds = max(1, ceil(log2(len(roots))))
        turn = 0
        for number in range(rounds):
            limit = quick + (1 - quick) * (number + 1) / rounds
            while meter.share() < limit:
                position = self.thinker.position(turn)
                self._streams = stream_keys(self.machine, seed_of_game(self.thinker.seed ^ turn, 0))
                for choice, node in roots:
                    if meter.is_spent():
                        break
                    self._descend(position, choice, node, turn)
                turn += 1
            roots = sorted(roots, key=lambda r: -r[0].mean)[: ceil(len(roots) / 2)]
        tried = [choice for choice, _ in roots if choice.count]
        return best_of(tried or left)

    # ------------------------------------------------------------------------------------------------- one turn

    def _descend(self, dealt: Position, choice: Choice, node: _Node, turn: int) -> None:
        """Goes down below an option to a leaf, plays on from there, and adds up on the way back."""
        position = dealt[:]
        path = [node]
        keys = self._streams
        coded = choice.coded
        try:
            stop: Stop = self.machine.stop(position) if coded < 0 else self.machine.apply(position, coded)
            if coded >= 0:
                while node.visits and len(path) <= _DEEPEST:
                    stop = settle_chance(self.machine, position, stop, keys)
                    if stop is None:
                        break
                    action, node = self._select(node, position, stop)
                    path.append(node)
                    stop = self.machine.apply(position, action)
            stop = settle_chance(self.machine, position, stop, keys)
        except BrokenRule:
            return
        games = min(self._at_once, max(1, self.thinker.meter.left()))
        roller = self.thinker.roller
        if stop is None:
            results = [roller.result(position)]
        else:
            results = roller.play(position, -1, self.thinker.seed ^ turn, games, 0, self.thinker.taste)
        self.thinker.meter.spent += games
        if results:
            self._add(path, choice, results)

    def _select(self, node: _Node, position: Position, stop: Stop) -> tuple[int, _Node]:
        """Picks what is tried next at a node: the option that promises most to whoever chooses."""
        options: list[int] = stop  # type: ignore[assignment]
        decision = decision_at(self.program, position)
        action = options[self.numbers.below(len(options))]
        seat = owner_of_action(decision, position, action, self.program)
        if decision.mode == "any" or decision.everyone:
            options = [a for a in options if owner_of_action(decision, position, a, self.program) == seat]
        children = node.children
        if len(options) > _WIDE:
            offered = set(options)
            fresh = [options[self.numbers.below(len(options))] for _ in range(_WIDE)]
            options = [*(c.action for c in children.values() if c.action in offered), *fresh]
        taste = self.thinker.taste
        if seat >= 0:
            promise, curiosity = -1.0, _CURIOSITY * sqrt(log(node.visits + 1))
            for a in options:
                child = children.get(self._key(a, seat))
                total = _BELIEF * (0.5 if taste is None else taste.value_of(seat, a))
                visits = 0
                if child is not None:
                    total, visits = total + child.totals[seat], child.visits
                value = total / (visits + _BELIEF) + curiosity / sqrt(visits + 1)
                if value > promise:
                    action, promise = a, value
        child = children.setdefault(self._key(action, seat), _Node(self.players))
        child.action = action
        return action, child

    def _key(self, action: int, seat: int) -> Key:
        """Gets how a choice looks to the thinking player."""
        key = self._keys.get(action)
        if key is None:
            key = (action,)
            if seat not in (self.player, -1):
                look = look_of(self.program, action)
                if None in look.arguments:
                    shown = [-2 if a is None else a for a in look.arguments]
                    key = (seat, look.move, *shown)
            self._keys[action] = key
        return key

    def _add(self, path: list[_Node], choice: Choice, results: list[Result]) -> None:
        """Adds what results are worth to each along a way down, as one visit, and to the option at its top."""
        worth = self.thinker.scale.worth
        means = [sum(worth(r, p) for r in results) / len(results) for p in range(self.players)]
        for node in path:
            node.visits += 1
            for p, mean in enumerate(means):
                node.totals[p] += mean
        choice.count += len(results)
        choice.total += means[self.player] * len(results)
