"""Works out what a position is worth when everybody plays best, by going backward from the ends of the game.

All that can follow is laid out as a graph of positions, positions that are the same being one. Then values are worked
out from the ends backward: at the end each player has the score of the rules; at a chance node a value is the mean
over the outcomes, as an exact fraction; at a decision the player takes the option that is worth most to himself
(backward induction; with two players whose scores are opposite it is minimax, with more it is max^n of Luckhardt and
Irani, AAAI 1986). Among options worth the same to him the first in the order of the rules is taken; where that matters
to others the answer says so.

Where play can come back to a position (found as strongly connected parts, by Tarjan's algorithm, SIAM J. Comput. 1972)
the value is still plain if one player alone decides on the way round: he leaves where it is worth most to him. Else
the rules do not say what endless play is worth, and there is no answer.

Best play in this sense knows everything. Where somebody does not see all, or several choose at once in secret, it is
not what players could do, and is refused unless asked for `open_hands`; where it is a race who acts first, there is
none at all.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from msgspec import Struct

from .. import program as ir
from ..errors import PlayError
from ..game import State
from ..plain import move_words
from ..positions import elements, evaluate
from ..python_backend import Position, PythonMachine, Stop
from .outcomes import MEGABYTE, TooLarge, after_outcomes

if TYPE_CHECKING:
    from ..game import Game

Value = tuple[Fraction, ...]
"""What a position is worth to each player, by seat, in points of the rules' score."""

_CHANCE, _END = -1, -2


class Option(Struct, frozen=True):
    """An option where the question was asked: its action, its words, and what the position after it is worth."""

    action: int
    words: str
    value: Value


class Ending(Struct, frozen=True):
    """What a position is worth.

    `options`: in the order of the rules, none where chance decides. `line`: best play in words, up to where chance
    decides or the game ends. `positions`, `ends`: how many different ones were gone through. `undecided`: at how many
    of them the mover has several best options that are not worth the same to the others, so that the value depends on
    which he takes. `open_hands`: whether the value holds only for players who see everything.
    """

    value: Value
    options: tuple[Option, ...]
    line: tuple[str, ...]
    positions: int
    ends: int
    undecided: int
    open_hands: bool


Tick = Callable[[int], None]
"""Called now and then with how many positions have been laid out."""


def value_of(
    state: State, *, open_hands: bool = False, memory: int = 512, tick: Tick | None = None
) -> Ending:
    """Works out what a state is worth to each player under best play; the state stays as it is.

    `open_hands`: as if everybody saw everything, and chose in turn where several choose at once. `memory`: megabytes
    that may be used, roughly. Raises `TooLarge`, `BrokenRule`, and `PlayError` where best play is not defined.
    """
    graph = _Graph(state, open_hands, memory, tick)
    graph.lay_out()
    values = _Backward(graph)
    values.work_out()
    return values.told(state)


# ------------------------------------------------------------------------------------------------------ the graph


class _Graph:
    """All positions that can follow, by number; the first is where the question was asked."""

    def __init__(self, state: State, open_hands: bool, memory: int, tick: Tick | None) -> None:
        self.game: Game = state.game
        self.program = state.game.program
        self.machine: PythonMachine = state.game.machine()
        self.position, self.stop = state.position[:], state.stop
        self.open_hands = open_hands
        self.hidden = False
        self.secrets = _Secrets(self.program)
        self.tick = tick
        low, high = min(b[0] for b in self.program.bounds), max(b[1] for b in self.program.bounds)
        self.kind = "i" if low >= -(1 << 31) and high < 1 << 31 else "q"
        self.most = max(1, memory * MEGABYTE // (self.program.size * 12 + 900))
        self.numbers: dict[bytes, int] = {}
        self.movers: list[int] = []
        """Who decides: a seat, or `_CHANCE`, `_END`."""
        self.children: list[tuple[int, ...]] = []
        self.weights: dict[int, tuple[int, ...]] = {}
        """Of chance nodes: the weight of each child."""
        self.scores: dict[int, Value] = {}
        self.waiting: list[tuple[int, Position, Stop]] = []

    def lay_out(self) -> None:
        """Goes through all that can follow."""
        self.number_of(self.position, self.stop)
        while self.waiting:
            number, position, stop = self.waiting.pop()
            if stop.__class__ is list:
                assert isinstance(stop, list)
                self.movers[number] = self.mover(position, stop)
                self.look_for_secrets(position)
                found = []
                for action in stop:
                    after = position[:]
                    found.append(self.number_of(after, self.machine.apply(after, action)))
                self.children[number] = tuple(found)
            else:
                assert stop is not None
                self.movers[number] = _CHANCE
                found, weights = [], []
                for after, onward, weight, _ in after_outcomes(self.machine, position, stop[0]):
                    found.append(self.number_of(after, onward))
                    weights.append(weight)
                self.children[number] = tuple(found)
                self.weights[number] = tuple(weights)

    def number_of(self, position: Position, stop: Stop) -> int:
        """Gets the number of a position that has stopped, giving it one if it is new."""
        key = array(self.kind, position[: self.program.compared]).tobytes()
        number = self.numbers.setdefault(key, len(self.numbers))
        if number < len(self.movers):
            return number
        if number >= self.most:
            raise TooLarge(
                f"more than {self.most:,} positions can follow from here: that is more than the memory allows"
            )
        if self.tick is not None and number % 10_000 == 9_999:
            self.tick(number + 1)
        self.movers.append(_END)
        self.children.append(())
        if stop is None:
            score = self.program.score
            self.scores[number] = tuple(
                Fraction(self.machine.call(score, position, p) if score else 0)
                for p in range(self.program.players)
            )
        else:
            self.waiting.append((number, position, stop))
        return number

    def mover(self, position: Position, options: list[int]) -> int:
        """Gets who decides. Raises `PlayError` where it is not one alone."""
        end = self.program.blocks[position[0]].end
        assert isinstance(end, ir.Decide)
        d = self.program.decisions[end.decision]
        n = self.program.actions
        if d.mode == "each":
            self.refuse_hidden("several choose at once in secret")
            seat = next(p for p in range(self.program.players) if position[d.pending + p] == 0)
        else:
            seat = -1 if d.mode == "any" else evaluate(d.actor, position, self.program)
        actors = {a // n - 1 if a >= n else seat for a in options}
        if len(actors) > 1 or actors == {-1}:
            span = self.program.sites[d.site]
            message = (
                "here whoever acts first acts, or a player may act in another's turn: there is no best play"
            )
            raise PlayError("exact-race", message, span)
        return actors.pop()

    def look_for_secrets(self, position: Position) -> None:
        """Notes if somebody does not see all of a position."""
        if not self.hidden:
            name = self.secrets.in_position(position)
            if name:
                self.refuse_hidden(f"'{name}' is not seen by all")

    def refuse_hidden(self, why: str) -> None:
        """Refuses, unless hands are taken to be open."""
        self.hidden = True
        if not self.open_hands:
            raise PlayError("exact-hidden", f"{why}: best play would have to know what players cannot see")


class _Secrets:
    """Finds what somebody does not see."""

    def __init__(self, program: ir.Program) -> None:
        self.always = ""
        """A number that somebody never sees: nothing tells whether it matters, so it does."""
        self.piles: list[tuple[str, int]] = []
        """Piles that somebody does not see, each with the slot of its length: empty ones hide nothing."""
        for v in program.variables.values():
            if v.visibility == "all" or v.tally:
                continue
            if v.visibility in ("index", "player") and program.players == 1:
                continue
            if v.width > 1:
                self.piles += [(v.name, v.slot + offset) for offset, _ in elements(v)]
            elif v.low < v.high:
                self.always = self.always or v.name

    def in_position(self, position: Position) -> str:
        """Gets the name of a variable that somebody does not see; "" if all see all."""
        if self.always:
            return self.always
        return next((name for name, slot in self.piles if position[slot] > 0), "")


# ------------------------------------------------------------------------------------------------------- backward


class _Backward:
    """Works values out from the ends backward, one strongly connected part after the other."""

    def __init__(self, graph: _Graph) -> None:
        self.graph = graph
        n = len(graph.movers)
        self.values: list[Value | None] = [None] * n
        self.choice: list[int] = [-1] * n
        """The place of the best option among the children."""
        self.undecided = 0

    def work_out(self) -> None:
        """Gives every position a value."""
        for part in _parts(self.graph.children):
            if len(part) == 1 and part[0] not in self.graph.children[part[0]]:
                self.plain(part[0])
            else:
                self.circle(part)

    def plain(self, number: int) -> None:
        """Gives a position a value, where all that follows has one."""
        graph = self.graph
        mover = graph.movers[number]
        if mover == _END:
            self.values[number] = graph.scores[number]
            return
        after = [self.known(c) for c in graph.children[number]]
        if mover == _CHANCE:
            weights = graph.weights[number]
            total = sum(weights)
            self.values[number] = tuple(
                sum((v[p] * w for v, w in zip(after, weights, strict=True)), Fraction(0)) / total
                for p in range(graph.program.players)
            )
            return
        best = max(v[mover] for v in after)
        self.choice[number] = next(i for i, v in enumerate(after) if v[mover] == best)
        self.values[number] = after[self.choice[number]]
        self.undecided += len({v for v in after if v[mover] == best}) > 1

    def circle(self, part: list[int]) -> None:
        """Gives positions among which play can go round a value: the best way out, if one player alone decides."""
        graph, inside = self.graph, set(part)
        movers = {graph.movers[n] for n in part}
        ways_out = [
            (i, n, self.known(c)) for n in part for i, c in enumerate(graph.children[n]) if c not in inside
        ]
        if len(movers) > 1 or _CHANCE in movers or not ways_out:
            message = (
                "play can go round in a circle here, and the rules do not say what endless play is worth"
            )
            raise PlayError("exact-circle", message)
        (mover,) = movers
        best = max(v[mover] for _, _, v in ways_out)
        good = [(i, n, v) for i, n, v in ways_out if v[mover] == best]
        self.undecided += len({v for _, _, v in good}) > 1
        value = good[0][2]
        for n in part:
            self.values[n] = value
        self.lead_out(inside, {n: i for i, n, v in reversed(good) if v == value})

    def lead_out(self, inside: set[int], exits: dict[int, int]) -> None:
        """Notes for each position of a circle the option that leads out the shortest way."""
        before: dict[int, list[tuple[int, int]]] = {}
        for n in inside:
            for i, c in enumerate(self.graph.children[n]):
                if c in inside:
                    before.setdefault(c, []).append((n, i))
        level = sorted(exits)
        for n, i in exits.items():
            self.choice[n] = i
        reached = set(level)
        while level:
            onward = []
            for c in level:
                for n, i in before.get(c, ()):
                    if n not in reached:
                        reached.add(n)
                        self.choice[n] = i
                        onward.append(n)
            level = onward

    def known(self, number: int) -> Value:
        """Gets the value of a position that has one."""
        value = self.values[number]
        assert value is not None
        return value

    def told(self, state: State) -> Ending:
        """Makes the answer."""
        graph = self.graph
        options: tuple[Option, ...] = ()
        if graph.movers[0] >= 0:
            assert isinstance(state.stop, list)
            options = tuple(
                Option(action, move_words(state, action), self.known(c))
                for action, c in zip(state.stop, graph.children[0], strict=True)
            )
        return Ending(
            self.known(0),
            options,
            tuple(self.line(state)),
            len(graph.movers),
            len(graph.scores),
            self.undecided,
            graph.hidden,
        )

    def line(self, state: State) -> list[str]:
        """Tells best play in words, up to where chance decides or the game ends."""
        words = []
        number = 0
        at = State(state.game, state.game.machine(), state.position[:], state.stop, None)
        while self.graph.movers[number] >= 0:
            i = self.choice[number]
            action = at.legal_actions()[i]
            words.append(move_words(at, action))
            at.stop = at.machine.apply(at.position, action)
            number = self.graph.children[number][i]
        return words


def _parts(children: list[tuple[int, ...]]) -> list[list[int]]:
    """Gets the strongly connected parts of what follows node 0, each after all that follows from it (Tarjan)."""
    found: list[list[int]] = []
    order = [0] * len(children)  # 0: not yet met
    lowest = [0] * len(children)
    filed = [False] * len(children)
    stack: list[int] = []
    met = 1
    path: list[tuple[int, int]] = [(0, 0)]
    while path:
        node, i = path.pop()
        if i == 0:
            order[node] = lowest[node] = met
            met += 1
            stack.append(node)
        else:
            lowest[node] = min(lowest[node], lowest[children[node][i - 1]])
        for k in range(i, len(children[node])):
            child = children[node][k]
            if not order[child]:
                path += [(node, k + 1), (child, 0)]
                break
            if not filed[child]:
                lowest[node] = min(lowest[node], order[child])
        else:
            if lowest[node] == order[node]:
                part: list[int] = []
                while not part or part[-1] != node:
                    part.append(stack.pop())
                    filed[part[-1]] = True
                found.append(part)
    return found
