"""Lowers what names stand for: variables and their elements, tables, records, questions, piles and printed lists."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable as Function
from typing import Literal

from ..grammar import tree
from ..grammar.diagnostics import Report
from ..grammar.span import Span
from . import program as ir
from .environment import Env, Pile, Run, raised
from .layout import MOST_TEXTS, Shape, Slots
from .program import FALSE, TRUE, Expr, const, make
from .ruleset import Datum, Record, Table
from .symbols import (
    ActorRef,
    AliasRef,
    AllRef,
    Callable,
    Checked,
    EntryRef,
    Local,
    NumberRef,
    QuestionRef,
    Variable,
)
from .types import FLAG, INT, EnumType, ListType, OptionalType, PileType, SetType, TextType, Type


class ValueLowering:
    """Lowers what names stand for; collects tables, functions and sites on the way."""

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
        self.placed: dict[object, tuple[Expr, object]] = {}
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

    @abstractmethod
    def expr(self, node: tree.Expr, env: Env) -> Expr:
        """Lowers an expression that gives one number."""

    @abstractmethod
    def run(self, node: tree.Domain, env: Env) -> Run:
        """Lowers what a variable runs over."""

    @abstractmethod
    def define(self, symbol: Callable, arguments: tuple[tree.Expr, ...], env: Env, node: tree.Expr) -> Expr:
        """Lowers the use of a define: in place if that is cheap, else a call."""

    # ------------------------------------------------------------------------------------------------------ names

    def entry(self, ref: EntryRef) -> Expr:
        if ref.enum.origin == "question" and set(ref.enum.entries) == {"yes", "no"}:
            return const(int(ref.enum.entries[ref.index] == "yes"))
        return const(ref.index)

    def question(self, ref: QuestionRef) -> Expr:
        """Gets the chosen reading as a constant."""
        if ref.question.is_flag:
            return const(int(ref.question.chosen == "yes"))
        return const(list(ref.question.readings).index(ref.question.chosen))

    def name(self, node: tree.Name, env: Env) -> Expr:
        ref = self.checked.refs[node]
        match ref:
            case Local():
                return env.locals[ref]
            case EntryRef():
                return self.entry(ref)
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

    def attribute(self, node: tree.Attribute, env: Env) -> Expr:
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

    def list_of(self, node: tree.Expr, env: Env) -> tuple[Expr, Function[[Expr], Expr], int, int, int]:
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

    def index(self, node: tree.Index, env: Env) -> Expr:
        base = node.value
        ref = self.checked.refs.get(base)
        if isinstance(ref, Variable):
            laid, offset = self.element(ref, node.indices, env)
            if isinstance(ref.type, PileType):
                pile = Pile(laid.slot, self.total(laid), offset, laid.width - 1, laid.low, laid.high)
                place = self.expr(node.indices[-1], env)
                return self._item(pile, place, node, env)
            return ir.load_at(laid.slot, self.total(laid), offset, laid.low, laid.high)
        length, item, most, _, _ = self.list_of(base, env)
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


def _type_of(lowering: ValueLowering, node: tree.TypeExpr) -> Type:
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
