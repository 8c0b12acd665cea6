"""Works out exact chances by walking through every outcome of chance, up to where named rules begin.

Takes a position; gives the positions in which play can stand when one of the rules begins, each with its
exact probability. Players are taken to do what is assumed of them: at a decision the first of the assumed
moves that is offered, else the first option of all. How it stays quick:

- The walk runs on a program of its own, the game's with its end put where those rules begin: the layout is the
  same, so positions go over as they are, and nothing past that point is played.
- Positions are merged at the start of each roll, draw or shuffle, at decisions, and at the end. Variables to
  `forget` (such as the faces of dice that will be rolled again) then count as unchanged, so that many ways lead
  to one position.

What nobody can know yet must not have been decided already: the contents of a hidden pile would be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..grammar.span import Span
from . import cache
from . import program as ir
from .errors import PlayError
from .game import Game, State
from .positions import decode
from .python_backend import Position, PythonMachine, Stop, called, write_source


class Plan(Struct, frozen=True):
    """How far to look, and what is taken for granted on the way.

    `until`: rules, before the first of which the walk ends. `assume`: moves, the likeliest first. `forget`:
    variables that no longer matter when chance is called upon anew, or when a rule of `forget_at` asks.
    `limit`: the most outcomes to walk through.
    """

    until: tuple[str, ...]
    assume: tuple[str, ...] = ()
    forget: tuple[str, ...] = ()
    forget_at: tuple[str, ...] = ()
    limit: int = 2_000_000


class TooMany(PlayError):
    """Says that there are more outcomes than may be walked through."""

    def __init__(self, limit: int) -> None:
        super().__init__("odds-limit", f"there are more than {limit:,} outcomes")


Weights = dict[int, int]
"""For each denominator a numerator: their sum is a probability. Faster to add to than one fraction."""


def distribution(state: State, plan: Plan) -> list[tuple[Fraction, Position]]:
    """Gets the positions that play can reach, each with its probability. Raises `TooMany` or `BrokenRule`."""
    walk = _Walk(state.game, plan)
    return walk.run(state)


class _Walk:
    def __init__(self, game: Game, plan: Plan) -> None:
        self.game = game
        self.plan = plan
        self.machine = machine_until(game, plan.until)
        program = game.program
        self.compared = program.compared
        self.asks = {d.block: d.rule for d in program.decisions}
        self.rank = {name: n for n, name in enumerate(plan.assume)}
        self.forgotten = [
            (v.slot, v.slot + size, program.initial[v.slot : v.slot + size])
            for v in program.variables.values()
            if v.name in plan.forget
            for size in [v.width * _elements(v)]
        ]
        self.walked = 0
        self.ends: dict[tuple[int, ...], tuple[Position, Weights]] = {}
        self.next: dict[tuple[int, ...], tuple[Position, Weights]] = {}

    def run(self, state: State) -> list[tuple[Fraction, Position]]:
        """Walks level by level: all that one roll, draw or assumed choice can bring, then the next."""
        position = state.position[:]
        self._arrive(position, self.machine.stop(position), 1, 1)
        while self.next:
            level, self.next = self.next, {}
            for position, weights in level.values():
                stop = self.machine.stop(position)
                if stop.__class__ is list:
                    stop = self.machine.apply(position, self._assumed(position, stop))
                    for denominator, numerator in weights.items():
                        self._arrive(position[:], stop, numerator, denominator)
                    continue
                for denominator, numerator in weights.items():
                    self._branch(position, stop, numerator, denominator)
        found = [(_sum(weights), position) for position, weights in self.ends.values()]
        return [(p, position) for p, position in found if p]

    def _arrive(self, position: Position, stop: Stop, numerator: int, denominator: int) -> None:
        """Files a position that has stopped; in the middle of a roll it goes on at once."""
        if stop is None:
            self._file(self.ends, position, numerator, denominator, forget=self.walked > 0)
        elif stop.__class__ is list:
            rule = self.asks[position[0]]
            self._file(self.next, position, numerator, denominator, forget=rule in self.plan.forget_at)
        elif self.machine.chance_info[stop[0]](position)[2] == 0:
            self._file(self.next, position, numerator, denominator, forget=True)
        else:
            self._branch(position, stop, numerator, denominator)

    def _branch(self, position: Position, stop: Stop, numerator: int, denominator: int) -> None:
        node: int = stop[0]  # type: ignore[index]
        _, _, _, low, count, weigh = self.machine.chance_info[node](position)
        weights = [1] * count if weigh is None else [weigh(position, low + i) for i in range(count)]
        denominator *= sum(weights)
        self.walked += count
        if self.walked > self.plan.limit:
            raise TooMany(self.plan.limit)
        for i, weight in enumerate(weights):
            if weight:
                copy = position[:]
                stop = self.machine.decide(copy, node, low + i)
                self._arrive(copy, stop, numerator * weight, denominator)

    def _file(
        self,
        to: dict[tuple[int, ...], tuple[Position, Weights]],
        position: Position,
        numerator: int,
        denominator: int,
        *,
        forget: bool,
    ) -> None:
        if forget:
            for start, end, initial in self.forgotten:
                position[start:end] = initial
        key = tuple(position[: self.compared])
        found = to.get(key)
        if found is None:
            to[key] = (position, {denominator: numerator})
        else:
            weights = found[1]
            weights[denominator] = weights.get(denominator, 0) + numerator

    def _assumed(self, position: Position, options: Sequence[int]) -> int:
        program = self.game.program
        best, least = options[0], len(self.rank)
        for action in options:
            n = self.rank.get(decode(program, action)[0].name, least)
            if n < least:
                best, least = action, n
        return best


def _sum(weights: Weights) -> Fraction:
    return sum((Fraction(n, d) for d, n in weights.items()), Fraction(0))


def _elements(v: ir.Variable) -> int:
    n = 1
    for _, _, count in v.dims:
        n *= count
    return n


# ----------------------------------------------------------------------------------------- the shortened program


def machine_until(game: Game, until: Sequence[str]) -> PythonMachine:
    """Makes the machine on which the game ends where any of these rules begins. Raises `KeyError` for no rule."""
    kind = f"until-{'-'.join(until)}"
    made: dict[str, PythonMachine] = game.__dict__.setdefault("_shortened", {})
    if kind not in made:
        program = shortened(game, until)

        def make() -> Any:
            return compile(write_source(program, traced=False), f"<{game.name}, {kind}>", "exec")

        code = cache.once(f"{game._key}-{kind}", "code", make) if game._key else make()
        made[kind] = PythonMachine(program, code, hooks=game._hooks())
    return made[kind]


def shortened(game: Game, until: Sequence[str]) -> ir.Program:
    """Puts the end of the game where rules begin. Raises `KeyError` where there is no such rule."""
    program = game.program
    rules = [game.checked().callables[name].node for name in until]
    functions = {f"r_{name}" for name in until}
    within = {n for n, site in enumerate(program.sites) if any(_inside(site, r.span) for r in rules)}
    entries = {program.entries[name] for name in until if name in program.entries}
    blocks = []
    for block in program.blocks:
        cut = next(
            (n for n, s in enumerate(block.body) if functions & set(called(s)) or within & _sites(s)), None
        )
        if block.number in entries:
            block = replace(block, body=(), end=ir.End())
        elif cut is not None:
            block = replace(block, body=block.body[:cut], end=ir.End())
        elif isinstance(block.end, ir.Decide) and program.decisions[block.end.decision].rule in until:
            block = replace(block, end=ir.End())
        blocks.append(block)
    return replace(program, blocks=blocks)


def _inside(site: Span, span: Span) -> bool:
    return (
        site.source.name == span.source.name
        and (span.line, span.column) <= (site.line, site.column)
        and (site.line, site.column) < (span.end_line, span.end_column)
    )


def _sites(node: Any) -> set[int]:
    """Gets the places in the rules of a statement and all that is inside it."""
    found: set[int] = set()
    stack = [node]
    while stack:
        n = stack.pop()
        site = getattr(n, "site", -1)
        if site >= 0:
            found.add(site)
        for name in n.__struct_fields__:
            value = getattr(n, name)
            if isinstance(value, ir.Expr | ir.Stmt):
                stack.append(value)
            elif isinstance(value, tuple):
                stack += [v for v in value if isinstance(v, ir.Expr | ir.Stmt)]
    return found
