"""Coverage of rules by scenarios: which lines no story reaches, which guards and readings go untried.

Takes what is to be played through its `load`, which makes games of a program with marks in it, and each
`Result` through `note`. The marks are sentences told to nobody: the traced machine notes that one was told
and the game goes on as it would without, while the fast machine (which counts for `perft`) leaves them out,
so that only what a story itself does is counted. A statement or a value of a define is reached when it is
carried out; a guard, when a move that a scenario expects to be refused is refused by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from msgspec import Struct

from ..grammar import tree
from ..grammar.diagnostics import Report
from ..grammar.span import Span
from ..grammar.walk import walk
from . import program as ir
from .check import check
from .environment import Env
from .game import Compiled, Game
from .labels import Labels
from .layout import Shape
from .load import available_variants, load_ruleset
from .lower import _Lowering
from .lower_blocks import Frame, LoopBlocks
from .lower_statements import Code
from .naming import RuleSetName
from .program import Expr
from .scenarios import Result
from .symbols import Checked

_T = TypeVar("_T")

Place = tuple[str, int, int]
"""A place in the rules: source, line, column."""

_MARK = -1
"""The number of the text that a mark tells."""


class Item(Struct, frozen=True):
    """Something to be reached: a "statement", a "value" of a define, or a "guard"."""

    kind: str
    span: Span
    owner: str
    """The rule, move or define it stands in."""

    @property
    def place(self) -> Place:
        """Where it stands."""
        return place_of(self.span)


def place_of(span: Span) -> Place:
    """Gets the place of a span, equal for equal places of a file that was read twice."""
    return span.source.name, span.line, span.column


def items_of(checked: Checked) -> Iterator[Item]:
    """Gets what can be reached in a rule set; leaving a loop is not counted, nor are figures and texts."""
    for definition in checked.rules.definitions:
        node = definition.node
        match node:
            case tree.Rule() | tree.Move():
                owner = node.name.text
                for guard in node.guards if isinstance(node, tree.Move) else ():
                    if not guard.listing:
                        yield Item("guard", guard.span, owner)
                for n in walk(node):
                    if isinstance(n, tree.Statement) and not isinstance(n, tree.Skip | tree.Stop):
                        yield Item("statement", n.span, owner)
            case tree.Define() | tree.Score():
                owner = node.name.text if isinstance(node, tree.Define) else "score"
                for n in walk(node.result):
                    if isinstance(n, tree.Value):
                        yield Item("value", n.span, owner)
            case _:
                pass


# -------------------------------------------------------------------------------------------------- lowering


class _Marking(_Lowering):
    """Lowers with a mark before each statement and in each value of a define."""

    def __init__(self, checked: Checked, report: Report, offers: bool) -> None:
        super().__init__(checked, report, offers)
        self.marking = False

    def lower_frame(self, frame: Frame, *, start: bool) -> None:
        """Lowers a rule or move into blocks, with marks."""
        self._with_marks(True, lambda: super(_Marking, self).lower_frame(frame, start=start))

    def lower_moves(self) -> None:
        """Lowers the moves, with marks."""
        self._with_marks(True, super().lower_moves)

    def constant(self, node: tree.Expr) -> int:
        """Works out a number that must be known when loading, without marks."""
        return self._with_marks(False, lambda: super(_Marking, self).constant(node))

    def _standing(self) -> tuple[tuple[tree.Word, ...], bool]:
        return self._with_marks(False, super()._standing)

    def _per_player(self, name: str, *, tie_break: bool) -> str:
        return self._with_marks(True, lambda: super(_Marking, self)._per_player(name, tie_break=tie_break))

    def _with_marks(self, on: bool, make: Callable[[], _T]) -> _T:
        saved = self.marking, self.placed
        if on != self.marking:
            self.marking, self.placed = on, {}
        try:
            return make()
        finally:
            self.marking, self.placed = saved

    def _mark(self, span: Span) -> ir.Stmt:
        return ir.Tell(_MARK, (), None, self.site(span))

    def statement(self, s: tree.Statement, code: Code) -> None:
        """Marks and lowers a statement."""
        if self.marking:
            code.add(self._mark(s.span))
        super().statement(s, code)

    def waiting(self, s: tree.Statement, loop: LoopBlocks | None) -> bool:
        """Marks and lowers a statement in which the game may stop."""
        if self.marking:
            self.code.add(self._mark(s.span))
        return super().waiting(s, loop)

    def _let(self, s: tree.Let, outlives: bool) -> None:
        if self.marking:
            self.code.add(self._mark(s.span))
        super()._let(s, outlives)

    def _returns(self, result: tree.Result, env: Env, shape: Shape) -> tuple[ir.Stmt, ...]:
        made = super()._returns(result, env, shape)
        return (self._mark(result.span), *made) if self.marking and isinstance(result, tree.Value) else made

    def result(self, result: tree.Result, env: Env) -> Expr | None:
        """Lowers the value of a define; the mark is a 0 that is added."""
        made = super().result(result, env)
        if made is None or not self.marking or not isinstance(result, tree.Value):
            return made
        name = f"seen_{self.site(result.span)}"
        if name not in self.functions:
            self.functions[name] = ir.Function(
                name, (), (self._mark(result.span), ir.Return(ir.FALSE)), "value", (0, 0)
            )
        return ir.Op(made.low, made.high, "+", (ir.Call(0, 0, name, ()), made))


class _MarkedGame(Game):
    """A game whose traced machine notes which marks it passes."""

    reached: set[Place]

    def _hooks(self) -> dict[str, Callable[..., Any]]:
        hooks = super()._hooks()
        told = hooks["told"]
        reached = self.reached
        places = [place_of(span) for span in self.program.sites]

        def told_or_marked(text: int, values: tuple[int, ...], to: int, site: int) -> None:
            if text == _MARK:
                reached.add(places[site])
            else:
                told(text, values, to, site)

        return {**hooks, "told": told_or_marked}


# -------------------------------------------------------------------------------------------------- counting


class Coverage:
    """What was reached so far, over all rule sets that were loaded through `load`."""

    def __init__(self) -> None:
        self.items: dict[Place, Item] = {}
        self.reached: set[Place] = set()
        self.readings: Counter[tuple[str, str]] = Counter()
        """For each question and reading, how many cases it was tried in: set, or compared with another."""
        self.variants: Counter[str] = Counter()
        """For each variant of the games, how many cases are played with it."""
        self._games: dict[tuple[str, int | None, bool], Game] = {}
        self._own: dict[str, str] = {}
        self._compared: set[str] = set()

    def load(self, name: str, players: int | None, offers: bool) -> Game:
        """Makes a game that tells what it reaches. Raises `RulesError`."""
        key = (name, players, offers)
        if key not in self._games:
            self._games[key] = self._make(name, players, offers)
        return self._games[key]

    def _make(self, name: str, players: int | None, offers: bool) -> Game:
        report = Report()
        rules = load_ruleset(name, players=players, report=report)
        checked = check(rules, report)
        report.raise_errors()
        program = _Marking(checked, report, offers).program()
        report.raise_errors()
        names = checked.player.entries
        labels = {"en": Labels("en", players=names)}
        compiled = Compiled(
            program, rules.canonical, rules.content_hash, rules.title, names, rules.player_counts, labels, []
        )
        game = _MarkedGame(compiled, name, "", offers=offers)
        game.reached = self.reached
        game._checked = checked
        for item in items_of(checked):
            self.items.setdefault(item.place, item)
        for variant in available_variants(RuleSetName.parse(name).game.text):
            self.variants[variant] += 0
        for question in rules.questions.values():
            for reading in question.readings:
                self.readings[question.name, reading] += 0
        return game

    def note(self, result: Result) -> None:
        """Counts the guards and readings that a case tried; cases are given in the order they are played."""
        self.reached.update(place_of(span) for span in result.refused)
        if result.state is None:
            return
        rules = result.state.game.checked().rules
        chosen = {q.name: q.chosen for q in rules.questions.values()}
        if not result.case.under:
            self._own, self._compared = chosen, set()
            self.readings.update((q.name, q.chosen) for q in rules.questions.values() if q.chosen != q.base)
            self.variants.update(rules.variants)
            return
        self.variants.update(rules.variants)
        for name, reading in chosen.items():
            own = self._own.get(name)
            if reading != own:
                self.readings[name, reading] += 1
                if own is not None and name not in self._compared:
                    self._compared.add(name)
                    self.readings[name, own] += 1

    def unreached(self) -> list[Item]:
        """Gets what nothing reached, by file and line."""
        return sorted((i for i in self.items.values() if i.place not in self.reached), key=lambda i: i.place)

    def untried(self, least: int = 1) -> list[tuple[str, str]]:
        """Gets the readings that fewer than `least` cases tried, as question and reading."""
        return [pair for pair, count in self.readings.items() if count < least]

    def share(self) -> tuple[int, int]:
        """Gets how many items were reached, of how many."""
        return len(self.items) - len(self.unreached()), len(self.items)

    def render(self) -> str:
        """Writes what is left to be reached, for people: a line each, with the line of the rules."""
        reached, total = self.share()
        words = {"guard": "never refuses", "statement": "never carried out", "value": "never worked out"}
        lines = [f"{reached} of {total} statements, values and guards are reached"]
        for item in self.unreached():
            text = item.span.source.line(item.span.line).strip()
            lines.append(f"{item.span}: {words[item.kind]} ({item.owner}): {text}")
        lines += [f"no scenario tries {question}={reading}" for question, reading in self.untried()]
        lines += [f"no scenario plays {variant}" for variant, count in self.variants.items() if not count]
        return "\n".join(lines)
