"""Lowers expressions: from the syntax tree to the folded expressions of the intermediate program.

Readings, table values and the number of players are constants here, so branches that were not chosen fold away. Short
searches over the members of a table are unrolled; long ones become functions with a loop. Defines are put in place
where that is cheap, else called.
"""

from __future__ import annotations

from collections.abc import Callable as Function_
from msgspec import Struct, field
from msgspec.structs import replace
from typing import Literal, TypeVar

from ..grammar import tree
from ..grammar.diagnostics import Report
from ..grammar.span import Span
from ..grammar.walk import walk
from . import program as ir
from .layout import MOST_TEXTS, Shape, Slots
from .program import FALSE, TRUE, Expr, const, make
from .ruleset import Datum, Record, Table
from .symbols import (
    ActorRef,
    AliasRef,
    AllRef,
    BuiltinRef,
    Callable,
    Checked,
    EntryRef,
    Local,
    NumberRef,
    QuestionRef,
    Variable,
)
from .types import (
    FLAG,
    INT,
    EmptyType,
    EnumType,
    ListType,
    OptionalType,
    PileType,
    SetType,
    TextType,
    Type,
)

_Case = TypeVar("_Case", tree.Case, tree.ResultCase)

UNROLLED = 12
"""How many members a search may run over and still be written out."""
INLINE_SIZE = 22
"""How large a define's value may be and still be put in place of its call."""


class Env(Struct):
    """What is known where an expression stands: values of locals, who acts, facts, and a store of memos."""

    locals: dict[Local, Expr] = field(default_factory=dict)
    actor: Expr | None = None
    facts: frozenset[tuple[Expr, int]] = frozenset()
    """Values with a number they are known not to lie below."""
    memos: dict[Expr, str] | None = None
    lasting: frozenset[str] = frozenset()
    """Locals that keep their value for as long as the memos do."""

    def bind(self, local: Local, value: Expr) -> Env:
        """Gets an environment with one more local."""
        return replace(self, locals={**self.locals, local: value})

    def knowing(self, condition: Expr) -> Env:
        """Gets an environment in which `condition` holds."""
        new = _facts(condition)
        return replace(self, facts=self.facts | new) if new else self


def _facts(condition: Expr) -> frozenset[tuple[Expr, int]]:
    match condition:
        case ir.Op(_, _, "and", arguments):
            return frozenset().union(*(_facts(a) for a in arguments))
        case ir.Op(_, _, "!=", (value, ir.Const(_, _, out))) if value.low == out:
            return frozenset([(value, out + 1)])
        case ir.Op(_, _, "<=", (ir.Const(low, _, _), value)):
            return frozenset([(value, low)])
        case ir.Op(_, _, "<", (ir.Const(low, _, _), value)):
            return frozenset([(value, low + 1)])
        case ir.Op(_, _, "=", (value, ir.Const(low, _, _))):
            return frozenset([(value, low)])
        case ir.Memo(_, _, _, value):
            return _facts(value)
        case _:
            return frozenset()


class Pile(Struct):
    """A pile in the position: its length in slot `base` + offset, its items after that, bottom first."""

    base: int
    size: int
    offset: Expr
    capacity: int
    low: int
    high: int

    @property
    def length(self) -> Expr:
        return ir.load_at(self.base, self.size, self.offset, 0, self.capacity)

    def item(self, place: Expr) -> Expr:
        """Gets the item at `place`, from 0."""
        index = make("+", make("+", self.offset, TRUE), place)
        return ir.load_at(self.base, self.size, index, self.low, self.high)


class Run(Struct):
    """What a variable runs over: place k (from 0, below `bound`) holds `value(k)` if `holds(k)`."""

    bound: int
    holds: Function_[[Expr], Expr]
    value: Function_[[Expr], Expr]
    low: int
    high: int
    start: Expr | None = None
    """A value to be worked out once before a loop: `value` is then given it in place of this expression."""


class ExpressionLowering:
    """Lowers expressions of a checked rule set; collects tables, functions and sites on the way."""

    def __init__(self, checked: Checked, report: Report) -> None:
        self.checked = checked
        self.report = report
        self.slots = Slots()
        self.variables: dict[str, ir.Variable] = {}
        self.shapes: dict[str, Shape] = {}
        self.tables: dict[str, tuple[int, ...]] = {}
        self.functions: dict[str, ir.Function] = {}
        self.sites: list[Span] = []
        self.site_numbers: dict[Span, int] = {}
        self.fresh_names = 0
        self.placed: dict[object, Expr] = {}
        self.too_large: set[object] = set()

    # ----------------------------------------------------------------------------------------------------- naming

    def site(self, span: Span) -> int:
        """Gets the number of a place in the rules."""
        number = self.site_numbers.get(span)
        if number is None:
            number = self.site_numbers[span] = len(self.sites)
            self.sites.append(span)
        return number

    def fresh(self, stem: str) -> str:
        """Makes a name no other local or function has."""
        self.fresh_names += 1
        return f"{stem}_{self.fresh_names}"

    # ----------------------------------------------------------------------------------------------------- shapes

    def shape(self, node: tree.TypeExpr) -> Shape:
        """Works out the bounds of a declared type."""
        type_ = _type_of(self, node)
        match node:
            case tree.NamedType(_, name):
                if name in self.checked.enums:
                    return Shape(type_, 0, len(self.checked.enums[name].entries) - 1)
                return self.shape(self.checked.aliases[name].type)
            case tree.RangeType(span, low, high):
                a, b = self.constant(low), self.constant(high)
                if a > b:
                    self.report.error("range", f"the range {a} to {b} is empty", span)
                return Shape(INT, a, max(a, b))
            case tree.FlagType():
                return Shape(FLAG, 0, 1)
            case tree.TextType():
                return Shape(type_, 0, MOST_TEXTS - 1)
            case tree.OptionalType(span, base):
                inner = self.shape(base)
                if inner.low < 0:
                    self.report.error("range", "only numbers from 0 can be none", span)
                return Shape(type_, -1, inner.high)
            case tree.SetType(_, base):
                return Shape(type_, 0, (1 << (self.shape(base).high + 1)) - 1)
            case tree.PileType(_, base, capacity):
                inner = self.shape(base)
                return Shape(type_, inner.low, inner.high, max(1, self.constant(capacity)))
        raise AssertionError(node)

    def param_shape(self, node: tree.TypeExpr, env: Env) -> tuple[Shape, Expr, Expr]:
        """Works out a move parameter's widest bounds and its bounds here and now."""
        if isinstance(node, tree.RangeType):
            low, high = self.expr(node.low, env), self.expr(node.high, env)
            return Shape(INT, low.low, max(low.low, high.high)), low, high
        shape = self.shape(node)
        return shape, const(shape.low), const(shape.high)

    def constant(self, node: tree.Expr) -> int:
        """Works out a number that must be known when loading."""
        value = self.expr(node, Env())
        if isinstance(value, ir.Const):
            return value.value
        self.report.error(
            "not-constant", "this is not known before play", node.span, help="use numbers and tables here"
        )
        return value.low

    # -------------------------------------------------------------------------------------------------- variables

    def element(self, v: Variable, indices: tuple[tree.Expr, ...], env: Env) -> tuple[ir.Variable, Expr]:
        """Gets a variable of the layout and the offset of one of its elements, in slots."""
        laid = self.variables[v.name]
        offset: Expr = FALSE
        for (_, low, count), node in zip(laid.dims, indices, strict=False):
            index = self.expr(node, env)
            index = self.fit(index, low, low + count - 1, node, env)
            offset = make("+", make("*", offset, const(count)), make("-", index, const(low)))
        return laid, make("*", offset, const(laid.width))

    def total(self, laid: ir.Variable) -> int:
        """How many slots a variable takes in all."""
        n = laid.width
        for _, _, count in laid.dims:
            n *= count
        return n

    def fit(self, value: Expr, low: int, high: int, node: tree.Node, env: Env) -> Expr:
        """Makes sure that a value lies within bounds: by knowing, by a fact, or by a check when it runs."""
        if value.low < low:
            value = raised(value, env)
        why: Literal["none", "index"] = (
            "none" if value.low == -1 and low == 0 and value.high <= high else "index"
        )
        if value.high < low or value.low > high:
            self.report.error("range", f"this is never within {low} to {high}", node.span)
            return const(low)
        return ir.checked(value, low, high, self.site(node.span), why)

    # ------------------------------------------------------------------------------------------------ expressions

    def expr(self, node: tree.Expr, env: Env) -> Expr:
        """Lowers an expression that gives one number."""
        match node:
            case tree.Number(_, value):
                return const(value)
            case tree.Group(_, inner):
                return self.expr(inner, env)
            case tree.Name():
                return self._name(node, env)
            case tree.Constant(_, word):
                ref = self.checked.refs.get(node)
                if isinstance(ref, EntryRef):
                    return self._entry(ref)
                return const({"yes": 1, "no": 0, "none": -1, "empty": 0}[word])
            case tree.Attribute():
                return self._attribute(node, env)
            case tree.Index():
                return self._index(node, env)
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
                return self._aggregate(node, env)
        raise AssertionError(node)

    def flag(self, node: tree.Expr, env: Env) -> Expr:
        """Lowers a condition."""
        return self.expr(node, env)

    def _entry(self, ref: EntryRef) -> Expr:
        if ref.enum.origin == "question" and set(ref.enum.entries) == {"yes", "no"}:
            return const(int(ref.enum.entries[ref.index] == "yes"))
        return const(ref.index)

    def question(self, ref: QuestionRef) -> Expr:
        """Gets the chosen reading as a constant."""
        if ref.question.is_flag:
            return const(int(ref.question.chosen == "yes"))
        return const(list(ref.question.readings).index(ref.question.chosen))

    def _name(self, node: tree.Name, env: Env) -> Expr:
        ref = self.checked.refs[node]
        match ref:
            case Local():
                return env.locals[ref]
            case EntryRef():
                return self._entry(ref)
            case Variable():
                laid = self.variables[ref.name]
                return ir.load_at(laid.slot, 1, FALSE, laid.low, laid.high)
            case AllRef(enum):
                return const((1 << len(enum.entries)) - 1)
            case NumberRef(value):
                return const(value)
            case QuestionRef():
                return self.question(ref)
            case ActorRef():
                assert env.actor is not None, node.span
                return env.actor
            case Callable():
                return self.define(ref, (), env, node)
            case _:
                raise AssertionError(ref)

    def datum(self, value: Datum, type_: Type) -> int:
        """Gets a value printed on the board as a number; texts have none and give 0."""
        if isinstance(value, str):
            return type_.entries.index(value) if isinstance(type_, EnumType) else 0
        return int(value) if isinstance(value, int) else 0

    def _attribute(self, node: tree.Attribute, env: Env) -> Expr:
        ref = self.checked.refs[node]
        type_ = self.checked.types[node]
        if isinstance(ref, Record):
            return const(self.datum(ref.cells[node.name.text].value, type_))
        assert isinstance(ref, Table)
        entry = self.fit(self.expr(node.value, env), 0, len(ref.enum.entries) - 1, node.value, env)
        values = tuple(self.datum(c.value, type_) for c in ref.cells[node.name.text].values())
        return self._lookup(f"{ref.name}_{node.name.text}", values, entry)

    def _lookup(self, name: str, values: tuple[int, ...], index: Expr) -> Expr:
        if not isinstance(index, ir.Const):
            self.tables[name] = values
        return ir.lookup(name, values, index)

    # ------------------------------------------------------------------------------------------ piles and lists

    def pile(self, node: tree.Expr, env: Env) -> Pile:
        """Finds the pile an expression names."""
        while isinstance(node, tree.Group):
            node = node.inner
        base = node.value if isinstance(node, tree.Index) else node
        ref = self.checked.refs.get(base)
        assert isinstance(ref, Variable), node.span
        laid, offset = self.element(ref, node.indices if isinstance(node, tree.Index) else (), env)
        return Pile(laid.slot, self.total(laid), offset, laid.width - 1, laid.low, laid.high)

    def _list(self, node: tree.Expr, env: Env) -> tuple[Expr, Function_[[Expr], Expr], int, int, int]:
        """Gets a printed list: its length, its items by place from 0, the most it can hold, and their bounds."""
        while isinstance(node, tree.Group):
            node = node.inner
        ref = self.checked.refs.get(node)
        if isinstance(ref, AliasRef):
            shape = self.shape(ref.type)
            low = shape.low
            return const(shape.count), lambda k: make("+", k, const(low)), shape.count, shape.low, shape.high
        assert isinstance(node, tree.Attribute), node.span
        type_ = self.checked.types[node]
        assert isinstance(type_, ListType)
        if isinstance(ref, Record):
            lists = [ref.cells[node.name.text].value]
            entry: Expr = FALSE
        else:
            assert isinstance(ref, Table)
            lists = [c.value for c in ref.cells[node.name.text].values()]
            entry = self.fit(self.expr(node.value, env), 0, len(lists) - 1, node.value, env)
        rows = [tuple(self.datum(v, type_.base) for v in row) for row in lists if isinstance(row, tuple)]
        most = max((len(r) for r in rows), default=0)
        stem = f"{ref.name}_{node.name.text}"
        lengths = tuple(len(r) for r in rows)
        length = self._lookup(f"{stem}_length", lengths, entry)
        flat = tuple(v for r in rows for v in (*r, *[r[-1] if r else 0] * (most - len(r))))

        def item(k: Expr) -> Expr:
            return self._lookup(stem, flat, make("+", make("*", entry, const(most)), k))

        return length, item, most, min(flat, default=0), max(flat, default=0)

    def _index(self, node: tree.Index, env: Env) -> Expr:
        base = node.value
        ref = self.checked.refs.get(base)
        if isinstance(ref, Variable):
            laid, offset = self.element(ref, node.indices, env)
            if isinstance(ref.type, PileType):
                pile = Pile(laid.slot, self.total(laid), offset, laid.width - 1, laid.low, laid.high)
                place = self.expr(node.indices[-1], env)
                return self._item(pile, place, node, env)
            return ir.load_at(laid.slot, self.total(laid), offset, laid.low, laid.high)
        length, item, most, _, _ = self._list(base, env)
        place = self.expr(node.indices[0], env)
        if isinstance(length, ir.Const) or place.low < 1 or place.high > most:
            top = length.low if isinstance(length, ir.Const) else most
            place = self.fit(place, 1, top, node.indices[0], env)
        return item(make("-", place, TRUE))

    def _item(self, pile: Pile, place: Expr, node: tree.Index, env: Env) -> Expr:
        place = self.fit(place, 1, pile.capacity, node.indices[-1], env)
        inside = make("<=", place, pile.length)
        value = pile.item(make("-", place, TRUE))
        if inside == TRUE:
            return value
        missing = ir.Checked(value.low, value.high, const(pile.low - 1), self.site(node.span), "index")
        return ir.choose(inside, value, missing)

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
            return found
        value = self._placed_or_called(symbol, values, env)
        self.placed[known] = value
        return value

    def _placed_or_called(self, symbol: Callable, values: list[Expr], env: Env) -> Expr:
        assert isinstance(symbol.node, tree.Define)
        shape_of_call = (symbol.name, env.memos is None, tuple(isinstance(v, ir.Const) for v in values))
        if shape_of_call not in self.too_large and all(
            _simple(v) or _uses(symbol, p) <= 1 for v, p in zip(values, symbol.params, strict=True)
        ):
            inner = Env(
                dict(zip(symbol.params, values, strict=True)), env.actor, env.facts, env.memos, env.lasting
            )
            value = self.result(symbol.node.result, inner)
            if value is not None:
                shape = self.shape(symbol.node.type)
                value = self._declared(value, shape, symbol.node.result)
                size = _size(value)
                if size <= INLINE_SIZE:
                    return self.memo(value, env) if size >= 5 else value
            self.too_large.add(shape_of_call)
        return self.memo(self._called(symbol, values), env)

    def memo(self, value: Expr, env: Env) -> Expr:
        """Keeps a value for the rest of the options being listed, if it does not depend on a parameter."""
        if env.memos is None or isinstance(value, ir.Const | ir.Load) or not _lasts(value, env.lasting):
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
            self.functions[name].body = self._returns(symbol.node.result, env, shape)
        return ir.Call(shape.low, shape.high, name, tuple(values))

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
                if not (_simple(bound) or uses <= 1):
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
                wanted = self._entry(ref) if isinstance(ref, EntryRef) else const(-1)
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
                return self._list(operand, env)[0]
            return self.pile(operand, env).length
        if isinstance(type_, SetType):
            ref = self.checked.refs[operand]
            assert isinstance(ref, AllRef)
            return const(0 if operator == "first of" else len(ref.enum.entries) - 1)
        if isinstance(type_, ListType):
            length, item, _, _, _ = self._list(operand, env)
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
            values = self.expr(right, env)
            inside = make("bit", values, _narrowed(item) if item.low < 0 else item)
            return inside if item.low >= 0 else make("and", make("<=", FALSE, item), inside)
        if isinstance(type_, EmptyType):
            return FALSE
        run = self.run(tree.Members(right.span, right), env)
        tests = []
        for k in range(run.bound):
            tests.append(make("and", run.holds(const(k)), make("=", run.value(const(k)), item)))
        return make("or", *tests)

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
                    lambda k: _clamped(make("+", low, k), low.low, high.high),
                    low.low,
                    max(low.low, high.high),
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
                    values = self.expr(of, env)
                    size = len(base.entries)
                    return Run(size, lambda k: make("bit", values, k), lambda k: k, 0, size - 1)
                if isinstance(type_, ListType):
                    length, item, most, low_, high_ = self._list(of, env)
                    return Run(most, lambda k: make("<", k, length), item, low_, high_)
                pile = self.pile(of, env)
                return Run(pile.capacity, lambda k: make("<", k, pile.length), pile.item, pile.low, pile.high)
        raise AssertionError(node)

    # -------------------------------------------------------------------------------------------------- searches

    def _aggregate(self, node: tree.Fold | tree.Search | tree.Quantify, env: Env) -> Expr:
        run = self.run(node.domain, env)
        if run.bound <= UNROLLED:
            value = self._unrolled(node, run, env)
            if _size(value) <= 120:
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
                    return default if default is not None else self._nothing(span, 0, 0)
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
                    default = self._nothing(
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
                    found = self._nothing(span, run.low, run.high)
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

    def _nothing(self, span: Span, low: int, high: int) -> Expr:
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
        holds, inner, value = self._step(node, run, k, env)
        last = const(run.bound - 1)

        def loop(*body: ir.Stmt) -> ir.Stmt:
            return ir.For(k.name, FALSE, last, body if holds == TRUE else (ir.If(holds, body),))

        step: Expr
        start: Expr
        match node:
            case tree.Search(span, "first", _, _, _, otherwise):
                end = (
                    self.expr(otherwise, env)
                    if otherwise is not None
                    else self._nothing(span, run.low, run.high)
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
                else self._nothing(node.span, low, high)
            )
            out.append(ir.If(make("=", total, start), (ir.Return(end),)))
            low, high = min(low, end.low), max(high, end.high)
        out.append(ir.Return(total))
        return tuple(out), (low, high)


def _clamped(value: Expr, low: int, high: int) -> Expr:
    if isinstance(value, ir.Op):
        return replace(value, low=max(value.low, low), high=min(value.high, max(low, high)))
    return value


def raised(value: Expr, env: Env) -> Expr:
    """Gets a value with the lowest bound that the facts allow."""
    low = max((n for v, n in env.facts if v == value), default=value.low)
    return replace(value, low=low) if value.low < low <= value.high else value


def _narrowed(value: Expr) -> Expr:
    return replace(value, low=0)


def _simple(value: Expr) -> bool:
    match value:
        case ir.Const() | ir.Load() | ir.Temp() | ir.Memo():
            return True
        case ir.LoadAt(_, _, _, _, index) | ir.Lookup(_, _, _, index):
            return isinstance(index, ir.Temp | ir.Load)
        case ir.Op(_, _, "+" | "-", (a, b)):
            return isinstance(a, ir.Const | ir.Temp | ir.Load) and isinstance(b, ir.Const | ir.Temp | ir.Load)
        case _:
            return False


def _size(value: Expr) -> int:
    match value:
        case ir.Op(_, _, _, arguments) | ir.Call(_, _, _, arguments):
            return 1 + sum(_size(a) for a in arguments)
        case ir.Cond(_, _, c, t, o):
            return 1 + _size(c) + _size(t) + _size(o)
        case ir.LoadAt(_, _, _, _, index) | ir.Lookup(_, _, _, index):
            return 1 + _size(index)
        case ir.Checked(_, _, inner, _, _):
            return 2 + _size(inner)
        case _:
            return 1


def _lasts(value: Expr, locals_: frozenset[str]) -> bool:
    """Tests if a value is made of nothing but the position, which does not change meanwhile, and such locals."""
    match value:
        case ir.Temp(_, _, name):
            return name in locals_
        case ir.Op(_, _, _, arguments) | ir.Call(_, _, _, arguments):
            return all(_lasts(a, locals_) for a in arguments)
        case ir.Cond(_, _, c, t, o):
            return _lasts(c, locals_) and _lasts(t, locals_) and _lasts(o, locals_)
        case ir.LoadAt(_, _, _, _, index) | ir.Lookup(_, _, _, index):
            return _lasts(index, locals_)
        case ir.Checked(_, _, inner, _, _) | ir.Memo(_, _, _, inner):
            return _lasts(inner, locals_)
        case _:
            return True


def _uses(symbol: Callable, param: Local) -> int:
    return sum(1 for n in walk(symbol.node) if isinstance(n, tree.Name) and n.text == param.name)


def _type_of(lowering: ExpressionLowering, node: tree.TypeExpr) -> Type:
    match node:
        case tree.NamedType(_, name):
            if name in lowering.checked.enums:
                return lowering.checked.enums[name]
            return _type_of(lowering, lowering.checked.aliases[name].type)
        case tree.RangeType():
            return INT
        case tree.FlagType():
            return FLAG
        case tree.TextType():
            return TextType()
        case tree.OptionalType(_, base):
            return OptionalType(_type_of(lowering, base))
        case tree.SetType(_, base):
            return SetType(_type_of(lowering, base))
        case tree.PileType(_, base, _):
            return PileType(_type_of(lowering, base))
    raise AssertionError(node)
