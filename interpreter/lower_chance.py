"""Lowers chance: rolls, draws and shuffles become chance nodes, each drawing from the stream of its name."""

from __future__ import annotations

from ..grammar import tree
from . import program as ir
from .environment import Env
from .layout import FREE
from .lower_blocks import BlockLowering, reach
from .program import FALSE, TRUE, Expr, const, make
from .symbols import Variable
from .types import SetType


class ChanceLowering(BlockLowering):
    """Lowers the statements that leave something to chance."""

    chances: list[ir.ChanceNode]
    streams: dict[str, int]

    def stream(self, name: str) -> tuple[int, int]:
        """Gets the number of a stream of chance; its row counter has slot -1 - number until the layout is done."""
        number = self.streams.setdefault(name, len(self.streams))
        return number, -1 - number

    def _next_row(self, row: int, site: int) -> None:
        old = ir.Load(0, FREE, row)
        self.code.add(ir.Store(row, ir.Op(0, FREE, "+", (old, TRUE)), -1))

    def _chance(
        self,
        site: int,
        stream: tuple[int, int],
        ordinal: Expr,
        low: int,
        count: Expr,
        weights: str,
        target: tuple[int, int, Expr],
    ) -> None:
        block = self.waits()
        after = self.new_block()
        number = len(self.chances)
        base, size, index = target
        self.chances.append(
            ir.ChanceNode(
                number,
                block.number,
                site,
                stream[0],
                stream[1],
                ordinal,
                low,
                count,
                weights,
                base,
                size,
                index,
                after.number,
            )
        )
        env = self.close(ir.Chance(number))
        self.start_block(after, env)

    def roll(self, s: tree.Roll) -> None:
        base = s.target.value if isinstance(s.target, tree.Index) else s.target
        ref = self.checked.refs[base]
        assert isinstance(ref, Variable)
        stream = self.stream(ref.name)
        site = self.site(s.span)
        indices = s.target.indices if isinstance(s.target, tree.Index) else ()
        if s.variable is None or s.domain is None:
            laid, offset = self.element(ref, indices, self.code.env)
            if not isinstance(offset, ir.Const):
                offset = self.keep(offset)
            count = const(laid.high - laid.low + 1)
            self._chance(site, stream, FALSE, laid.low, count, "", (laid.slot, self.total(laid), offset))
            self._next_row(stream[1], site)
            return
        env = self.code.env
        local = self.checked.locals[s.variable]
        run = self.settle(s.domain)
        k, ordinal = self.counter(run.bound), self.counter(run.bound)
        head, inside, step, after = (self.new_block() for _ in range(4))
        self.code.add(ir.Store(k.slot, FALSE, -1))
        self.code.add(ir.Store(ordinal.slot, FALSE, -1))
        self.close(ir.Jump(head.number))
        self.start_block(head, env)
        self.close(ir.Branch(make("<", k, const(run.bound)), inside.number, after.number))
        self.start_block(inside, env)
        place = reach(k, run.bound)
        self.leave(ir.negate(run.holds(place)), step.number)
        inner = self.code.env.bind(local, run.value(place))
        if s.where is not None:
            self.leave(ir.negate(self.flag(s.where, inner)), step.number)
        laid, offset = self.element(ref, indices, inner)
        count = const(laid.high - laid.low + 1)
        self._chance(site, stream, ordinal, laid.low, count, "", (laid.slot, self.total(laid), offset))
        self.code.add(ir.Store(ordinal.slot, ir.Op(0, run.bound, "+", (ordinal, TRUE)), -1))
        self.close(ir.Jump(step.number))
        self.start_block(step, env)
        self.code.add(ir.Store(k.slot, make("+", place, TRUE), -1))
        self.close(ir.Jump(head.number))
        self.start_block(after, env)
        self._next_row(stream[1], site)

    def draw(self, s: tree.Draw) -> None:
        name = s.stream.text if s.stream is not None else self.frame.symbol.name
        stream = self.stream(name)
        site = self.site(s.span)
        env = self.code.env
        run = self.run(s.domain, env)
        low, high = run.low, run.high
        local = self.checked.locals[s.name]
        n = self.slot(low, high)
        weights = ""
        outcome = ir.Temp(low, high, "outcome")
        inner = env.bind(local, outcome)
        weight: Expr = TRUE if s.weight is None else self.expr(s.weight, inner)
        holds = self.drawn_from(s.domain, outcome, env)
        if s.where is not None:
            holds = make("and", holds, self.flag(s.where, inner.knowing(holds)))
        weight = ir.choose(holds, weight, FALSE)
        if weight != TRUE:
            weights = self.fresh("weight")
            body = (ir.Return(weight),)
            self.functions[weights] = ir.Function(
                weights, ("outcome",), body, "value", (weight.low, weight.high), ((low, high),)
            )
        self._chance(site, stream, FALSE, low, const(high - low + 1), weights, (n, 1, FALSE))
        self._next_row(stream[1], site)
        self.code.env = self.code.env.bind(local, ir.Load(low, high, n))

    def drawn_from(self, domain: tree.Domain, outcome: Expr, env: Env) -> Expr:
        """Lowers the test whether `outcome` is a member of `domain`."""
        match domain:
            case tree.Range(_, low, high):
                return make(
                    "and", make("<=", self.expr(low, env), outcome), make("<=", outcome, self.expr(high, env))
                )
            case tree.Clockwise():
                return TRUE
            case tree.Members(_, of):
                run = self.run(domain, env)

                if isinstance(self.checked.types[of], SetType):
                    return run.holds(outcome)
                tests = [
                    make("and", run.holds(const(k)), make("=", run.value(const(k)), outcome))
                    for k in range(run.bound)
                ]
                return make("or", *tests)
        raise AssertionError(domain)

    def shuffle(self, s: tree.Shuffle) -> None:
        """Lowers a shuffle: from the top down each item changes places with one at or below it (Fisher–Yates)."""
        node = s.target
        base = node.value if isinstance(node, tree.Index) else node
        ref = self.checked.refs[base]
        assert isinstance(ref, Variable)
        stream = self.stream(ref.name)
        site = self.site(s.span)
        env = self.code.env
        pile = self.pile(node, env)
        if not isinstance(pile.offset, ir.Const):
            pile.offset = self.keep(pile.offset)
        top = self.counter(pile.capacity)
        other = self.counter(pile.capacity)
        head, inside, after = (self.new_block() for _ in range(3))
        last = make("-", pile.length, TRUE)
        self.code.add(ir.Store(top.slot, make("max", last, FALSE), -1))
        self.close(ir.Jump(head.number))
        self.start_block(head, env)
        self.close(ir.Branch(make("<", FALSE, top), inside.number, after.number))
        self.start_block(inside, env)
        count = ir.Op(1, pile.capacity, "+", (top, TRUE))
        self._chance(site, stream, top, 0, count, "", (other.slot, 1, FALSE))
        a, b = reach(top, pile.capacity), reach(other, pile.capacity)
        held = self.hold(pile.item(a), self.code)
        self.code.add(self._set_item(pile, a, pile.item(b), site))
        self.code.add(self._set_item(pile, b, held, site))
        self.code.add(ir.Store(top.slot, ir.Op(0, top.high, "-", (top, TRUE)), -1))
        self.close(ir.Jump(head.number))
        self.start_block(after, env)
        self.code.add(ir.Store(other.slot, FALSE, -1))
        self._next_row(stream[1], site)
