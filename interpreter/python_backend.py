"""The Python backend: writes the program as Python source, compiles it and runs positions with it.

Every function of the program becomes a Python function of the position `S` (a list of integers); every block becomes
one too, into which blocks with a single way in are folded. A block function gives the number of the next block, or
what the game stops at: a list of options (a decision), a tuple (chance node number,), or None (the end).

Two kinds of source come from the same program: a fast one, and a traced one that also notes every change, text and
decision taken by itself, for `events` and explanations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import program as ir
from .python_expressions import ExpressionWriter, parts

Position = list[int]
Stop = list[int] | tuple[int] | None

_SMALL = 8
"""How many plain stores a block may hold and still be written out at every jump to it."""
_COPIES = 2
"""How many blocks with several ways in may be written out one inside the other."""


class _Writer(ExpressionWriter):
    def __init__(self, program: ir.Program, *, traced: bool) -> None:
        super().__init__()
        self.program = program
        self.traced = traced
        self.lines: list[str] = []
        self.indent = 0
        self.ways_in = _ways_in(program)

    # -------------------------------------------------------------------------------------------------------- text

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    # -------------------------------------------------------------------------------------------------- statements

    def body(self, statements: tuple[ir.Stmt, ...]) -> None:
        i = 0
        while i < len(statements):
            s = statements[i]
            if isinstance(s, ir.Emit) and isinstance(s.action, ir.Const):
                run = [s.action.value]
                while i + 1 < len(statements):
                    after = statements[i + 1]
                    if not (isinstance(after, ir.Emit) and isinstance(after.action, ir.Const)):
                        break
                    run.append(after.action.value)
                    i += 1
                self.line(f"o.append({run[0]})" if len(run) == 1 else f"o += {tuple(run)}")
            else:
                self.stmt(s)
            i += 1

    def block_of(self, statements: tuple[ir.Stmt, ...]) -> None:
        self.indent += 1
        before = len(self.lines)
        self.body(statements)
        if len(self.lines) == before:
            self.line("pass")
        self.indent -= 1

    def if_(self, s: ir.If) -> None:
        """Writes an if; after it those memos are sure that are on every way which goes on."""
        word = "if"
        after: list[frozenset[str]] = []
        while True:
            test, yes, no = self.test(s.condition)
            self.line(f"{word} {test}:")
            self.sure = yes
            self.block_of(s.then)
            if not _leaves(s.then):
                after.append(self.sure)
            self.sure = no
            if len(s.otherwise) != 1 or not isinstance(s.otherwise[0], ir.If):
                break
            s, word = s.otherwise[0], "elif"
        if s.otherwise:
            self.line("else:")
            self.block_of(s.otherwise)
        if not _leaves(s.otherwise):
            after.append(self.sure)
        self.sure = frozenset.intersection(*after) if after else frozenset()

    def stmt(self, s: ir.Stmt) -> None:
        match s:
            case ir.Store(slot, value, site):
                self.store(str(slot), value, site)
            case ir.StoreAt(base, _, index, value, site):
                self.store(self.offset(base, index), value, site)
            case ir.SetTemp(name, value):
                self.line(f"{name} = {self.number(value)}")
            case ir.If():
                self.if_(s)
            case ir.For(name, low, high, body):
                start = "" if low == ir.FALSE else f"{self.expr(low)}, "
                end = str(high.value + 1) if isinstance(high, ir.Const) else f"{self.expr(high)} + 1"
                self.line(f"for {name} in range({start}{end}):")
                before = self.sure
                self.loops += 1
                self.block_of(body)
                self.loops -= 1
                self.sure = before
            case ir.Loop(body, site):
                before = self.sure
                self.loops += 1
                turns = self.temp()
                self.line(f"{turns} = 0")
                self.line("while True:")
                self.indent += 1
                self.line(f"{turns} += 1")
                self.line(f"if {turns} > {self.program.step_budget}: circle({site})")
                self.body(body)
                self.indent -= 1
                self.loops -= 1
                self.sure = before
            case ir.Break():
                self.line("break")
            case ir.Continue():
                self.line("continue")
            case ir.Do(function, arguments):
                self.line(f"{function}(S{''.join(', ' + self.number(a) for a in arguments)})")
            case ir.Return(value):
                self.line(f"return {self.number(value)}")
            case ir.Tell(text, arguments, to, site):
                if self.traced:
                    values = ", ".join(self.number(a) for a in arguments)
                    who = "-1" if to is None else self.number(to)
                    self.line(f"told({text}, ({values}{',' if len(arguments) == 1 else ''}), {who}, {site})")
            case ir.Emit(action):
                self.line(f"o.append({self.expr(action)})")
            case ir.EmitRange(low, high):
                self.line(f"o += range({self.expr(low)}, {self.expr(high)} + 1)")
            case _:
                raise AssertionError(s)

    def store(self, where: str, value: ir.Expr, site: int) -> None:
        if isinstance(value, ir.Checked):
            t = self.temp()
            self.line(f"{t} = {self.number(value.value)}")
            test = self.outside(t, value.value, value.low, value.high)
            self.line(f"if {test}: bad({value.site}, {value.why!r}, {t}, {value.low}, {value.high})")
            text = t
        else:
            text = self.number(value)
        if self.traced and site >= 0:
            self.line(f"changed(S, {where}, {text}, {site})")
        else:
            self.line(f"S[{where}] = {text}")

    # --------------------------------------------------------------------------------------------------- functions

    def function(self, f: ir.Function) -> None:
        self.begin(f.body)
        self.line(f"def {f.name}(S{''.join(', ' + p for p in f.parameters)}):")
        start = len(self.lines)
        self.indent += 1
        for name, value in list(self.early.items()):
            del self.early[name]
            text = self.number(value)
            self.early[name] = value
            self.line(f"{name} = {text}")
        if f.kind == "options":
            self.line("o = []")
        self.body(f.body)
        if f.kind == "options":
            self.line("return o")
        if len(self.lines) == start:
            self.line("pass")
        if self.memos:
            self.lines.insert(start, "    " * self.indent + " = ".join(sorted(self.memos)) + " = None")
        self.indent -= 1

    # ------------------------------------------------------------------------------------------------------ blocks

    def block(self, b: ir.Block) -> None:
        self.line(f"def b{b.number}(S):")
        self.indent += 1
        self.inside(b, {b.number})
        self.indent -= 1

    def inside(self, b: ir.Block, seen: set[int]) -> None:
        if b.budget >= 0:
            self.line("B[0] += 1")
            self.line(f"if B[0] > {self.program.step_budget}: circle({b.budget})")
        self.body(b.body)
        match b.end:
            case ir.Jump(n):
                self.go(n, seen)
            case ir.Branch(condition, a, o):
                self.line(f"if {self.expr(condition)}:")
                self.indent += 1
                self.go(a, seen)
                self.indent -= 1
                self.go(o, seen)
            case ir.Back(slot):
                self.line(f"n = S[{slot}]")
                self.line(f"S[{slot}] = 0")
                self.line("return n")
            case ir.Decide(n):
                self.line(f"return d{n}(S)")
            case ir.Chance(n):
                self.line(f"S[0] = {b.number}")
                self.line(f"return C{n}")
            case ir.End():
                self.line(f"S[0] = {b.number}")
                self.line("return None")

    def go(self, n: int, seen: set[int]) -> None:
        b = self.program.blocks[n]
        small = b.budget < 0 and len(b.body) <= _SMALL and all(isinstance(s, ir.Store) for s in b.body)
        copies = sum(self.ways_in[m] > 1 for m in seen)
        if n not in seen and (self.ways_in[n] == 1 or (small and copies < _COPIES)) and len(seen) < 24:
            self.inside(b, seen | {n})
        else:
            self.line(f"return {n}")

    # --------------------------------------------------------------------------------------------------- decisions

    def decision(self, d: ir.Decision) -> None:
        self.line(f"def d{d.number}(S):")
        self.indent += 1
        match d.mode:
            case "one":
                self.decision_of_one(d)
            case "each":
                self.decision_of_each(d)
            case "any":
                self.decision_of_any(d)
        self.indent -= 1
        self.line(f"def a{d.number}(S, a):")
        self.indent += 1
        self.application(d)
        self.indent -= 1

    def decision_of_one(self, d: ir.Decision) -> None:
        self.line(f"p = {self.expr(d.actor)}")
        self.line(f"o = {d.own}(S, p)")
        self.line("if len(o) < 2:")
        self.line(f"    if not o: stuck({d.site}, p)")
        if self.traced:
            self.line("    taken(o[0], p)")
        self.line(f"    return a{d.number}(S, o[0])")
        self.line(f"S[0] = {d.block}")
        if d.offers:
            self.line(f"o += {d.offers}(S, p)")
            if d.everyone:
                self.others(d, "q != p")
        self.line("return o")

    def others(self, d: ir.Decision, test: str) -> None:
        n = self.program.actions
        self.line(f"for q in range({self.program.players}):")
        self.line(f"    if {test}: o += [{n} * (q + 1) + x for x in {d.offers}(S, q)]")

    def decision_of_each(self, d: ir.Decision) -> None:
        self.line(f"for p in range({self.program.players}):")
        self.indent += 1
        self.line(f"if S[{d.pending} + p] == 0:")
        self.indent += 1
        self.line(f"o = {d.own}(S, p)")
        self.line("if len(o) < 2:")
        self.line(f"    if not o: stuck({d.site}, p)")
        if self.traced:
            self.line("    taken(o[0], p)")
        self.line(f"    S[{d.pending} + p] = o[0] + 1")
        self.line("    continue")
        self.line(f"S[0] = {d.block}")
        if d.offers:
            self.line(f"o += {d.offers}(S, p)")
        self.line("return o")
        self.indent -= 2
        self.line(f"return {d.next}")

    def decision_of_any(self, d: ir.Decision) -> None:
        n = self.program.actions
        self.line(f"w = {self.expr(d.who)}")
        self.line("o = []")
        self.line(f"for p in range({self.program.players}):")
        self.line(f"    if w >> p & 1: o += [{n} * (p + 1) + x for x in {d.own}(S, p)]")
        if d.nobody_options:
            self.line(f"o += {d.nobody_options}(S, 0)")
        self.line("if len(o) < 2:")
        self.line(f"    if not o: stuck({d.site}, -1)")
        if self.traced:
            self.line(f"    taken(o[0] % {n}, o[0] // {n} - 1)")
        self.line(f"    return a{d.number}(S, o[0])")
        self.line(f"S[0] = {d.block}")
        if d.offers:
            self.others(d, "True" if d.everyone else "w >> q & 1")
        self.line("return o")

    def application(self, d: ir.Decision) -> None:
        n = self.program.actions
        match d.mode:
            case "one":
                self.line(f"p = {self.expr(d.actor)}")
                if d.everyone and d.offers:
                    self.line(f"if a >= {n}: p, a = a // {n} - 1, a % {n}")
            case "each":
                self.line(f"if a >= {n}: p, a = a // {n} - 1, a % {n}")
                self.line("else:")
                self.line("    p = 0")
                self.line(f"    while S[{d.pending} + p] != 0: p += 1")
            case "any":
                self.line(f"p, a = a // {n} - 1, a % {n}")
        own = set(d.moves) | ({d.nobody} if d.nobody >= 0 else set())
        moves = sorted(own | set(d.standing))
        if d.mode == "each":
            standing = [self.program.moves[m] for m in d.standing if m not in own]
            for move in standing:
                self.line(f"if {move.first} <= a < {move.first + move.actions}:")
                self.indent += 1
                self.perform(move, d.block)
                self.indent -= 1
            self.line(f"S[{d.pending} + p] = a + 1")
            self.line(f"return d{d.number}(S)")
            return
        self.dispatch([self.program.moves[m] for m in moves], own, d)

    def dispatch(self, moves: list[ir.MoveInfo], own: set[int], d: ir.Decision) -> None:
        if len(moves) == 1:
            self.perform(moves[0], d.next if moves[0].index in own else d.block)
            return
        half = len(moves) // 2
        self.line(f"if a < {moves[half].first}:")
        self.indent += 1
        self.dispatch(moves[:half], own, d)
        self.indent -= 1
        self.dispatch(moves[half:], own, d)

    def perform(self, move: ir.MoveInfo, then: int) -> None:
        arguments = _decoded(move)
        if move.procedure:
            self.line(f"{move.procedure}(S, p{''.join(', ' + a for a in arguments)})")
            self.line(f"return {then}")
            return
        for slot, value in zip(move.slots, ["p", *arguments], strict=True):
            self.line(f"S[{slot}] = {value}")
        if move.back >= 0:
            self.line(f"S[{move.back}] = {then}")
        self.line(f"return {move.entry}")

    # ------------------------------------------------------------------------------------------------------ chance

    def chance(self, c: ir.ChanceNode) -> None:
        self.line(f"def i{c.number}(S):")
        self.line(
            f"    return {c.stream}, S[{c.row}], {self.expr(c.ordinal)}, {c.low}, {self.expr(c.count)}, "
            f"{c.weights or 'None'}"
        )
        where = self.offset(c.base, c.index)
        self.line(f"def o{c.number}(S, v):")
        if self.traced:
            self.line(f"    changed(S, {where}, v, {c.site})")
        else:
            self.line(f"    S[{where}] = v")
        self.line(f"    return {c.next}")

    # --------------------------------------------------------------------------------------------------- the whole

    def source(self) -> str:
        p = self.program
        for name, values in p.tables.items():
            self.line(f"T_{name} = {values!r}")
        wanted = _reachable(p, everything=self.traced)
        for f in p.functions.values():
            if f.name in wanted:
                self.function(f)
        self.begin(())
        for c in p.chances:
            self.line(f"C{c.number} = ({c.number},)")
            self.chance(c)
        for d in p.decisions:
            self.decision(d)
        for b in p.blocks:
            self.block(b)
        self.line(f"BLOCKS = [{', '.join(f'b{b.number}' for b in p.blocks)}]")
        apply = ["None"] * len(p.blocks)
        for d in p.decisions:
            apply[d.block] = f"a{d.number}"
        self.line(f"APPLY = [{', '.join(apply)}]")
        self.line(f"INFO = [{', '.join(f'i{c.number}' for c in p.chances)}]")
        self.line(f"OUTCOME = [{', '.join(f'o{c.number}' for c in p.chances)}]")
        return "\n".join(self.lines) + "\n"


def _leaves(body: tuple[ir.Stmt, ...]) -> bool:
    """Tests if nothing that follows a body is reached through it."""
    if not body:
        return False
    match body[-1]:
        case ir.Return() | ir.Break() | ir.Continue():
            return True
        case ir.If(_, then, otherwise):
            return _leaves(then) and _leaves(otherwise)
        case _:
            return False


def _decoded(move: ir.MoveInfo) -> list[str]:
    """Writes the arguments of a move out of its action number `a`."""
    out: list[str] = []
    stride = 1
    for i in range(len(move.counts) - 1, -1, -1):
        low, count = move.lows[i], move.counts[i]
        text = f"a - {move.first}" if move.first else "a"
        if stride > 1:
            text = f"({text}) // {stride}"
        if i > 0:
            text = f"({text}) % {count}"
        if low:
            text = f"({text}) + {low}" if low > 0 else f"({text}) - {-low}"
        out.insert(0, text)
        stride *= count
    return out


def _ways_in(program: ir.Program) -> list[int]:
    """Counts the jumps to each block; blocks that play comes back to from outside count as having many."""
    ways = [0] * len(program.blocks)
    for b in program.blocks:
        match b.end:
            case ir.Jump(n):
                ways[n] += 1
            case ir.Branch(_, a, o):
                ways[a] += 1
                ways[o] += 1
            case _:
                pass
    return ways


def _reachable(program: ir.Program, *, everything: bool) -> set[str]:
    """Finds the functions that play needs (or, with `everything`, all of them)."""
    if everything:
        return set(program.functions)
    found: set[str] = set()
    todo: list[str] = [m.procedure for m in program.moves if m.procedure]
    todo += [m.why_not for m in program.moves]
    for d in program.decisions:
        todo += [n for n in (d.own, d.offers, d.nobody_options) if n]
    todo += [c.weights for c in program.chances if c.weights]
    todo += [m.function for m in program.measures]
    todo += [name for _, name, _ in program.invariants]
    todo += [n for n in (program.score, program.tie_break) if n]
    for b in program.blocks:
        for s in b.body:
            todo += called(s)
        if isinstance(b.end, ir.Branch):
            todo += called(b.end.condition)
    for d in program.decisions:
        todo += [*called(d.actor), *called(d.who)]
    for c in program.chances:
        todo += [*called(c.ordinal), *called(c.count), *called(c.index)]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            for s in program.functions[name].body:
                todo += called(s)
    return found


def called(node: ir.Stmt | ir.Expr) -> list[str]:
    """Gets the functions that a statement or expression calls, at any depth."""
    found: list[str] = []
    stack: list[ir.Expr | ir.Stmt] = [node]
    while stack:
        n = stack.pop()
        if isinstance(n, ir.Call | ir.Do):
            found.append(n.function)
        stack += parts(n)
    return found


def write_source(program: ir.Program, *, traced: bool) -> str:
    """Writes the program as the source of a Python module."""
    return _Writer(program, traced=traced).source()


def write_functions(
    program: ir.Program, functions: Sequence[ir.Function], tables: Mapping[str, tuple[int, ...]]
) -> str:
    """Writes some functions of positions of a program as the source of a Python module."""
    writer = _Writer(program, traced=False)
    for name, values in tables.items():
        writer.line(f"T_{name} = {values!r}")
    for f in functions:
        writer.function(f)
    return "\n".join(writer.lines) + "\n"


class PythonMachine:
    """Runs positions of one program with generated Python.

    `hooks` of a traced machine: `changed(S, slot, value, site)` stores and notes a change, `told`, `taken`.
    """

    def __init__(self, program: ir.Program, code: Any, *, hooks: dict[str, Callable[..., Any]]) -> None:
        self.program = program
        self.budget = [0]
        self.names: dict[str, Any] = {"B": self.budget, **hooks}
        exec(code, self.names)
        self.blocks: list[Callable[[Position], int | Stop]] = self.names["BLOCKS"]
        self.appliers: list[Callable[[Position, int], int | Stop]] = self.names["APPLY"]
        self.chance_info: list[Callable[[Position], tuple[int, int, int, int, int, Any]]] = self.names["INFO"]
        self.outcomes: list[Callable[[Position, int], int | Stop]] = self.names["OUTCOME"]

    def start(self) -> tuple[Position, Stop]:
        """Makes the first position and runs it to where the game first stops."""
        self.budget[0] = 0
        position = list(self.program.initial)
        return position, self.run(position, self.program.start)

    def run(self, position: Position, place: int | Stop) -> Stop:
        """Runs a position from block `place` to where the game stops."""
        blocks = self.blocks
        while place.__class__ is int:
            place = blocks[place](position)
        return place  # type: ignore[return-value]  # by its class it is none of a block's

    def stop(self, position: Position) -> Stop:
        """Finds what a position that has stopped stands at."""
        return self.run(position, position[0])

    def apply(self, position: Position, action: int) -> Stop:
        """Makes a move and runs on to the next stop."""
        self.budget[0] = 0
        return self.run(position, self.appliers[position[0]](position, action))

    def decide(self, position: Position, chance: int, outcome: int) -> Stop:
        """Lets a chance node come out as `outcome` and runs on to the next stop."""
        self.budget[0] = 0
        return self.run(position, self.outcomes[chance](position, outcome))

    def call(self, function: str, position: Position, *arguments: int) -> int:
        """Calls a function of the program."""
        return int(self.names[function](position, *arguments))
