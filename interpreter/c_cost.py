"""Judges expressions for the C backend: the bounds they surely keep, whether they may be worked out early, at what cost.

Working out what may turn out not to be needed saves branches that a processor cannot foresee. Only what cannot fail and
reads nothing outside its place may be worked out early.
"""

from __future__ import annotations

from . import program as ir
from .c_layout import Layout, children, descend

CHEAP = 24
"""Up to this cost an operand of `and` or `or` is worked out without asking whether it matters."""
PICKED = 60
"""Up to this cost both values of a conditional are worked out and one is taken."""
HOISTED = 300
"""Up to this cost what is used more than once is worked out at the start of a function."""
PADDING = 8
"""Up to so many items a table may be read before its start or after its end."""


class Judge:
    """Judges the expressions of one program."""

    def __init__(self, program: ir.Program, layout: Layout) -> None:
        self.program = program
        self.layout = layout
        self.bounds_of_function: dict[str, tuple[int, int]] = {}
        self.failing = self._failing()
        self.costs: dict[str, int] = {}
        self.read: dict[str, frozenset[int]] = {}
        self.written: dict[str, frozenset[int]] = {}
        self.temps: dict[str, tuple[int, int]] = {}
        self.reach = self._reach()

    # --------------------------------------------------------------------------------------- bounds

    def bounds(self, e: ir.Expr) -> tuple[int, int]:
        """Gets the bounds a value surely keeps, narrower than its own where a function gives less than it might."""
        low, high = e.low, e.high
        match e:
            case ir.Memo():
                a, b = self.bounds(e.value)
            case ir.Call():
                a, b = self.result(self.program.functions[e.function])
            case ir.Cond():
                (a, b), (c, d) = self.bounds(e.then), self.bounds(e.otherwise)
                a, b = min(a, c), max(b, d)
            case _:
                return low, high
        return max(low, a), min(high, b)

    def result(self, f: ir.Function) -> tuple[int, int]:
        """Gets the bounds of what a function gives."""
        found = self.bounds_of_function.get(f.name)
        if found is None:
            self.bounds_of_function[f.name] = (
                -ir.FAR,
                ir.FAR,
            )  # rules do not recur; this ends it if they did
            values = [self.bounds(n.value) for n in descend(*f.body) if isinstance(n, ir.Return)]
            if f.kind != "value" or not values:
                found = (0, 0)
            else:
                found = min(low for low, _ in values), max(high for _, high in values)
            self.bounds_of_function[f.name] = found
        return found

    def certain(self, e: ir.Checked) -> bool:
        """Tests if a check always holds."""
        low, high = self.bounds(e.value)
        return e.low <= low and high <= e.high

    def _failing(self) -> set[str]:
        """Finds the functions in which something may fail, or that may not end."""
        failing: set[str] = set()
        calls: dict[str, set[str]] = {}
        for f in self.program.functions.values():
            calls[f.name] = set()
            for n in descend(*f.body):
                if isinstance(n, ir.Loop) or (isinstance(n, ir.Checked) and not self.certain(n)):
                    failing.add(f.name)
                elif isinstance(n, ir.Call | ir.Do):
                    calls[f.name].add(n.function)
        changed = True
        while changed:
            changed = False
            for name, called in calls.items():
                if name not in failing and called & failing:
                    failing.add(name)
                    changed = True
        return failing

    def enter(self, body: tuple[ir.Stmt, ...], parameters: list[tuple[str, tuple[int, int]]]) -> None:
        """Notes the bounds of the locals of a function or block, before its expressions are judged."""
        self.temps = dict(parameters)
        given = set(self.temps)
        nodes = list(descend(*body))
        loops = [n for n in nodes if isinstance(n, ir.For)]
        sets = [n for n in reversed(nodes) if isinstance(n, ir.SetTemp) and n.name not in given]
        for n in loops:
            self._widen(n.name, self.index_bounds(n.low)[0], self.index_bounds(n.high)[1])
        for turn in range(4):
            before = dict(self.temps)
            for s in sets:
                self._widen(s.name, *self.index_bounds(s.value))
            changed = {k for k, v in self.temps.items() if before.get(k) != v}
            if not changed:
                break
            if turn == 3:
                self.temps.update(dict.fromkeys(changed, (-ir.FAR, ir.FAR)))

    def _widen(self, name: str, low: int, high: int) -> None:
        a, b = self.temps.get(name, (low, high))
        self.temps[name] = min(a, low), max(b, high)

    # --------------------------------------------------------------------------------------- tables

    def _reach(self) -> dict[str, tuple[int, int]]:
        """Finds between which places each table may be read early."""
        reach = {name: (0, len(values) - 1) for name, values in self.program.tables.items()}
        for f in self.program.functions.values():
            self.enter(f.body, parameters_of(f))
            for n in descend(*f.body):
                if isinstance(n, ir.Lookup):
                    low, high = reach[n.table]
                    a, b = self.index_bounds(n.index)
                    size = len(self.program.tables[n.table])
                    if a >= -PADDING and b < size + PADDING:
                        reach[n.table] = min(low, a), max(high, b)
        return reach

    def index_bounds(self, e: ir.Expr) -> tuple[int, int]:
        """Gets bounds of an index that hold even where it is worked out early, whatever a guard before it says."""
        match e:
            case ir.Const():
                return e.value, e.value
            case ir.Load():
                return self.slot_bounds(e.slot, 1)
            case ir.LoadAt():
                return self.slot_bounds(e.base, e.size)
            case ir.Memo():
                return self.index_bounds(e.value)
            case ir.Call():
                return self.result(self.program.functions[e.function])
            case ir.Cond():
                (a, b), (c, d) = self.index_bounds(e.then), self.index_bounds(e.otherwise)
                return min(a, c), max(b, d)
            case ir.Op(operator="+", arguments=(x, y)):
                (a, b), (c, d) = self.index_bounds(x), self.index_bounds(y)
                return a + c, b + d
            case ir.Op(operator="-", arguments=(x, y)):
                (a, b), (c, d) = self.index_bounds(x), self.index_bounds(y)
                return a - d, b - c
            case ir.Op(operator="*", arguments=(x, ir.Const(value=k))) if k >= 0:
                a, b = self.index_bounds(x)
                return a * k, b * k
            case ir.Lookup():
                values = self.program.tables[e.table]
                return min(values), max(values)
            case ir.Op(operator="mod", arguments=(_, ir.Const(value=k))) if k > 0:
                return 0, k - 1
            case ir.Temp():
                return self.temps.get(e.name, (-ir.FAR, ir.FAR))
            case _:
                return -ir.FAR, ir.FAR

    def slot_bounds(self, base: int, size: int) -> tuple[int, int]:
        """Gets the bounds of some slots."""
        bounds = self.program.bounds[base : base + size]
        return min(low for low, _ in bounds), max(high for _, high in bounds)

    # --------------------------------------------------------------------- what is read and written

    def reads(self, function: str) -> frozenset[int]:
        """Gets the slots that a function reads, those of the functions it calls included."""
        found = self.read.get(function)
        if found is None:
            slots: set[int] = set()
            for n in descend(*self.program.functions[function].body):
                match n:
                    case ir.Load():
                        slots.add(n.slot)
                    case ir.LoadAt():
                        slots.update(range(n.base, n.base + n.size))
                    case ir.Call() | ir.Do():
                        slots |= self.reads(n.function)
                    case _:
                        pass
            found = self.read[function] = frozenset(slots)
        return found

    def writes(self, *body: ir.Stmt) -> frozenset[int]:
        """Gets the slots that statements write, those of the procedures they call included."""
        slots: set[int] = set()
        for n in descend(*body):
            match n:
                case ir.Store():
                    slots.add(n.slot)
                case ir.StoreAt():
                    slots.update(range(n.base, n.base + n.size))
                case ir.Do():
                    if n.function not in self.written:
                        self.written[n.function] = self.writes(*self.program.functions[n.function].body)
                    slots |= self.written[n.function]
                case _:
                    pass
        return frozenset(slots)

    def given(self, lister: str) -> list[str]:
        """Gets the functions without arguments that a list of options needs in any case and that cost much."""
        found: dict[str, None] = {}
        for n in descend(*self.program.functions[lister].body):
            match n:
                case ir.Memo(value=ir.Call(function=function, arguments=())):
                    if 40 <= self.cost_of(function) <= HOISTED and function not in self.failing:
                        found[function] = None
                case _:
                    pass
        return sorted(found)

    # --------------------------------------------------------------------------------------- safety

    def safe(self, e: ir.Expr) -> bool:
        """Tests if an expression may be worked out where it is not needed: it cannot fail and reads nothing amiss."""
        for n in descend(e):
            match n:
                case ir.Checked():
                    if not self.certain(n):
                        return False
                case ir.Call():
                    if n.function in self.failing:
                        return False
                    f = self.program.functions[n.function]
                    for a, (_, (low, high)) in zip(n.arguments, parameters_of(f), strict=True):
                        least, most = self.index_bounds(a)
                        if least < low or most > high:
                            return False
                case ir.LoadAt():
                    low, high = self.index_bounds(n.index)
                    if low < 0 or high >= n.size:
                        return False
                case ir.Lookup():
                    low, high = self.index_bounds(n.index)
                    least, most = self.reach[n.table]
                    if low < least or high > most:
                        return False
                case ir.Op(operator="//" | "mod" | "ceil"):
                    if not isinstance(n.arguments[1], ir.Const):
                        return False
                case ir.Op(operator="bit", arguments=(_, shift)) | ir.Op(operator="one", arguments=(shift,)):
                    low, high = self.index_bounds(shift)
                    if low < 0 or high > 30:
                        return False
                case _:
                    pass
        return True

    # ----------------------------------------------------------------------------------------- cost

    def cost(self, e: ir.Expr | ir.Stmt, known: set[str]) -> int:
        """Estimates how many instructions an expression takes, those of the functions it calls included.

        A value that is worked out once counts once; values and functions that are `known` cost nothing.
        """
        total = 0
        known = set(known)
        todo: list[ir.Expr | ir.Stmt] = [e]
        while todo:
            n = todo.pop()
            match n:
                case ir.Memo():
                    if n.name in known:
                        continue
                    known.add(n.name)
                case ir.For() | ir.Loop():
                    total += 1000
                case ir.Call():
                    total += 0 if n.function in known else 2 + self.cost_of(n.function)
                case ir.Op():
                    total += (20 if n.operator in ("//", "mod", "ceil") else 1) * (len(n.arguments) - 1 or 1)
                case ir.Load():
                    total += 1
                case ir.LoadAt() | ir.Lookup() | ir.Cond() | ir.Checked() | ir.If():
                    total += 2
                case _:
                    pass
            todo += children(n)
        return total

    def cost_of(self, function: str) -> int:
        """Estimates how many instructions a call of a function takes."""
        found = self.costs.get(function)
        if found is None:
            self.costs[function] = 1 << 20  # rules do not recur; this ends it if they did
            known: set[str] = set()
            found = 0
            for s in self.program.functions[function].body:
                found += self.cost(s, known)
            self.costs[function] = found
        return found


def parameters_of(f: ir.Function) -> list[tuple[str, tuple[int, int]]]:
    """Gets the parameters of a function with their bounds."""
    bounds = f.parameter_bounds or ((-ir.FAR, ir.FAR),) * len(f.parameters)
    return list(zip(f.parameters, bounds, strict=True))
