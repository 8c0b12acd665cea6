"""Lowers searches over domains: sums, counts, the first, the largest, some and every.

Short ones over the members of a table are written out; long ones become functions with a loop.
"""

from __future__ import annotations

from msgspec.structs import replace

from ..grammar import tree
from ..grammar.span import Span
from ..grammar.walk import walk
from . import program as ir
from .environment import Env, Pile, Run, clamped, size
from .lower_expressions import ExpressionLowering
from .program import FALSE, TRUE, Expr, const, make
from .symbols import ActorRef, AllRef, Local
from .types import EnumType, ListType, SetType

UNROLLED = 12
"""How many members a search may run over and still be written out."""


class SearchLowering(ExpressionLowering):
    """Lowers domains and searches over them."""

    # --------------------------------------------------------------------------------------------------- domains

    def run(self, node: tree.Domain, env: Env) -> Run:
        """Lowers what a variable runs over."""
        match node:
            case tree.Range(span, low_node, high_node):
                low, high = self.expr(low_node, env), self.expr(high_node, env)
                bound = max(0, high.high - low.low + 1)
                if bound > 100_000:
                    self.report.error("range", "this range has no end that is known before play", span)
                    bound = 1
                return Run(
                    bound,
                    lambda k: make("<=", make("+", low, k), high),
                    lambda k: clamped(make("+", low, k), low.low, high.high),
                    low.low,
                    max(low.low, high.high),
                    last=make("-", high, low),
                )
            case tree.Clockwise(_, start_node, after):
                n = len(self.checked.player.entries)
                start = self.fit(self.expr(start_node, env), 0, n - 1, start_node, env)
                shift = TRUE if after else FALSE
                return Run(
                    n,
                    lambda k: TRUE,
                    lambda k: make("mod", make("+", make("+", start, shift), k), const(n)),
                    0,
                    n - 1,
                    start,
                )
            case tree.Members(_, of):
                type_ = self.checked.types[of]
                if isinstance(type_, SetType):
                    base = type_.base
                    assert isinstance(base, EnumType)
                    count = len(base.entries)
                    if isinstance(self.checked.refs.get(of), AllRef):
                        return Run(count, lambda k: TRUE, lambda k: k, 0, count - 1)
                    values = self.expr(of, env)
                    return Run(count, lambda k: make("bit", values, k), lambda k: k, 0, count - 1)
                if isinstance(type_, ListType):
                    length, item, most, low_, high_ = self.list_of(of, env)
                    last = make("-", length, TRUE)
                    return Run(most, lambda k: make("<", k, length), item, low_, high_, last=last)
                return self.pile_run(self.pile(of, env))
        raise AssertionError(node)

    def pile_run(self, pile: Pile) -> Run:
        """Gets what runs over the items of a pile, bottom first."""
        last = make("-", pile.length, TRUE)
        return Run(
            pile.capacity,
            lambda k: make("<", k, pile.length),
            pile.item,
            pile.low,
            pile.high,
            last=last,
        )

    # -------------------------------------------------------------------------------------------------- searches

    def search(self, node: tree.Fold | tree.Search | tree.Quantify, env: Env) -> Expr:
        run = self.run(node.domain, env)
        if run.bound <= UNROLLED:
            value = self._unrolled(node, run, env)
            if size(value) <= 120:
                return value
        return self._looped(node, env)

    def _step(
        self, node: tree.Fold | tree.Search | tree.Quantify, run: Run, k: Expr, env: Env
    ) -> tuple[Expr, Env, Expr]:
        """Gets the condition, environment and value of place k."""
        holds = run.holds(k)
        value = run.value(k)
        inner = env.bind(self.checked.locals[node.variable], value).knowing(holds)
        if node.where is not None and holds != FALSE:
            test = self.expr(node.where, inner)
            inner = inner.knowing(test)
            holds = make("and", holds, test)
        return holds, inner, value

    def _unrolled(self, node: tree.Fold | tree.Search | tree.Quantify, run: Run, env: Env) -> Expr:
        places = []
        for k in range(run.bound):
            holds, inner, value = self._step(node, run, const(k), env)
            if holds != FALSE:
                places.append((holds, inner, value))
        match node:
            case tree.Fold(_, "sum", body):
                total: Expr = FALSE
                for holds, inner, _ in places:
                    total = make("+", total, ir.choose(holds, self.expr(body, inner), FALSE))
                return total
            case tree.Fold(span, kind, body, _, _, _, otherwise):
                pick = "max" if kind == "largest" else "min"
                default = self.expr(otherwise, env) if otherwise is not None else None
                if not places:
                    return default if default is not None else self.nothing(span, 0, 0)
                values = [(holds, self.expr(body, inner)) for holds, inner, _ in places]
                if otherwise is not None and all(isinstance(v, ir.Const) for _, v in values):
                    # known numbers: the best that holds is the first in their order that does
                    values.sort(key=lambda place: place[1].low, reverse=kind == "smallest")
                    best = default or FALSE
                    for holds, value in values:
                        best = ir.choose(holds, value, best)
                    return best
                if all(holds == TRUE for holds, _ in values):
                    return make(pick, *(v for _, v in values)) if len(values) > 1 else values[0][1]
                if default is None:
                    default = self.nothing(
                        span, min(v.low for _, v in values), max(v.high for _, v in values)
                    )
                worst = -ir.FAR if pick == "max" else ir.FAR
                if isinstance(default, ir.Const) and all(
                    (v.low >= default.value if pick == "max" else v.high <= default.value) for _, v in values
                ):
                    return make(pick, *(ir.choose(h, v, default) for h, v in values), default)
                best = make(pick, *(ir.choose(h, v, const(worst)) for h, v in values), const(worst))
                low, high = min(v.low for _, v in values), max(v.high for _, v in values)
                some = make("or", *(h for h, _ in values))
                best = replace(best, low=low, high=high) if isinstance(best, ir.Op) else best
                return ir.choose(some, best, default)
            case tree.Search(_, "number"):
                count: Expr = FALSE
                for holds, _, _ in places:
                    count = make("+", count, holds)
                return count
            case tree.Search(span, _, _, _, _, otherwise):
                if otherwise is not None:
                    found = self.expr(otherwise, env)
                else:
                    found = self.nothing(span, run.low, run.high)
                for holds, _, value in reversed(places):
                    found = ir.choose(holds, value, found)
                return found
            case tree.Quantify(_, kind, _, _, _, has):
                if kind == "some":
                    return make("or", *(make("and", h, self.expr(has, inner)) for h, inner, _ in places))
                return make(
                    "and", *(make("or", ir.negate(h), self.expr(has, inner)) for h, inner, _ in places)
                )
        raise AssertionError(node)

    def nothing(self, span: Span, low: int, high: int) -> Expr:
        """Makes the error that a search found nothing and says nothing of that case."""
        return ir.Checked(low, high, const(low - 1), self.site(span), "none")

    def _looped(self, node: tree.Fold | tree.Search | tree.Quantify, env: Env) -> Expr:
        """Makes a function with a loop for a long search; what it uses of the locals become its parameters."""
        names: list[str] = []
        bounds: list[tuple[int, int]] = []
        values: list[Expr] = []
        inner = Env()
        for local in dict.fromkeys(r for n in walk(node) if isinstance(r := self.checked.refs.get(n), Local)):
            value = env.locals.get(local)
            if value is None:
                continue
            if isinstance(value, ir.Const):
                inner = inner.bind(local, value)
                continue
            names.append(self.fresh(local.name))
            bounds.append((value.low, value.high))
            values.append(value)
            inner = inner.bind(local, ir.Temp(value.low, value.high, names[-1]))
        if env.actor is not None and any(isinstance(self.checked.refs.get(n), ActorRef) for n in walk(node)):
            inner.actor = env.actor
            if not isinstance(env.actor, ir.Const):
                names.append(self.fresh("actor"))
                bounds.append((env.actor.low, env.actor.high))
                values.append(env.actor)
                inner.actor = ir.Temp(env.actor.low, env.actor.high, names[-1])
        name = self.fresh("search")
        function = ir.Function(name, tuple(names), (), "value", (-ir.FAR, ir.FAR), tuple(bounds))
        self.functions[name] = function
        function.body, function.bounds = self._loop_body(node, inner)
        return ir.Call(*function.bounds, name, tuple(values))

    def _loop_body(
        self, node: tree.Fold | tree.Search | tree.Quantify, env: Env
    ) -> tuple[tuple[ir.Stmt, ...], tuple[int, int]]:
        run = self.run(node.domain, env)
        k = ir.Temp(0, max(0, run.bound - 1), self.fresh("k"))
        last: Expr = const(run.bound - 1)
        if run.last is not None:
            last = run.last
            env = env.knowing(run.holds(k))
            run = replace(run, holds=lambda k: TRUE)
        holds, inner, value = self._step(node, run, k, env)

        def loop(*body: ir.Stmt) -> ir.Stmt:
            return ir.For(k.name, FALSE, last, body if holds == TRUE else (ir.If(holds, body),))

        step: Expr
        start: Expr
        match node:
            case tree.Search(span, "first", _, _, _, otherwise):
                end = (
                    self.expr(otherwise, env)
                    if otherwise is not None
                    else self.nothing(span, run.low, run.high)
                )
                bounds = (min(value.low, end.low), max(value.high, end.high))
                return (loop(ir.Return(value)), ir.Return(end)), bounds
            case tree.Quantify(_, kind, _, _, _, has):
                test = self.expr(has, inner)
                if kind == "every":
                    test = ir.negate(test)
                found = ir.If(test, (ir.Return(const(int(kind == "some"))),))
                return (loop(found), ir.Return(const(int(kind == "every")))), (0, 1)
            case tree.Search():
                step, start, low, high = TRUE, FALSE, 0, run.bound
                combine = "+"
            case tree.Fold(_, kind, body):
                step = self.expr(body, inner)
                if kind == "sum":
                    start, combine = FALSE, "+"
                    low, high = min(0, step.low) * run.bound, max(0, step.high) * run.bound
                else:
                    combine = "max" if kind == "largest" else "min"
                    start = const(-ir.FAR if kind == "largest" else ir.FAR)
                    low, high = step.low, step.high
        total = ir.Temp(-ir.FAR, ir.FAR, self.fresh("total"))
        better = ir.SetTemp(total.name, make(combine, total, step))
        out: list[ir.Stmt] = [ir.SetTemp(total.name, start), loop(better)]
        if isinstance(node, tree.Fold) and node.kind != "sum":
            end = (
                self.expr(node.otherwise, env)
                if node.otherwise is not None
                else self.nothing(node.span, low, high)
            )
            out.append(ir.If(make("=", total, start), (ir.Return(end),)))
            low, high = min(low, end.low), max(high, end.high)
        out.append(ir.Return(total))
        return tuple(out), (low, high)
