"""Lowers expressions: from the syntax tree to the folded expressions of the intermediate program.

Readings, table values and the number of players are constants here, so branches that were not chosen fold away.
Defines are put in place where that is cheap, else called.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TypeVar

from msgspec.structs import replace

from ..grammar import tree
from ..grammar.walk import walk
from . import program as ir
from .environment import Env, lasts, narrowed, raised, simple, size
from .layout import Shape
from .lower_values import ValueLowering
from .program import FALSE, TRUE, Expr, const, make
from .symbols import AllRef, BuiltinRef, Callable, EntryRef, Local
from .types import EmptyType, EnumType, ListType, PileType, SetType, Type

_Case = TypeVar("_Case", tree.Case, tree.ResultCase)

INLINE_SIZE = 22
"""How large a define's value may be and still be put in place of its call."""


class ExpressionLowering(ValueLowering):
    """Lowers expressions of a checked rule set."""

    @abstractmethod
    def search(self, node: tree.Fold | tree.Search | tree.Quantify, env: Env) -> Expr:
        """Lowers a search over the members of a domain."""

    # ------------------------------------------------------------------------------------------------ expressions

    def expr(self, node: tree.Expr, env: Env) -> Expr:
        """Lowers an expression that gives one number."""
        match node:
            case tree.Number(_, value):
                return const(value)
            case tree.Group(_, inner):
                return self.expr(inner, env)
            case tree.Name():
                return self.name(node, env)
            case tree.Constant(_, word):
                ref = self.checked.refs.get(node)
                if isinstance(ref, EntryRef):
                    return self.entry(ref)
                return const({"yes": 1, "no": 0, "none": -1, "empty": 0}[word])
            case tree.Attribute():
                return self.attribute(node, env)
            case tree.Index():
                return self.index(node, env)
            case tree.Function(_, name, arguments):
                return self._call(node, name, arguments, env)
            case tree.Unary(_, operator, operand):
                return self._unary(node, operator, operand, env)
            case tree.Binary(_, operator, left, right):
                return self._binary(operator, left, right, env)
            case tree.Divide(_, left, right, rounding):
                divisor = self.expr(right, env)
                if divisor == FALSE:
                    self.report.error("range", "this divides by 0", right.span)
                    divisor = TRUE
                if divisor.low <= 0 <= divisor.high:
                    if divisor.low == 0:
                        divisor = ir.checked(divisor, 1, divisor.high, self.site(right.span), "zero")
                    else:
                        self.report.error(
                            "range", "this may divide by a number that is not positive", right.span
                        )
                return make("//" if rounding != "up" else "ceil", self.expr(left, env), divisor)
            case tree.Conditional(_, value, condition, otherwise):
                test = self.expr(condition, env)
                return ir.choose(
                    test,
                    self.expr(value, env.knowing(test)) if test != FALSE else FALSE,
                    self.expr(otherwise, env.knowing(ir.negate(test))) if test != TRUE else FALSE,
                )
            case tree.Collection(_, _, items):
                members: Expr = FALSE
                for item in items:
                    i = self.fit(self.expr(item, env), 0, 61, item, env)
                    members = make("union", members, make("one", i))
                return members
            case tree.Fold() | tree.Search() | tree.Quantify():
                return self.search(node, env)
        raise AssertionError(node)

    def flag(self, node: tree.Expr, env: Env) -> Expr:
        """Lowers a condition."""
        return self.expr(node, env)

    # ---------------------------------------------------------------------------------------------- calls, inlined

    def _call(self, node: tree.Function, name: tree.Word, arguments: tuple[tree.Expr, ...], env: Env) -> Expr:
        ref = self.checked.refs[node]
        if isinstance(ref, BuiltinRef):
            values = [self.expr(a, env) for a in arguments]
            players = len(self.checked.player.entries)
            match ref.name:
                case "min" | "max":
                    return make(ref.name, *values) if len(values) > 1 else values[0]
                case "abs":
                    return make("max", values[0], make("neg", values[0]))
                case "left_of":
                    seat = self.fit(values[0], 0, players - 1, arguments[0], env)
                    return ir.choose(make("<", seat, const(players - 1)), make("+", seat, TRUE), FALSE)
                case _:
                    return make("+", self.fit(values[0], 0, players - 1, arguments[0], env), TRUE)
        assert isinstance(ref, Callable)
        return self.define(ref, arguments, env, node)

    def define(self, symbol: Callable, arguments: tuple[tree.Expr, ...], env: Env, node: tree.Expr) -> Expr:
        """Lowers the use of a define: in place if that is cheap, else a call."""
        assert isinstance(symbol.node, tree.Define)
        values = [
            self.argument(a, p, param.type, env)
            for a, p, param in zip(arguments, symbol.params, symbol.node.params, strict=True)
        ]
        known = (symbol, tuple((v, v.low, v.high) for v in values), env.facts, id(env.memos))
        found = self.placed.get(known)
        if found is not None:
            return found[0]
        value = self._placed_or_called(symbol, values, env)
        self.placed[known] = value, env.memos  # kept, for another dictionary must not come to have its id
        return value

    def _placed_or_called(self, symbol: Callable, values: list[Expr], env: Env) -> Expr:
        assert isinstance(symbol.node, tree.Define)
        shape_of_call = (symbol.name, env.memos is None, tuple(isinstance(v, ir.Const) for v in values))
        if shape_of_call not in self.too_large and all(
            simple(v) or _uses(symbol, p) <= 1 for v, p in zip(values, symbol.params, strict=True)
        ):
            inner = Env(
                dict(zip(symbol.params, values, strict=True)), env.actor, env.facts, env.memos, env.lasting
            )
            value = self.result(symbol.node.result, inner)
            if value is not None:
                shape = self.shape(symbol.node.type)
                value = self._declared(value, shape, symbol.node.result)
                nodes = size(value)
                if nodes <= INLINE_SIZE:
                    return self.memo(value, env) if nodes >= 5 else value
            self.too_large.add(shape_of_call)
        return self.memo(self._called(symbol, values), env)

    def memo(self, value: Expr, env: Env) -> Expr:
        """Keeps a value for the rest of the options being listed, if it does not depend on a parameter."""
        if env.memos is None or isinstance(value, ir.Const | ir.Load) or not lasts(value, env.lasting):
            return value
        name = env.memos.get(value)
        if name is None:
            name = env.memos[value] = self.fresh("memo")
        return ir.Memo(value.low, value.high, name, value)

    def argument(self, node: tree.Expr, param: Local, type_: tree.TypeExpr, env: Env) -> Expr:
        """Lowers an argument and makes sure it fits the parameter."""
        value = self.expr(node, env)
        shape = self.shape(type_)
        return self.fit(value, shape.low, shape.high, node, env)

    def _declared(self, value: Expr, shape: Shape, result: tree.Result) -> Expr:
        if value.high < shape.low or value.low > shape.high:
            self.report.error("range", f"this is never within {shape.low} to {shape.high}", result.span)
            return const(shape.low)
        return ir.checked(value, shape.low, shape.high, self.site(result.span), "range")

    def _called(self, symbol: Callable, values: list[Expr]) -> Expr:
        assert isinstance(symbol.node, tree.Define)
        name = f"d_{symbol.name}"
        shape = self.shape(symbol.node.type)
        if name not in self.functions:
            names = tuple(f"{p.name}_" for p in symbol.params)
            shapes = [self.shape(p.type) for p in symbol.node.params]
            bounds = tuple((s.low, s.high) for s in shapes)
            self.functions[name] = ir.Function(name, names, (), "value", (shape.low, shape.high), bounds)
            temps = [ir.Temp(s.low, s.high, n) for s, n in zip(shapes, names, strict=True)]
            env = Env(dict(zip(symbol.params, temps, strict=True)), memos={}, lasting=frozenset(names))
            function = self.functions[name]
            function.body = self._returns(symbol.node.result, env, shape)
            given = list(_returned(function.body))
            function.bounds = (min(v.low for v in given), max(v.high for v in given))
        return ir.Call(*self.functions[name].bounds, name, tuple(values))

    def _returns(self, result: tree.Result, env: Env, shape: Shape) -> tuple[ir.Stmt, ...]:
        match result:
            case tree.Value(_, value):
                return (ir.Return(self._declared(self.expr(value, env), shape, result)),)
            case tree.ResultLet(_, name, value, rest):
                bound = self.expr(value, env)
                local = self.checked.locals[name]
                if isinstance(bound, ir.Const):
                    return self._returns(rest, env.bind(local, bound), shape)
                temp = ir.Temp(bound.low, bound.high, self.fresh(name.text))
                env = replace(env.bind(local, temp), lasting=env.lasting | {temp.name})
                return (ir.SetTemp(temp.name, bound), *self._returns(rest, env, shape))
            case tree.ResultIf(_, condition, then, otherwise):
                test = self.expr(condition, env)
                if isinstance(test, ir.Const):
                    return self._returns(then if test.value else otherwise, env, shape)
                return (
                    ir.If(test, self._returns(then, env.knowing(test), shape)),
                    *self._returns(otherwise, env.knowing(ir.negate(test)), shape),
                )
            case tree.ResultMatch():
                out: tuple[ir.Stmt, ...] = ()
                for test, inner in self._result_cases(result, env):
                    body = self._returns(inner, env, shape)
                    if test == TRUE:
                        return (*out, *body)
                    out = (*out, ir.If(test, body))
                return out
        raise AssertionError(result)

    def result(self, result: tree.Result, env: Env) -> Expr | None:
        """Lowers the value of a define as one expression; None if it needs locals."""
        match result:
            case tree.Value(_, value):
                return self.expr(value, env)
            case tree.ResultLet(_, name, value, rest):
                bound = self.expr(value, env)
                local = self.checked.locals[name]
                uses = sum(1 for n in walk(rest) if self.checked.refs.get(n) is local)
                if not (simple(bound) or uses <= 1):
                    return None
                return self.result(rest, env.bind(local, bound))
            case tree.ResultIf(_, condition, then, otherwise):
                test = self.expr(condition, env)
                if isinstance(test, ir.Const):
                    return self.result(then if test.value else otherwise, env)
                a = self.result(then, env.knowing(test))
                b = self.result(otherwise, env.knowing(ir.negate(test)))
                return None if a is None or b is None else ir.choose(test, a, b)
            case tree.ResultMatch():
                chosen: Expr | None = None
                for test, inner in reversed(self._result_cases(result, env)):
                    this = self.result(inner, env)
                    if this is None:
                        return None
                    chosen = this if chosen is None else ir.choose(test, this, chosen)
                return chosen
        raise AssertionError(result)

    def _result_cases(self, match_: tree.ResultMatch, env: Env) -> list[tuple[Expr, tree.Result]]:
        return [(t, c.result) for t, c in self.cases(match_.subject, match_.cases, env)]

    def cases(self, subject: tree.Expr, cases: tuple[_Case, ...], env: Env) -> list[tuple[Expr, _Case]]:
        """Lowers the labels of a match: each case with the test for it; the last one left holds for certain."""
        value = self.expr(subject, env)
        out: list[tuple[Expr, _Case]] = []
        for case in cases:
            tests: list[Expr] = []
            for label in case.labels:
                if label.text == "else":
                    tests.append(TRUE)
                    continue
                ref = self.checked.refs.get(label)
                wanted = self.entry(ref) if isinstance(ref, EntryRef) else const(-1)
                tests.append(make("=", value, wanted))
            test = make("or", *tests)
            if test != FALSE:
                out.append((test, case))
            if test == TRUE:
                return out
        if out:
            out[-1] = (TRUE, out[-1][1])
        return out

    # -------------------------------------------------------------------------------------------------- operators

    def _unary(self, node: tree.Unary, operator: str, operand: tree.Expr, env: Env) -> Expr:
        match operator:
            case "-":
                return make("neg", self.expr(operand, env))
            case "not":
                return ir.negate(self.expr(operand, env))
        type_ = self.checked.types[operand]
        if operator == "length of":
            if isinstance(type_, SetType):
                return make("count", self.expr(operand, env))
            if isinstance(type_, ListType):
                return self.list_of(operand, env)[0]
            return self.pile(operand, env).length
        if isinstance(type_, SetType):
            ref = self.checked.refs[operand]
            assert isinstance(ref, AllRef)
            return const(0 if operator == "first of" else len(ref.enum.entries) - 1)
        if isinstance(type_, ListType):
            length, item, _, _, _ = self.list_of(operand, env)
            return item(FALSE if operator == "first of" else make("-", length, TRUE))
        pile = self.pile(operand, env)
        place = FALSE if operator == "first of" else make("-", pile.length, TRUE)
        value = pile.item(place if operator == "first of" else make("max", place, FALSE))
        if raised(pile.length, env).low > 0:
            return value
        full = make("<", FALSE, pile.length)
        missing = ir.Checked(value.low, value.high, const(pile.low - 1), self.site(node.span), "index")
        return ir.choose(full, value, missing)

    def _binary(self, operator: str, left: tree.Expr, right: tree.Expr, env: Env) -> Expr:
        match operator:
            case "and":
                a = self.expr(left, env)
                return make("and", a, self.expr(right, env.knowing(a))) if a != FALSE else FALSE
            case "or":
                a = self.expr(left, env)
                return make("or", a, self.expr(right, env.knowing(ir.negate(a)))) if a != TRUE else TRUE
            case "+" | "-" | "*":
                return make(operator, self.expr(left, env), self.expr(right, env))
            case "mod":
                divisor = self.expr(right, env)
                if divisor.low <= 0:
                    divisor = ir.checked(divisor, 1, max(1, divisor.high), self.site(right.span), "zero")
                return make("mod", self.expr(left, env), divisor)
            case "in":
                return self._member(left, right, env)
            case "not in":
                return ir.negate(self._member(left, right, env))
            case "is" | "=" | "is not":
                test = self._equal(left, right, env)
                return ir.negate(test) if operator == "is not" else test
            case _:
                a, b = raised(self.expr(left, env), env), raised(self.expr(right, env), env)
                if operator in (">", ">="):
                    a, b = b, a
                return make("<" if operator in ("<", ">") else "<=", a, b)

    def _equal(self, left: tree.Expr, right: tree.Expr, env: Env) -> Expr:
        a, b = self.checked.types[left], self.checked.types[right]
        for pile, other, other_type in ((left, right, b), (right, left, a)):
            if isinstance(self.checked.types[pile], PileType) and not isinstance(pile, tree.Collection):
                length = self.pile(pile, env).length
                if isinstance(other_type, EmptyType):
                    return make("=", length, FALSE)
                return self._equal_piles(pile, other, env)
        return make("=", raised(self.expr(left, env), env), raised(self.expr(right, env), env))

    def _equal_piles(self, left: tree.Expr, right: tree.Expr, env: Env) -> Expr:
        a = self.pile(left, env)
        if isinstance(right, tree.Collection):
            items = [self.expr(i, env) for i in right.items]
            tests = [make("=", a.length, const(len(items)))]
            tests += [make("=", a.item(const(k)), v) for k, v in enumerate(items) if k < a.capacity]
            return make("and", *tests)
        b = self.pile(right, env)
        tests = [make("=", a.length, b.length)]
        for k in range(min(a.capacity, b.capacity)):
            same = make("=", a.item(const(k)), b.item(const(k)))
            tests.append(make("or", make("<=", a.length, const(k)), same))
        return make("and", *tests)

    def _member(self, left: tree.Expr, right: tree.Expr, env: Env) -> Expr:
        type_ = self.checked.types[right]
        item = self.expr(left, env)
        if isinstance(type_, SetType):
            while isinstance(right, tree.Group):
                right = right.inner
            if isinstance(self.checked.refs.get(right), AllRef):
                return make("<=", FALSE, item)
            if isinstance(right, tree.Collection) and _is_large(type_.base):
                return make("or", *(make("=", item, self.expr(i, env)) for i in right.items))
            values = self.expr(right, env)
            inside = make("bit", values, narrowed(item) if item.low < 0 else item)
            return inside if item.low >= 0 else make("and", make("<=", FALSE, item), inside)
        if isinstance(type_, EmptyType):
            return FALSE
        run = self.run(tree.Members(right.span, right), env)
        tests = []
        for k in range(run.bound):
            tests.append(make("and", run.holds(const(k)), make("=", run.value(const(k)), item)))
        return make("or", *tests)


def _returned(body: tuple[ir.Stmt, ...]) -> Iterator[Expr]:
    """Yields what a function may give."""
    for s in body:
        match s:
            case ir.Return(value):
                yield value
            case ir.If(_, then, otherwise):
                yield from _returned(then)
                yield from _returned(otherwise)


def _is_large(base: Type) -> bool:
    """Tests if an enumeration has more entries than a set can hold."""
    return isinstance(base, EnumType) and len(base.entries) > 62


def _uses(symbol: Callable, param: Local) -> int:
    return sum(1 for n in walk(symbol.node) if isinstance(n, tree.Name) and n.text == param.name)
