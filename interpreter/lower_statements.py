"""Lowers statements, in two ways.

Statements in which the game cannot stop become structured code (`structured`). Those that may ask, roll or end the
game are cut into basic blocks (`blocks`); what must outlive the wait, locals and the way back to the caller, gets
slots of the position. As rules never come back to themselves, each has one frame of slots.
"""

from __future__ import annotations

from msgspec.structs import replace

from ..grammar import tree
from ..grammar.span import Span
from ..grammar.walk import walk
from . import program as ir
from .environment import Env, Pile, Run, raised
from .layout import FREE
from .lower_searches import SearchLowering
from .program import FALSE, TRUE, Expr, const, make
from .symbols import ActorRef, Callable, Local, Variable
from .types import EmptyType, PileType, SetType

UNROLLED_BODY = 70
"""How many nodes a loop's body may have, times its turns, and still be written out."""


class Code:
    """A list of statements being made, with the environment after them."""

    def __init__(self, env: Env) -> None:
        self.out: list[ir.Stmt] = []
        self.env = env

    def add(self, statement: ir.Stmt) -> None:
        """Appends a statement; what was known of the position may no longer hold."""
        self.out.append(statement)
        if not isinstance(statement, ir.SetTemp | ir.Tell):
            self.env = replace(self.env, facts=frozenset())


class StatementLowering(SearchLowering):
    """Lowers statements in which the game cannot stop."""

    texts: list[ir.Text]
    actor_users: dict[str, bool]

    # ------------------------------------------------------------------------------------------------- structured

    def structured(self, body: tuple[tree.Statement, ...], env: Env) -> tuple[ir.Stmt, ...]:
        """Lowers statements in which the game cannot stop."""
        code = Code(env)
        for i, s in enumerate(body):
            if isinstance(s, tree.Skip) and s.when is not None:
                test = self.flag(s.when, code.env)
                if not s.unless:
                    test = ir.negate(test)
                if test == FALSE:
                    break
                if test != TRUE:
                    rest = self.structured(body[i + 1 :], code.env.knowing(test))
                    if rest:
                        code.add(ir.If(test, rest))
                    break
                continue
            self.statement(s, code)
        return tuple(code.out)

    def statement(self, s: tree.Statement, code: Code) -> None:
        """Lowers one statement in which the game cannot stop, onto `code`."""
        env = code.env
        match s:
            case tree.Let(_, name, value):
                bound = self.expr(value, env)
                local = self.checked.locals[name]
                if not isinstance(bound, ir.Const | ir.Temp):
                    temp = ir.Temp(bound.low, bound.high, self.fresh(name.text))
                    code.add(ir.SetTemp(temp.name, bound))
                    bound = temp
                code.env = code.env.bind(local, bound)
            case tree.Assign(span, target, value):
                self._assign(target, value, span, code)
            case tree.Adjust(span, target, amount, sign):
                laid, offset = self._target(target, env)
                old = ir.load_at(laid.slot, self.total(laid), offset, laid.low, laid.high)
                new = make("+" if sign > 0 else "-", old, self.expr(amount, env))
                self._store(laid, offset, new, span, code)
            case tree.Add(span, item, target):
                laid, offset = self._target(target, env)
                old = ir.load_at(laid.slot, self.total(laid), offset, laid.low, laid.high)
                bit = self.fit(self.expr(item, env), 0, 61, item, env)
                self._store(laid, offset, make("union", old, make("one", bit)), span, code)
            case tree.Remove(span, item, target):
                if isinstance(self.checked.types[target], PileType):
                    self._remove_from_pile(s, self._settled_pile(target, code), item, code)
                    return
                laid, offset = self._target(target, env)
                old = ir.load_at(laid.slot, self.total(laid), offset, laid.low, laid.high)
                bit = self.fit(self.expr(item, env), 0, 61, item, env)
                self._store(laid, offset, make("without", old, make("one", bit)), span, code)
            case tree.Put(span, item, target, where):
                self._put(self._settled_pile(target, code), self.expr(item, env), item, where, span, code)
            case tree.Take(span, target, which):
                pile = self._settled_pile(target, code)
                if which == "top":
                    self._shorten(pile, span, code)
                    return
                place: Expr = FALSE
                if isinstance(which, tree.Expr):
                    place = make("-", self.fit(self.expr(which, env), 1, pile.capacity, which, env), TRUE)
                self._close_gap(pile, self.hold(place, code), span, code)
            case tree.Transfer(span, count, source, target):
                self._transfer(
                    self._settled_pile(source, code), self._settled_pile(target, code), count, span, code
                )
            case tree.Stop(_, when):
                test = TRUE if when is None else self.flag(when, env)
                if test == TRUE:
                    code.add(ir.Break())
                elif test != FALSE:
                    code.add(ir.If(test, (ir.Break(),)))
                    code.env = env.knowing(ir.negate(test))
            case tree.Skip():
                code.add(ir.Continue())
            case tree.Tell(span, to, text):
                number, values = self.text(text, env)
                who = self.expr(to, env) if to is not None else None
                code.add(ir.Tell(number, values, who, self.site(span)))
            case tree.Call(_, name, arguments):
                self._call_rule(s, arguments, code)
            case tree.If(_, condition, then, otherwise):
                test = self.flag(condition, env)
                if isinstance(test, ir.Const):
                    self._inside(then if test.value else otherwise, code)
                    return
                a = self.structured(then, env.knowing(test))
                b = self.structured(otherwise, env.knowing(ir.negate(test)))
                if a or b:
                    code.add(ir.If(test, a, b) if a else ir.If(ir.negate(test), b))
            case tree.Match(_, subject, cases):
                self._match(self.cases(subject, cases, env), code)
            case tree.For():
                self._for(s, code)
            case tree.Repeat():
                self._repeat(s, code)
            case _:
                raise AssertionError(s)

    def _inside(self, body: tuple[tree.Statement, ...], code: Code) -> None:
        locals_ = code.env.locals
        inner = self.structured(body, code.env)
        for s in inner:
            code.add(s)
        code.env = replace(code.env, locals=locals_)

    def _match(self, cases: list[tuple[Expr, tree.Case]], code: Code) -> None:
        chain: tuple[ir.Stmt, ...] = ()
        for test, case in reversed(cases):
            body = self.structured(case.body, code.env.knowing(test))
            chain = body if test == TRUE else (ir.If(test, body, chain),)
        for s in chain:
            code.add(s)

    def hold(self, value: Expr, code: Code) -> Expr:
        """Works a value out once, before what follows changes the position."""
        if isinstance(value, ir.Const | ir.Temp):
            return value
        temp = ir.Temp(value.low, value.high, self.fresh("held"))
        code.add(ir.SetTemp(temp.name, value))
        return temp

    # ---------------------------------------------------------------------------------------------------- changes

    def _target(self, node: tree.Expr, env: Env) -> tuple[ir.Variable, Expr]:
        while isinstance(node, tree.Group):
            node = node.inner
        base = node.value if isinstance(node, tree.Index) else node
        ref = self.checked.refs[base]
        assert isinstance(ref, Variable)
        return self.element(ref, node.indices if isinstance(node, tree.Index) else (), env)

    def _settled_pile(self, node: tree.Expr, code: Code) -> Pile:
        """Finds a pile that is about to change: which one it is, is worked out before anything changes."""
        pile = self.pile(node, code.env)
        return replace(pile, offset=self.hold(pile.offset, code))

    def _store(self, laid: ir.Variable, offset: Expr, value: Expr, span: Span, code: Code) -> None:
        if value.high < laid.low or value.low > laid.high:
            self.report.error(
                "range", f"this leaves the range of '{laid.name}', {laid.low} to {laid.high}", span
            )
            return
        if value.low < laid.low:
            value = raised(value, code.env)
        value = ir.checked(value, laid.low, laid.high, self.site(span), "range")
        code.add(ir.store_at(laid.slot, self.total(laid), offset, value, self.site(span)))

    def _assign(self, target: tree.Expr, value: tree.Expr, span: Span, code: Code) -> None:
        env = code.env
        type_ = self.checked.types[target]
        if not isinstance(type_, PileType):
            laid, offset = self._target(target, env)
            new = self.expr(value, env)
            self._store(laid, offset, new, span, code)
            return
        pile = self._settled_pile(target, code)
        while isinstance(value, tree.Group):
            value = value.inner
        if isinstance(self.checked.types[value], EmptyType):
            items: list[Expr] = []
        elif isinstance(value, tree.Collection):
            items = [self.hold(self._item_value(self.expr(i, env), pile, i, env), code) for i in value.items]
        else:
            self._copy(self._settled_pile(value, code), pile, span, code)
            return
        if len(items) > pile.capacity:
            self.report.error("range", f"the pile holds up to {pile.capacity}", span)
            return
        site = self.site(span)
        code.add(ir.store_at(pile.base, pile.size, pile.offset, const(len(items)), site))
        for k in range(pile.capacity):
            item = items[k] if k < len(items) else const(pile.low)
            code.add(self._set_item(pile, const(k), item, site))

    def _item_value(self, value: Expr, pile: Pile, node: tree.Node, env: Env) -> Expr:
        return self.fit(value, pile.low, pile.high, node, env)

    def _set_item(self, pile: Pile, place: Expr, value: Expr, site: int) -> ir.Stmt:
        index = make("+", make("+", pile.offset, TRUE), place)
        return ir.store_at(pile.base, pile.size, index, value, site)

    def _set_length(self, pile: Pile, length: Expr, site: int) -> ir.Stmt:
        length = ir.checked(length, 0, pile.capacity, site, "range")
        return ir.store_at(pile.base, pile.size, pile.offset, length, site)

    def _copy(self, source: Pile, target: Pile, span: Span, code: Code) -> None:
        site = self.site(span)
        code.add(self._set_length(target, source.length, site))
        k = ir.Temp(0, target.capacity - 1, self.fresh("k"))
        if source.capacity < target.capacity:
            value = ir.choose(
                make("<", k, source.length),
                source.item(make("min", k, const(source.capacity - 1))),
                const(target.low),
            )
        else:
            value = source.item(k)
        code.add(ir.For(k.name, FALSE, const(target.capacity - 1), (self._set_item(target, k, value, site),)))

    def _put(self, pile: Pile, value: Expr, node: tree.Expr, where: str, span: Span, code: Code) -> None:
        site = self.site(span)
        value = self.hold(self._item_value(value, pile, node, code.env), code)
        n = self.hold(ir.checked(pile.length, 0, pile.capacity - 1, site, "range"), code)
        if where == "top":
            code.add(self._set_item(pile, n, value, site))
        else:
            k = ir.Temp(0, max(0, pile.capacity - 2), self.fresh("k"))
            back = make("-", make("-", n, TRUE), k)
            back = replace(back, low=0, high=max(0, pile.capacity - 2)) if isinstance(back, ir.Op) else back
            shift = self._set_item(pile, make("+", back, TRUE), pile.item(back), site)
            code.add(ir.For(k.name, FALSE, make("-", n, TRUE), (shift,)))
            code.add(self._set_item(pile, FALSE, value, site))
        code.add(ir.store_at(pile.base, pile.size, pile.offset, make("+", n, TRUE), site))

    def _shorten(self, pile: Pile, span: Span, code: Code) -> None:
        site = self.site(span)
        n = self.hold(ir.checked(pile.length, 1, pile.capacity, site, "range"), code)
        last = make("-", n, TRUE)
        code.add(self._set_item(pile, last, const(pile.low), site))
        code.add(ir.store_at(pile.base, pile.size, pile.offset, last, site))

    def _close_gap(self, pile: Pile, place: Expr, span: Span, code: Code) -> None:
        """Takes the item at `place` (from 0) out; those above move down."""
        site = self.site(span)
        n = self.hold(ir.checked(pile.length, 1, pile.capacity, site, "range"), code)
        if isinstance(place, ir.Temp):
            code.add(
                ir.If(
                    make("<=", n, place),
                    (ir.SetTemp(place.name, ir.Checked(0, place.high, const(-1), site, "index")),),
                )
            )
        if pile.capacity > 1:
            k = ir.Temp(0, pile.capacity - 2, self.fresh("k"))
            shift = self._set_item(pile, k, pile.item(make("+", k, TRUE)), site)
            code.add(ir.For(k.name, place, make("-", n, const(2)), (shift,)))
        last = make("-", n, TRUE)
        code.add(self._set_item(pile, last, const(pile.low), site))
        code.add(ir.store_at(pile.base, pile.size, pile.offset, last, site))

    def _remove_from_pile(self, s: tree.Remove, pile: Pile, item: tree.Expr, code: Code) -> None:
        site = self.site(s.span)
        value = self.hold(self.expr(item, code.env), code)
        at = ir.Temp(0, pile.capacity - 1, self.fresh("at"))
        code.add(ir.SetTemp(at.name, const(-1)))
        k = ir.Temp(0, pile.capacity - 1, self.fresh("k"))
        found = make("and", make("<", k, pile.length), make("=", pile.item(k), value))
        code.add(
            ir.For(
                k.name, FALSE, const(pile.capacity - 1), (ir.If(found, (ir.SetTemp(at.name, k), ir.Break())),)
            )
        )
        unknown = ir.Temp(-1, pile.capacity - 1, at.name)
        code.add(ir.SetTemp(at.name, ir.checked(unknown, 0, pile.capacity - 1, site, "index")))
        self._close_gap(pile, at, s.span, code)

    def _transfer(self, source: Pile, target: Pile, count: tree.Expr, span: Span, code: Code) -> None:
        site = self.site(span)
        most = min(source.capacity, target.capacity)
        n = self.hold(self.fit(self.expr(count, code.env), 0, most, count, code.env), code)
        had = self.hold(source.length, code)
        left = self.hold(ir.checked(make("-", had, n), 0, source.capacity, site, "range"), code)
        base = self.hold(target.length, code)
        total = self.hold(ir.checked(make("+", base, n), 0, target.capacity, site, "range"), code)
        k = ir.Temp(0, most - 1, self.fresh("k"))
        place = make("+", left, k)
        place = replace(place, high=source.capacity - 1) if isinstance(place, ir.Op) else place
        into = make("+", base, k)
        into = replace(into, high=target.capacity - 1) if isinstance(into, ir.Op) else into
        move = (
            self._set_item(target, into, source.item(place), site),
            self._set_item(source, place, const(source.low), site),
        )
        code.add(ir.For(k.name, FALSE, make("-", n, TRUE), move))
        code.add(ir.store_at(source.base, source.size, source.offset, left, site))
        code.add(ir.store_at(target.base, target.size, target.offset, total, site))

    # ------------------------------------------------------------------------------------------------------ loops

    def _unrolls(self, s: tree.For, run: Run) -> bool:
        """Tests if a loop is written out: short, and left only by skipping from the top of its body."""
        if s.forever or run.bound > 8:
            return False
        nodes = 0
        for i, statement in enumerate(s.body):
            for n in walk(statement):
                nodes += 1
                if isinstance(n, tree.Stop) or (
                    isinstance(n, tree.Skip) and (n is not statement or n.when is None)
                ):
                    return False
            if isinstance(statement, tree.Skip) and i > 0 and statement.when is None:
                return False
        return nodes * run.bound <= UNROLLED_BODY * 4

    def _for(self, s: tree.For, code: Code) -> None:
        local = self.checked.locals[s.variable]
        run = self._settled(self.run(s.domain, code.env), s, code)
        if self._unrolls(s, run):
            for k in range(run.bound):
                holds = run.holds(const(k))
                if holds == FALSE:
                    continue
                value = run.value(const(k))
                inner = code.env.bind(local, value)
                test = self._where(s.where, inner.knowing(holds), holds)
                if test == FALSE:
                    continue
                if not isinstance(value, ir.Const | ir.Temp) and test != TRUE:
                    # the position may change while the body runs
                    temp = ir.Temp(value.low, value.high, self.fresh(s.variable.text))
                    body = (
                        ir.SetTemp(temp.name, value),
                        *self.structured(s.body, code.env.bind(local, temp)),
                    )
                elif not isinstance(value, ir.Const | ir.Temp):
                    held = self.hold(value, code)
                    body = self.structured(s.body, code.env.bind(local, held))
                else:
                    body = self.structured(s.body, inner.knowing(test))
                for statement in body if test == TRUE else ((ir.If(test, body),) if body else ()):
                    code.add(statement)
            return
        bare = replace(code.env, facts=frozenset())
        turn = ir.Temp(0, max(0, run.bound - 1), self.fresh("k"))
        if s.forever:
            self._forever(s, run, turn, bare, code)
            return
        holds = run.holds(turn)
        value = run.value(turn)
        temp = ir.Temp(value.low, value.high, self.fresh(s.variable.text))
        inner = bare.bind(local, temp).knowing(holds)
        test = TRUE if s.where is None else self.flag(s.where, inner)
        body = self.structured(s.body, inner.knowing(test))
        if test != TRUE:
            body = (ir.If(test, body),)
        body = (ir.SetTemp(temp.name, value), *body)
        if holds != TRUE:
            body = (ir.If(holds, body),)
        code.add(ir.For(turn.name, FALSE, const(run.bound - 1), body))

    def _settled(self, run: Run, s: tree.For, code: Code) -> Run:
        """Works out once, before the loop, what it starts from."""
        match s.domain:
            case tree.Clockwise(_, _, after) if run.start is not None and not isinstance(run.start, ir.Const):
                start = self.hold(run.start, code)
                n = const(run.bound)
                shift = TRUE if after else FALSE
                return replace(run, value=lambda k: make("mod", make("+", make("+", start, shift), k), n))
            case tree.Range(_, low_node, high_node):
                low = self.hold(self.expr(low_node, code.env), code)
                high = self.hold(self.expr(high_node, code.env), code)
                top = max(low.low, high.high)
                return replace(
                    run,
                    holds=lambda k: make("<=", make("+", low, k), high),
                    value=lambda k: _within(make("+", low, k), low.low, top),
                )
            case tree.Members(_, of) if isinstance(self.checked.types[of], PileType):
                return self.pile_run(self._settled_pile(of, code))
            case _:
                return run

    def _forever(self, s: tree.For, run: Run, k: ir.Temp, env: Env, code: Code) -> None:
        local = self.checked.locals[s.variable]
        temp = ir.Temp(run.low, run.high, self.fresh(s.variable.text))
        inner = env.bind(local, temp)
        test = TRUE if s.where is None else self.flag(s.where, inner)
        body = self.structured(s.body, inner.knowing(test))
        turn = make("mod", make("+", k, TRUE), const(run.bound))
        advance = ir.SetTemp(k.name, turn)
        code.add(ir.SetTemp(k.name, const(run.bound - 1)))
        loop = (
            advance,
            ir.SetTemp(temp.name, run.value(k)),
            *(body if test == TRUE else (ir.If(test, body),)),
        )
        code.add(ir.Loop(loop, self.site(s.span)))

    def _where(self, where: tree.Expr | None, env: Env, holds: Expr) -> Expr:
        return holds if where is None else make("and", holds, self.flag(where, env))

    def _repeat(self, s: tree.Repeat, code: Code) -> None:
        bare = replace(code.env, facts=frozenset())
        if s.times is not None:
            times = self.expr(s.times, code.env)
            k = self.fresh("k")
            body = self.structured(s.body, bare)
            code.add(ir.For(k, TRUE, times, body))
            return
        if s.condition is None:
            code.add(ir.Loop(self.structured(s.body, bare), self.site(s.span)))
            return
        test = self.flag(s.condition, bare)
        body = self.structured(s.body, bare.knowing(test))
        code.add(ir.Loop((ir.If(ir.negate(test), (ir.Break(),)), *body), self.site(s.span)))

    # ------------------------------------------------------------------------------------------- rules and texts

    def _call_rule(self, s: tree.Call, arguments: tuple[tree.Expr, ...], code: Code) -> None:
        symbol = self.checked.refs[s]
        assert isinstance(symbol, Callable)
        values = self.rule_arguments(symbol, arguments, code.env)
        if self.uses_actor(symbol):
            assert code.env.actor is not None
            values = [code.env.actor, *values]
        code.add(ir.Do(self.procedure(symbol), tuple(values)))

    def rule_arguments(self, symbol: Callable, arguments: tuple[tree.Expr, ...], env: Env) -> list[Expr]:
        """Lowers the arguments of a rule's call."""
        assert isinstance(symbol.node, tree.Rule)
        return [
            self.argument(a, p, param.type, env)
            for a, p, param in zip(arguments, symbol.params, symbol.node.params, strict=True)
        ]

    def uses_actor(self, symbol: Callable) -> bool:
        """Tests if a rule speaks of `actor`, itself or through rules it calls."""
        known = self.actor_users.get(symbol.name)
        if known is None:
            known = self.actor_users[symbol.name] = self._speaks_of_actor(symbol)
        return known

    def _speaks_of_actor(self, symbol: Callable) -> bool:
        for n in walk(symbol.node):
            ref = self.checked.refs.get(n)
            if isinstance(ref, ActorRef):
                return True
            if isinstance(n, tree.Call) and isinstance(ref, Callable) and self.uses_actor(ref):
                return True
        return False

    def procedure(self, symbol: Callable) -> str:
        """Gets the procedure of a rule or move in which the game cannot stop, making it first if need be."""
        node = symbol.node
        assert isinstance(node, tree.Rule | tree.Move)
        name = f"{'r' if isinstance(node, tree.Rule) else 'm'}_{symbol.name}"
        if name in self.functions:
            return name
        names, bounds = [], []
        env = Env()
        if isinstance(node, tree.Move) or self.uses_actor(symbol):
            names.append("actor")
            bounds.append((0, len(self.checked.player.entries) - 1))
            env.actor = ir.Temp(*bounds[0], "actor")
        for p, local in zip(node.params, symbol.params, strict=True):
            shape = self.param_shape(p.type, env)[0] if isinstance(node, tree.Move) else self.shape(p.type)
            names.append(f"{p.name.text}_")
            bounds.append((shape.low, shape.high))
            env = env.bind(local, ir.Temp(shape.low, shape.high, names[-1]))
        function = ir.Function(name, tuple(names), (), "procedure", parameter_bounds=tuple(bounds))
        self.functions[name] = function
        function.body = self.structured(node.body, env)
        return name

    def text(self, template: tree.Template, env: Env) -> tuple[int, tuple[Expr, ...]]:
        """Registers a text and lowers the values of its placeholders."""
        values = []
        keys, types = [], []
        for piece in template.pieces:
            if isinstance(piece, str):
                continue
            values.append(self._shown(piece, env))
            keys.append(piece.span.text)
            types.append(self.checked.types[piece])
        self.texts.append(ir.Text(template.text, template.span, tuple(keys), tuple(types)))
        return len(self.texts) - 1, tuple(values)

    def _shown(self, node: tree.Expr, env: Env) -> Expr:
        type_ = self.checked.types[node]
        if isinstance(type_, PileType) or (isinstance(type_, SetType) and False):
            return self.pile(node, env).length
        return self.expr(node, env)


def _within(value: Expr, low: int, high: int) -> Expr:
    if isinstance(value, ir.Op):
        return replace(value, low=max(value.low, low), high=min(value.high, high))
    return value


__all__ = ["FREE", "Code", "Local", "StatementLowering"]
