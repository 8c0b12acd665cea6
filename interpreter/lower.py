"""Lowers a checked rule set to the intermediate program: lays the position out, then rules, moves, decisions.

Takes what the checker gives; gives a `Program`; refuses values that can never lie in their declared range.
"""

from __future__ import annotations

from typing import Any

from ..grammar import tree
from ..grammar.diagnostics import Report
from ..grammar.span import Span
from . import program as ir
from .environment import Env
from .layout import Shape
from .leftovers import Kept, Leftovers
from .lower_decisions import DecisionLowering
from .renumber import Renumber
from .symbols import Checked
from .tidy import tidy
from .types import INT, OptionalType, PileType


def lower(checked: Checked, report: Report, *, offers: bool = True) -> ir.Program:
    """Lowers a checked rule set; without `offers` standing offers are left out. Errors go to `report`."""
    lowering = _Lowering(checked, report, offers)
    return lowering.program()


class _Lowering(DecisionLowering):
    def __init__(self, checked: Checked, report: Report, offers: bool) -> None:
        super().__init__(checked, report)
        self.offers = offers
        self.texts = []
        self.actor_users = {}
        self.blocks = []
        self.decisions = []
        self.chances = []
        self.streams = {}
        self.frames = {}
        self.pending_frames = []
        self.moves = []
        self.move_numbers = {}
        self.ends = []

    def program(self) -> ir.Program:
        rules = self.checked.rules
        self.slots.take(0, 1 << 15)
        self._lay_out(tally=False)
        self.compared = 0
        self._lay_out(tally=True)
        self.ends = [d.node.condition for d in rules.definitions if isinstance(d.node, tree.EndsWhen)]
        end = self.new_block()
        self.end_block = end.number
        self.find_asking()
        self.number_moves()
        start = self.checked.callables[rules.start]
        frame = self.frame_of(start)
        self.pending_frames.clear()
        self.lower_frame(frame, start=True)
        first = self.blocks[frame.entry]
        self.lower_moves()
        while self.pending_frames:
            self.lower_frame(self.pending_frames.pop(), start=False)
        measures, invariants = self._figures()
        score = self._per_player("score", tie_break=False)
        tie_break = self._per_player("tie_break", tie_break=True)
        self._clear_leftovers()
        self._finish_slots()
        entries = {n: f.entry for n, f in self.frames.items() if isinstance(f.symbol.node, tree.Rule)}
        self.blocks, self.decisions, self.chances = tidy(
            self.blocks, self.decisions, self.chances, self.moves, entries, (frame.entry, self.end_block)
        )
        return ir.Program(
            players=len(self.checked.player.entries),
            size=len(self.slots),
            compared=self.compared,
            initial=self.slots.initial,
            bounds=self.slots.bounds,
            variables=self.variables,
            tables=self.tables,
            functions=self.functions,
            blocks=self.blocks,
            decisions=self.decisions,
            chances=self.chances,
            streams=list(self.streams),
            moves=self.moves,
            entries=entries,
            texts=self.texts,
            sites=self.sites,
            measures=measures,
            invariants=invariants,
            score=score,
            tie_break=tie_break,
            start=first.number,
            step_budget=rules.budget.steps,
            decision_budget=rules.budget.decisions,
        )

    def _clear_leftovers(self) -> None:
        backs = frozenset(f.back for f in self.frames.values())
        leftovers = Leftovers(self.blocks, self.decisions, self.chances, backs, self.slots.initial)
        for f in self.frames.values():
            leftovers.clear(Kept(f.entry, frozenset(f.parameters), frozenset(f.slots) - backs))
        leftovers.clear_all(self.end_block, {n for f in self.frames.values() for n in f.slots} - backs)

    # ----------------------------------------------------------------------------------------------------- layout

    def _lay_out(self, *, tally: bool) -> None:
        for v in self.checked.variables.values():
            if v.tally != tally:
                continue
            node = v.node
            dims = []
            for t, type_ in zip(node.indices, v.indices, strict=True):
                shape = self.shape(t)
                dims.append((type_, shape.low, shape.count))
            shape = self.shape(node.type)
            initial = max(0, shape.low)
            if isinstance(v.type, OptionalType):
                initial = -1
            if node.initial is not None and not isinstance(v.type, PileType):
                initial = self.constant(node.initial)
                if not shape.low <= initial <= shape.high:
                    self.report.error(
                        "range", f"{initial} is not within {shape.low} to {shape.high}", node.initial.span
                    )
            elif isinstance(v.type, PileType) and node.initial is not None:
                self.report.error("type", "a pile starts empty", node.initial.span, help="fill it in a rule")
            total = 1
            for _, _, count in dims:
                total *= count
            first = len(self.slots)
            for _ in range(total):
                if shape.capacity:
                    self.slots.take(0, shape.capacity)
                    for _ in range(shape.capacity):
                        self.slots.take(shape.low, shape.high, max(0, shape.low))
                else:
                    self.slots.take(shape.low, shape.high, initial)
            visibility: Any = "all"
            if node.when is None or self.flag(node.when, Env()) == ir.TRUE:
                if node.hidden:
                    visibility = "none"
                elif node.secret_to == "index":
                    visibility = "index"
                elif node.secret_to is not None:
                    visibility = "player"
            self.variables[v.name] = ir.Variable(
                v.name,
                first,
                tuple(dims),
                v.type,
                shape.low,
                shape.high,
                shape.width,
                initial,
                visibility,
                node.span,
                tally,
            )
        if not tally:
            self._owners()

    def _owners(self) -> None:
        for v in self.checked.variables.values():
            laid = self.variables.get(v.name)
            if laid is not None and laid.visibility == "player" and isinstance(v.node.secret_to, tree.Expr):
                laid.owner = f"owner_{v.name}"
                value = self.expr(v.node.secret_to, Env())
                self.functions[laid.owner] = ir.Function(
                    laid.owner, (), (ir.Return(value),), "value", (value.low, value.high)
                )

    def _finish_slots(self) -> None:
        """Moves tallies and row counters to the end of the position and renumbers every slot."""
        tallies = [
            n for v in self.variables.values() if v.tally for n in range(v.slot, v.slot + self.total(v))
        ]
        tail = set(tallies)
        order = [n for n in range(len(self.slots)) if n not in tail]
        self.compared = len(order)
        order += tallies
        rows = [len(order) + i for i in range(len(self.streams))]
        mapping = {old: new for new, old in enumerate(order)}
        mapping.update({-1 - i: n for i, n in enumerate(rows)})
        self.slots.bounds = [self.slots.bounds[n] for n in order] + [(0, (1 << 31) - 1) for _ in rows]
        self.slots.initial = [self.slots.initial[n] for n in order] + [0 for _ in rows]
        renumber = Renumber(mapping)
        for f in self.functions.values():
            f.body = tuple(renumber.stmt(s) for s in f.body)
        for b in self.blocks:
            b.body = tuple(renumber.stmt(s) for s in b.body)
            match b.end:
                case ir.Branch(condition, then, otherwise):
                    b.end = ir.Branch(renumber.expr(condition), then, otherwise)
                case ir.Back(slot):
                    b.end = ir.Back(mapping[slot])
                case _:
                    pass
        for d in self.decisions:
            d.actor, d.who = renumber.expr(d.actor), renumber.expr(d.who)
            d.pending = mapping[d.pending] if d.pending >= 0 else -1
        for c in self.chances:
            c.row, c.base = mapping[c.row], mapping[c.base]
            c.ordinal, c.count, c.index = (renumber.expr(e) for e in (c.ordinal, c.count, c.index))
        for m in self.moves:
            m.slots = tuple(mapping[n] for n in m.slots)
            m.back = mapping[m.back] if m.back >= 0 else -1
        for v in self.variables.values():
            v.slot = mapping[v.slot]

    # ---------------------------------------------------------------------------------------------------- figures

    def _function(
        self,
        name: str,
        result: tree.Result,
        env: Env,
        names: tuple[str, ...],
        bounds: tuple[tuple[int, int], ...],
    ) -> str:
        wide = Shape(INT, -ir.FAR, ir.FAR)
        body = self._returns(result, env, wide)
        self.functions[name] = ir.Function(name, names, body, "value", (-ir.FAR, ir.FAR), bounds)
        return name

    def _player_env(self, word: tree.Word | None) -> tuple[Env, tuple[str, ...], tuple[tuple[int, int], ...]]:
        if word is None:
            return Env(), (), ()
        bounds = (0, len(self.checked.player.entries) - 1)
        return Env().bind(self.checked.locals[word], ir.Temp(*bounds, "who")), ("who",), (bounds,)

    def _figures(self) -> tuple[list[ir.MeasureInfo], list[tuple[str, str, Span]]]:
        measures: list[ir.MeasureInfo] = []
        invariants: list[tuple[str, str, Span]] = []
        for d in self.checked.rules.definitions:
            match d.node:
                case tree.Measure(_, text, per, value):
                    name = f"measure_{len(measures)}"
                    self._function(name, value, *self._player_env(per))
                    measures.append(ir.MeasureInfo(text.text, name, per is not None))
                case tree.Invariant(span, text, condition):
                    name = f"invariant_{len(invariants)}"
                    self._function(name, condition, *self._player_env(None))
                    invariants.append((text.text, name, span))
                case _:
                    pass
        return measures, invariants

    def _per_player(self, name: str, *, tie_break: bool) -> str:
        for d in self.checked.rules.definitions:
            if isinstance(d.node, tree.Score) and d.node.tie_break == tie_break:
                return self._function(name, d.node.result, *self._player_env(d.node.player))
        return ""
