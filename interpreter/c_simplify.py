"""Simplifies a program before it is written as C: checks that always hold, conditions already known, tighter bounds.

What a condition tells of a value (`crew < 2`) holds in the branch it guards until the position changes there. Functions
are taken callees first, so that what a function gives is known to its callers by its tightest bounds. The meaning stays:
positions, options, their order and the errors.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from . import program as ir
from .c_layout import children, descend
from .c_substitute import Filling
from .c_turns import turned

Key = ir.Expr | tuple[str, str]
Facts = dict[Key, tuple[int, int]]
SHORT = 40
"""Functions of up to so many nodes are written out where they are called."""
_LARGEST = 8
"""Facts are kept of expressions of up to so many nodes."""


def simplify(program: ir.Program) -> ir.Program:
    """Makes a simpler program of the same meaning; the one given stays as it is."""
    return _Simplifier(program).program


class _Simplifier:
    def __init__(self, program: ir.Program) -> None:
        self.tables = dict(program.tables)
        self.results: dict[str, tuple[int, int]] = {}
        self.memos: dict[str, ir.Memo] = {}
        self.short: dict[str, ir.Expr] = {}
        self.parameters = {f.name: f.parameters for f in program.functions.values()}
        self.inlinings = 0
        functions: dict[str, ir.Function] = {}
        for name in _callees_first(program):
            f = program.functions[name]
            self.memos = {}
            self.frozen = f.kind != "procedure"
            new = replace(f, body=self.body(f.body, {})[0])
            values = [n.value for n in descend(*new.body) if isinstance(n, ir.Return)]
            if f.kind == "value" and values:
                self.results[name] = min(v.low for v in values), max(v.high for v in values)
                short = _as_expression(new.body)
                if short is not None and _size(short) <= SHORT:
                    self.short[name] = short
            functions[name] = new
        self.frozen = False
        blocks = []
        for b in program.blocks:
            self.memos = {}
            body, facts = self.body(b.body, {})
            end = b.end
            if isinstance(end, ir.Branch):
                end = replace(end, condition=self.expr(end.condition, facts))
                if isinstance(end.condition, ir.Const):
                    end = ir.Jump(end.then if end.condition.value else end.otherwise)
            blocks.append(replace(b, body=body, end=end))
        self.memos = {}
        decisions = [
            replace(d, actor=self.expr(d.actor, {}), who=self.expr(d.who, {})) for d in program.decisions
        ]
        self.program = replace(
            program,
            functions={name: functions[name] for name in program.functions},
            blocks=blocks,
            decisions=decisions,
            tables=self.tables,
        )

    # ---------------------------------------------------------------------------------- expressions

    def expr(self, e: ir.Expr, facts: Facts) -> ir.Expr:
        """Simplifies an expression, knowing some facts."""
        new = self._expr(e, facts)
        low, high = max(new.low, e.low), min(new.high, e.high)
        known = facts.get(_key(new)) if facts else None
        if known is not None:
            low, high = max(low, known[0]), min(high, known[1])
        if low > high or isinstance(new, ir.Const):  # what cannot be reached
            return new
        if low == high and not _may_fail(new):
            return ir.const(low)
        if (low, high) != (new.low, new.high):
            return replace(new, low=low, high=high)
        return new

    def _expr(self, e: ir.Expr, facts: Facts) -> ir.Expr:
        match e:
            case ir.LoadAt():
                return ir.load_at(e.base, e.size, self.expr(e.index, facts), e.low, e.high)
            case ir.Op(operator="and" | "or"):
                return self._junction(e, facts)
            case ir.Op():
                arguments = [self.expr(a, facts) for a in e.arguments]
                if e.operator in ("//", "mod", "ceil") and not arguments[1].low > 0:
                    return replace(e, arguments=tuple(arguments))
                return ir.make(e.operator, *arguments)
            case ir.Cond():
                condition = self.expr(e.condition, facts)
                then = self.expr(e.then, self.with_facts(condition, True, facts))
                otherwise = self.expr(e.otherwise, self.with_facts(condition, False, facts))
                return ir.choose(condition, then, otherwise)
            case ir.Call():
                low, high = self.results.get(e.function, (e.low, e.high))
                arguments = [self.expr(a, facts) for a in e.arguments]
                body = self.short.get(e.function)
                if body is not None and not any(_may_fail(a) for a in arguments):
                    return self.expr(self.inlined(e.function, body, arguments), facts)
                return replace(e, low=max(e.low, low), high=min(e.high, high), arguments=tuple(arguments))
            case ir.Lookup():
                return self.lookup(e.table, self.expr(e.index, facts))
            case ir.Checked():
                value = self.expr(e.value, facts)
                new = ir.checked(value, e.low, e.high, e.site, e.why)
                if isinstance(new, ir.Checked) and value.low <= e.high and e.low <= value.high:
                    return replace(new, low=e.low, high=e.high)
                return new
            case ir.Memo():
                # the same wherever it stands, so facts do not count
                found = self.memos.get(e.name)
                if found is None:
                    value = self.expr(e.value, {})
                    found = self.memos[e.name] = ir.Memo(value.low, value.high, e.name, value)
                if isinstance(found.value, ir.Const):
                    return found.value
                return found
            case _:
                return e

    def lookup(self, table: str, index: ir.Expr) -> ir.Expr:
        """Looks an item up; a table looked up by what another gives becomes one table."""
        values = self.tables[table]
        if isinstance(index, ir.Lookup):
            inner = self.tables[index.table]
            if all(0 <= v < len(values) for v in inner):
                name = f"{table}_of_{index.table}"
                if name not in self.tables:
                    self.tables[name] = tuple(values[v] for v in inner)
                return self.lookup(name, index.index)
        return ir.lookup(table, values, index)

    def _junction(self, e: ir.Op, facts: Facts) -> ir.Expr:
        parts = []
        for a in e.arguments:
            part = self.expr(a, facts)
            parts.append(part)
            facts = self.with_facts(part, e.operator == "and", facts)
        return ir.make(e.operator, *parts)

    # ------------------------------------------------------------------------------------- inlining

    def inlined(self, function: str, body: ir.Expr, arguments: list[ir.Expr]) -> ir.Expr:
        """Gets what a short function works out, with arguments for its parameters."""
        self.inlinings += 1
        used = [n.name for n in descend(body) if isinstance(n, ir.Temp)]
        values: dict[str, ir.Expr] = {}
        for name, a in zip(self.parameters[function], arguments, strict=True):
            if used.count(name) > 1 and not isinstance(a, ir.Const | ir.Load | ir.Temp | ir.Memo):
                a = ir.Memo(a.low, a.high, f"given_{self.inlinings}_{name}", a)
            values[name] = a
        return Filling(values, f"_{self.inlinings}").expr(body)

    # ---------------------------------------------------------------------------------------- facts

    def with_facts(self, condition: ir.Expr, truth: bool, facts: Facts) -> Facts:
        """Gets the facts with what a condition adds to them by being so or not."""
        new = dict(facts)
        _learn(condition, truth, new, through=self.frozen)
        return new

    def kept(self, s: ir.Stmt, facts: Facts) -> Facts:
        """Gets the facts that still hold after a statement."""
        if not facts:
            return facts
        gone_slots: set[int] = set()
        gone_names: set[str] = set()
        for n in descend(s):
            match n:
                case ir.Store():
                    gone_slots.add(n.slot)
                case ir.StoreAt():
                    gone_slots.update(range(n.base, n.base + n.size))
                case ir.Do():
                    return {}
                case ir.SetTemp() | ir.For():
                    gone_names.add(n.name)
                case _:
                    pass
        if not gone_slots and not gone_names:
            return facts
        return {k: v for k, v in facts.items() if not _speaks_of(k, gone_slots, gone_names)}

    # ----------------------------------------------------------------------------------- statements

    def body(self, statements: Iterable[ir.Stmt], facts: Facts) -> tuple[tuple[ir.Stmt, ...], Facts]:
        """Simplifies statements; gets them and the facts that hold after them."""
        out: list[ir.Stmt] = []
        for s in statements:
            match s:
                case ir.If():
                    condition = self.expr(s.condition, facts)
                    if isinstance(condition, ir.Const):
                        inner, facts = self.body(s.then if condition.value else s.otherwise, facts)
                        out += inner
                        continue
                    then, _ = self.body(s.then, self.with_facts(condition, True, facts))
                    otherwise, _ = self.body(s.otherwise, self.with_facts(condition, False, facts))
                    if then or otherwise or _may_fail(condition):
                        out.append(ir.If(condition, then, otherwise))
                    if then and isinstance(then[-1], ir.Return | ir.Break | ir.Continue) and not otherwise:
                        facts = self.with_facts(condition, False, facts)
                    else:
                        facts = self.kept(s, facts)
                case ir.For():
                    low, high = self.expr(s.low, facts), self.expr(s.high, facts)
                    facts = self.kept(s, facts)
                    out += self.loop(ir.For(s.name, low, high, s.body), facts)
                case ir.Loop():
                    facts = self.kept(s, facts)
                    out.append(ir.Loop(self.body(s.body, facts)[0], s.site))
                case _:
                    out.append(self.plain(s, facts))
                    facts = self.kept(s, facts)
        return tuple(out), facts

    def loop(self, s: ir.For, facts: Facts) -> tuple[ir.Stmt, ...]:
        """Simplifies a loop, the facts being those that hold at every turn."""
        turns = turned(s, lambda body: self.body(body, facts)[0], self.ending, frozen=self.frozen)
        return (replace(s, body=self.body(s.body, facts)[0]),) if turns is None else turns

    def ending(self) -> str:
        """Makes an ending for names that is not used elsewhere."""
        self.inlinings += 1
        return f"_{self.inlinings}"

    def plain(self, s: ir.Stmt, facts: Facts) -> ir.Stmt:
        """Simplifies a statement without others inside."""
        match s:
            case ir.Store() | ir.SetTemp() | ir.Return():
                return replace(s, value=self.expr(s.value, facts))
            case ir.StoreAt():
                return ir.store_at(
                    s.base, s.size, self.expr(s.index, facts), self.expr(s.value, facts), s.site
                )
            case ir.Do():
                return replace(s, arguments=tuple(self.expr(a, facts) for a in s.arguments))
            case ir.Emit():
                return replace(s, action=self.expr(s.action, facts))
            case ir.EmitRange():
                return replace(s, low=self.expr(s.low, facts), high=self.expr(s.high, facts))
            case _:
                return s


def _as_expression(body: tuple[ir.Stmt, ...]) -> ir.Expr | None:
    """Gets the body of a function as one expression, if it only decides what to give."""
    if not body:
        return None
    first = body[0]
    if isinstance(first, ir.Return):
        return first.value
    if isinstance(first, ir.If):
        then = _as_expression(first.then)
        otherwise = _as_expression(first.otherwise + body[1:])
        if then is not None and otherwise is not None:
            return ir.choose(first.condition, then, otherwise)
    return None


def _size(e: ir.Expr) -> int:
    """Counts the nodes of an expression, what is worked out once counting once."""
    seen: set[str] = set()
    total = 0
    todo: list[ir.Expr | ir.Stmt] = [e]
    while todo:
        n = todo.pop()
        if isinstance(n, ir.Memo):
            if n.name in seen:
                continue
            seen.add(n.name)
        total += 1
        todo += children(n)
    return total


def _key(e: ir.Expr) -> Key:
    return ("memo", e.name) if isinstance(e, ir.Memo) else e


def _learn(condition: ir.Expr, truth: bool, facts: Facts, *, through: bool) -> None:
    """Adds what a condition tells by being so or not; `through` memos only where the position does not change."""
    match condition:
        case ir.Memo():
            if through:
                _learn(condition.value, truth, facts, through=through)
            _note(condition, int(truth), int(truth), facts)
        case ir.Op(operator="and") if truth:
            for a in condition.arguments:
                _learn(a, True, facts, through=through)
        case ir.Op(operator="or") if not truth:
            for a in condition.arguments:
                _learn(a, False, facts, through=through)
        case ir.Op(operator="not"):
            _learn(condition.arguments[0], not truth, facts, through=through)
        case ir.Op(operator="<" | "<="):
            a, b = condition.arguments
            strict = condition.operator == "<"
            if not truth:
                a, b, strict = b, a, not strict
            gap = 1 if strict else 0
            _note(a, a.low, b.high - gap, facts)
            _note(b, a.low + gap, b.high, facts)
        case ir.Op(operator="=" | "!="):
            a, b = condition.arguments
            if (condition.operator == "=") == truth:
                low, high = max(a.low, b.low), min(a.high, b.high)
                _note(a, low, high, facts)
                _note(b, low, high, facts)
            elif isinstance(b, ir.Const):
                _note(a, a.low + (b.value == a.low), a.high - (b.value == a.high), facts)
        case _:
            pass


def _note(e: ir.Expr, low: int, high: int, facts: Facts) -> None:
    if isinstance(e, ir.Const) or _may_fail(e):
        return
    nodes = 0
    if not isinstance(e, ir.Memo):
        for _ in descend(e):
            nodes += 1
            if nodes > _LARGEST:
                return
    key = _key(e)
    a, b = facts.get(key, (low, high))
    if max(a, low) <= min(b, high):
        facts[key] = max(a, low), min(b, high)


def _speaks_of(key: Key, slots: set[int], names: set[str]) -> bool:
    """Tests if a fact is about some slots or locals; one about a memo may be about any."""
    if isinstance(key, tuple):
        return True
    for n in descend(key):
        match n:
            case ir.Load():
                if n.slot in slots:
                    return True
            case ir.LoadAt():
                if not slots.isdisjoint(range(n.base, n.base + n.size)):
                    return True
            case ir.Temp():
                if n.name in names:
                    return True
            case ir.Call():
                if slots:
                    return True
            case ir.Memo():
                return True
            case _:
                pass
    return False


def _may_fail(e: ir.Expr) -> bool:
    return any(isinstance(n, ir.Checked | ir.Call) for n in descend(e))


def _callees_first(program: ir.Program) -> list[str]:
    """Gets the functions so that each comes after those it calls."""
    order: list[str] = []
    state: dict[str, int] = {}

    def visit(name: str) -> None:
        if name in state:
            return
        state[name] = 1
        for n in descend(*program.functions[name].body):
            if isinstance(n, ir.Call | ir.Do):
                visit(n.function)
        order.append(name)

    for name in program.functions:
        visit(name)
    return order
