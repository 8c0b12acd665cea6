"""Writes expressions, statements and functions of the program as C.

Whatever may fail is written as a statement of its own before the expression that needs it, in the order in which it is
worked out, so that the first error is the same as in Python. Expressions themselves change nothing and cannot fail.
Numbers are `int` where 32 bits do, `int64_t` else. `bad`, `circle` and `stuck` do not return.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import program as ir
from .c_cost import CHEAP, HOISTED, PICKED, Judge, parameters_of
from .c_layout import Layout, descend, identifier, is_wide
from .c_simplify import simplify
from .c_text import bare, c_int, flag, join, known, number, split_constant

WHYS = ("range", "none", "index", "zero", "loop", "stuck")
"""The kinds of error, by the number C gives them."""

ABSENT = "ABSENT"

FEW = 4
"""Up to so many options are listed without a branch around them."""

_INFIX = {"+": "+", "-": "-", "*": "*", "=": "==", "!=": "!=", "<": "<", "<=": "<=", "union": "|"}


@dataclass(slots=True)
class Piece:
    """An expression that was written: the statements before it, and its text."""

    lines: list[str]
    text: str


class Writer:
    """Writes C text line by line."""

    def __init__(self, program: ir.Program) -> None:
        self.program = program = simplify(program)
        self.layout = Layout(program)
        self.lines: list[str] = []
        self.indent = 0
        self.temps = 0
        self.judge = Judge(program, self.layout)
        self.failing = self.judge.failing
        self.memos: dict[str, ir.Memo] = {}
        self.known: set[str] = set()
        self.lazy: set[str] = set()
        self.worked_out: dict[str, int] = {}
        self.asked: set[str] = set()
        self.early: list[str] | None = None
        self.early_known: set[str] = set()
        self.parameters: frozenset[str] = frozenset()
        self.as_spans = False
        self.given = {
            f.name: self.judge.given(f.name) for f in program.functions.values() if f.kind == "options"
        }
        self.available: dict[str, str] = {}

    # ----------------------------------------------------------------------------------------- text

    def line(self, text: str) -> None:
        """Writes a line."""
        self.lines.append("    " * self.indent + text)

    def open(self, text: str) -> None:
        """Opens a brace."""
        self.line(text + " {" if text else "{")
        self.indent += 1

    def close(self, text: str = "}") -> None:
        """Closes a brace."""
        self.indent -= 1
        self.line(text)

    def temp(self) -> str:
        """Makes a name for a local."""
        self.temps += 1
        return f"t{self.temps}"

    def hold(self, low: int, high: int, text: str) -> str:
        """Keeps a value in a local."""
        t = self.temp()
        self.line(f"{c_int(low, high)} {t} = {text};")
        return t

    def aside(self, write: Callable[[], str], *, deeper: int = 1) -> Piece:
        """Writes an expression that may never be worked out; its statements come back, not yet written."""
        kept, known = self.lines, self.known
        self.lines, self.known = [], set(known)
        self.indent += deeper
        text = write()
        self.indent -= deeper
        piece = Piece(self.lines, text)
        self.lines, self.known = kept, known
        return piece

    # ---------------------------------------------------------------------------------- expressions

    def expr(self, e: ir.Expr) -> str:
        """Writes an expression; statements that it needs are written before."""
        match e:
            case ir.Const():
                return number(e.value)
            case ir.Load():
                return self.layout.slot(e.slot)
            case ir.LoadAt():
                return self.element(e.base, e.index)
            case ir.Temp():
                return identifier(e.name)
            case ir.Op():
                return self.operator(e)
            case ir.Cond():
                return self.conditional(e)
            case ir.Call():
                return self.call(e)
            case ir.Lookup():
                return self.lookup(e)
            case ir.Checked():
                return self.check(e)
            case ir.Memo():
                return self.memo(e)
        raise AssertionError(e)

    def element(self, base: int, index: ir.Expr) -> str:
        """Writes the place of slot base + index."""
        constant, rest = split_constant(index)
        m = self.layout.member_of[base]
        at = base - m.first + constant
        if rest is None:
            return f"S->{m.name}[{at}]" if not m.scalar else f"S->{m.name}"
        text = self.expr(rest)
        if m.scalar:
            return f"S->{m.name}"
        if at:
            text = f"{text} {'+' if at > 0 else '-'} {abs(at)}"
        return f"S->{m.name}[{text}]"

    def lookup(self, e: ir.Lookup) -> str:
        """Writes a table item; tables that are read early begin before their first item."""
        low, _ = self.judge.reach[e.table]
        constant, rest = split_constant(e.index)
        at = constant - low
        text = self.expr(rest) if rest is not None else str(at)
        if at and rest is not None:
            text = f"{text} {'+' if at > 0 else '-'} {abs(at)}"
        return f"T_{identifier(e.table)}[{text}]"

    def widened(self, e: ir.Op) -> list[str]:
        """Writes the operands, the first one as 64 bits if the result needs them and no operand does."""
        texts = [self.expr(a) for a in e.arguments]
        if is_wide(e.low, e.high) and not any(is_wide(a.low, a.high) for a in e.arguments):
            texts[0] = f"(int64_t){texts[0]}"
        return texts

    def operator(self, e: ir.Op) -> str:
        """Writes an operator."""
        a, op = e.arguments, e.operator
        if op in ("and", "or"):
            return self.junction(e)
        if op in _INFIX:
            return f"({f' {_INFIX[op]} '.join(self.widened(e))})"
        if op in ("min", "max"):
            return self.extreme(e)
        texts = self.widened(e)
        wide = any(is_wide(x.low, x.high) for x in (e, *a))
        match op:
            case "neg":
                return f"(-{texts[0]})"
            case "//" | "mod":
                plain = a[0].low >= 0 and a[1].low > 0
                if plain and not wide:
                    return f"(int)((unsigned){texts[0]} {'/' if op == '//' else '%'} (unsigned){texts[1]})"
                if plain:
                    return f"({texts[0]} {'/' if op == '//' else '%'} {texts[1]})"
                return f"{'floored' if op == '//' else 'modulo'}({', '.join(texts)})"
            case "ceil":
                return f"(-floored(-(int64_t){texts[0]}, {texts[1]}))"
            case "not":
                return f"(!{texts[0]})"
            case "bit":
                if isinstance(a[1], ir.Const):
                    shift = f"{texts[0]} >> {texts[1]} & 1" if a[1].value else f"{texts[0]} & 1"
                    return f"(({shift}) != 0)" if not wide else f"(int)({shift})"
                self.shifts(a[1])
                return f"(int)({texts[0]} >> {texts[1]} & 1)"
            case "one":
                self.shifts(a[0])
                return f"(1 << {texts[0]})" if not wide else f"((int64_t)1 << {texts[0]})"
            case "without":
                return f"({texts[0]} & ~{'(int64_t)' if wide else ''}{texts[1]})"
            case "count":
                return f"__builtin_popcountll((uint64_t){texts[0]})"
        raise AssertionError(op)

    @staticmethod
    def shifts(e: ir.Expr) -> None:
        """Refuses shifts by more than 62 places."""
        is_wide(0, 1 << max(0, min(e.high, 64)))

    def extreme(self, e: ir.Op) -> str:
        """Writes the least or greatest of some numbers."""
        wide = any(is_wide(x.low, x.high) for x in (e, *e.arguments))
        name = ("least" if e.operator == "min" else "most") + ("64" if wide else "")
        texts = [self.expr(a) for a in e.arguments]
        text = texts[0]
        for t in texts[1:]:
            text = f"{name}({text}, {t})"
        return text

    def junction(self, e: ir.Op) -> str:
        """Writes `and` or `or`: what comes later is worked out only if it matters."""
        both = e.operator == "and"
        sign, eager_sign = ("&&", "&") if both else ("||", "|")
        parts = [flag(e.arguments[0], self.expr(e.arguments[0]))]
        for a in e.arguments[1:]:
            piece = self.aside(lambda a=a: flag(a, self.expr(a)))  # type: ignore[misc]
            if not piece.lines:
                if self.judge.cost(a, self.known | self.early_known) <= CHEAP and self.judge.safe(a):
                    parts[-1] = f"{parts[-1]} {eager_sign} {piece.text}"
                else:
                    parts.append(piece.text)
                continue
            t = self.hold(0, 1, join(sign, parts))
            self.open(f"if ({t})" if both else f"if (!{t})")
            self.lines += piece.lines
            self.line(f"{t} = {piece.text};")
            self.close()
            parts = [t]
        return join(sign, parts)

    def conditional(self, e: ir.Cond) -> str:
        """Writes a choice between two values."""
        condition = self.expr(e.condition)
        then = self.aside(lambda: self.expr(e.then))
        otherwise = self.aside(lambda: self.expr(e.otherwise))
        if not then.lines and not otherwise.lines:
            if all(
                self.judge.cost(x, self.known | self.early_known) <= PICKED and self.judge.safe(x)
                for x in (e.then, e.otherwise)
            ):
                return self.picked(e, flag(e.condition, condition), then.text, otherwise.text)
            return f"({condition} ? {then.text} : {otherwise.text})"
        t = self.temp()
        self.line(f"{c_int(e.low, e.high)} {t};")
        self.open(f"if ({condition})")
        self.lines += then.lines
        self.line(f"{t} = {then.text};")
        self.close("} else {")
        self.indent += 1
        self.lines += otherwise.lines
        self.line(f"{t} = {otherwise.text};")
        self.close()
        return t

    @staticmethod
    def picked(e: ir.Cond, condition: str, then: str, otherwise: str) -> str:
        """Writes a choice without a branch."""
        flags = e.then.low >= 0 and e.then.high <= 1 and e.otherwise.low >= 0 and e.otherwise.high <= 1
        if flags and e.then == ir.TRUE:
            return f"({condition} | {otherwise})"
        if flags and e.then == ir.FALSE:
            return f"(!{condition} & {otherwise})"
        if flags and e.otherwise == ir.TRUE:
            return f"(!{condition} | {then})"
        if flags and e.otherwise == ir.FALSE:
            return f"({condition} & {then})"
        wide = is_wide(e.then.low, e.then.high) or is_wide(e.otherwise.low, e.otherwise.high)
        return f"pick{'64' if wide else ''}({bare(condition)}, {bare(then)}, {bare(otherwise)})"

    def call(self, e: ir.Call) -> str:
        """Writes a call; one that may fail is a statement of its own."""
        if e.function in self.available:
            return self.available[e.function]
        text = f"{identifier(e.function)}({', '.join(['S', *(self.expr(a) for a in e.arguments)])})"
        if e.function in self.failing:
            return self.hold(*self.judge.result(self.program.functions[e.function]), text)
        return text

    def check(self, e: ir.Checked) -> str:
        """Writes a check of a value."""
        text = self.expr(e.value)
        if self.judge.certain(e):
            return text
        if not isinstance(e.value, ir.Load | ir.Temp | ir.Const) and not text.isidentifier():
            text = self.hold(e.value.low, e.value.high, text)
        self.bad_if(e, text)
        return text

    def bad_if(self, e: ir.Checked, text: str) -> None:
        """Writes the test of a checked value."""
        tests = []
        least, most = self.judge.bounds(e.value)
        if least < e.low:
            tests.append(f"{text} < {number(e.low)}")
        if most > e.high:
            tests.append(f"{text} > {number(e.high)}")
        call = f"bad({e.site}, {WHYS.index(e.why)}, {text}, {number(e.low)}, {number(e.high)});"
        if most < e.low or least > e.high:
            self.line(call)
        elif tests:
            self.line(f"if (RARE({' || '.join(tests)})) {call}")

    def memo(self, e: ir.Memo) -> str:
        """Writes a value that is worked out at most once."""
        name = identifier(e.name)
        self.memos[name] = e
        if name in self.known or name in self.early_known:
            return name
        if self.early is not None and self.worth_hoisting(e):
            kept, indent = self.lines, self.indent
            self.lines, self.indent = [], 1
            text = self.expr(e.value)
            self.line(f"{name} = {text};")
            self.early += self.lines
            self.lines, self.indent = kept, indent
            self.early_known.add(name)
            return name
        self.worked_out[name] = self.worked_out.get(name, 0) + 1
        if name in self.lazy:
            self.asked.add(name)
            piece = self.aside(lambda: self.expr(e.value))
            self.open(f"if ({name} == {ABSENT})")
            self.lines += piece.lines
            self.line(f"{name} = {piece.text};")
            self.close()
        else:
            self.line(f"{name} = {self.expr(e.value)};")
        self.known.add(name)
        return name

    def worth_hoisting(self, e: ir.Memo) -> bool:
        """Tests if a value is better worked out at the start of the function, though it may not be needed."""
        return (
            self.judge.cost(e.value, self.early_known) <= HOISTED
            and self.judge.safe(e.value)
            and self.is_fixed(e)
        )

    def is_fixed(self, e: ir.Memo) -> bool:
        """Tests if a value stays the same in a function that does not change the position."""
        return all(n.name in self.parameters for n in descend(e.value) if isinstance(n, ir.Temp))

    # ----------------------------------------------------------------------------------- statements

    def body(self, statements: tuple[ir.Stmt, ...]) -> None:
        """Writes statements."""
        for s in statements:
            self.stmt(s)

    def inner(self, statements: tuple[ir.Stmt, ...]) -> None:
        """Writes statements that may not be run."""
        known = set(self.known)
        self.body(statements)
        self.known = known

    def stmt(self, s: ir.Stmt) -> None:
        """Writes a statement."""
        match s:
            case ir.Store():
                self.store(s.value, lambda: self.layout.slot(s.slot))
            case ir.StoreAt():
                self.store(s.value, lambda: self.element(s.base, s.index))
            case ir.SetTemp():
                self.line(f"{identifier(s.name)} = {self.expr(s.value)};")
            case ir.If():
                self.branch(s)
            case ir.For():
                self.loop_over(s)
            case ir.Loop():
                turns = self.temp()
                self.line(f"int {turns} = 0;")
                self.open("for (;;)")
                self.line(f"if (RARE(++{turns} > {self.program.step_budget})) circle({s.site});")
                self.repeated(s.body)
                self.close()
            case ir.Break():
                self.line("break;")
            case ir.Continue():
                self.line("continue;")
            case ir.Do():
                self.line(
                    f"{identifier(s.function)}({', '.join(['S', *(self.expr(a) for a in s.arguments)])});"
                )
            case ir.Return():
                self.line(f"return {self.expr(s.value)};")
            case ir.Tell():
                self.told(s)
            case ir.Emit():
                self.emit(self.expr(s.action))
            case ir.EmitRange():
                low = self.expr(s.low)
                self.emit_range(low, self.expr(s.high))
            case _:
                raise AssertionError(s)

    def told(self, s: ir.Tell) -> None:
        """Leaves a text out: nobody listens."""

    def emit(self, action: str) -> None:
        """Lists an option."""
        self.line(f"s[n++] = span({action}, {action});" if self.as_spans else f"o[n++] = {action};")

    def emit_range(self, low: str, high: str) -> None:
        """Lists options one after another."""
        if self.as_spans:
            self.line(f"s[n++] = span({low}, {high});")
            return
        t = self.temp()
        self.line(f"for (int64_t {t} = {low}, last = {high}; {t} <= last; {t}++) o[n++] = {t};")

    def store(self, value: ir.Expr, place: Callable[[], str]) -> None:
        """Writes a store: first the value, then the place."""
        text = self.expr(value)
        self.line(f"{place()} = {text};")

    def branch(self, s: ir.If) -> None:
        """Writes a branch; options that are cheap to judge are listed without one."""
        if self.listed_without_branch(s, None):
            return
        self.open(f"if ({bare(self.expr(s.condition))})")
        self.inner(s.then)
        otherwise = s.otherwise
        while otherwise:
            if len(otherwise) == 1 and isinstance(otherwise[0], ir.If):
                inner = otherwise[0]
                piece = self.aside(lambda i=inner: self.expr(i.condition), deeper=0)  # type: ignore[misc]
                if not piece.lines:
                    self.close(f"}} else if ({bare(piece.text)}) {{")
                    self.indent += 1
                    self.inner(inner.then)
                    otherwise = inner.otherwise
                    continue
            self.close("} else {")
            self.indent += 1
            self.inner(otherwise)
            break
        self.close()

    def listed_without_branch(self, s: ir.If, outer: str | None) -> bool:
        """Writes a guard with few options behind it so that each is put down, and counted only if it holds.

        `outer` is the text of the guard around it. Gives False, and writes nothing, where that will not do.
        """
        if s.otherwise or not _lists_few(s.then):
            return False
        piece = self.aside(lambda: flag(s.condition, self.expr(s.condition)), deeper=0)
        if outer is not None:
            cheap = self.judge.cost(s.condition, self.early_known) <= 2 * CHEAP and "&&" not in piece.text
            if piece.lines or not cheap or not self.judge.safe(s.condition):
                return False
        kept, self.lines = self.lines, list(piece.lines)
        holds = piece.text if outer is None else f"({outer} & {piece.text})"
        if len(s.then) > 1:
            holds = self.hold(0, 1, holds)
        done = all(self.put_down(inner, holds) for inner in s.then)
        self.lines = kept + self.lines if done else kept
        return done

    def put_down(self, s: ir.Stmt, holds: str) -> bool:
        """Writes an option, or a guard of some, that counts only if the guard around it holds."""
        if isinstance(s, ir.If):
            return self.listed_without_branch(s, holds)
        assert isinstance(s, ir.Emit)
        piece = self.aside(lambda: self.expr(s.action), deeper=0)
        if piece.lines or not self.judge.safe(s.action):
            return False
        self.put_if(piece.text, bare(holds))
        return True

    def put_if(self, action: str, holds: str) -> None:
        """Lists an option that counts only if a guard holds."""
        self.line(f"s[n] = span({action}, {action});" if self.as_spans else f"o[n] = {action};")
        self.line(f"n += {holds};")

    def loop_over(self, s: ir.For) -> None:
        """Writes a loop over numbers."""
        name = identifier(s.name)
        low, high = self.expr(s.low), self.expr(s.high)
        type_ = c_int(min(s.low.low, s.high.low), s.high.high + 1)
        changed = any(isinstance(x, ir.SetTemp) and x.name == s.name for x in descend(*s.body))
        counter = self.temp() if changed else name
        if isinstance(s.high, ir.Const):
            head, last = f"{type_} {counter} = {low}", high
        else:
            last = self.temp()
            head = f"{type_} {counter} = {low}, {last} = {high}"
        self.open(f"for ({head}; {counter} <= {last}; {counter}++)")
        if changed:
            self.line(f"{type_} {name} = {counter};")
        self.repeated(s.body)
        self.close()

    def repeated(self, body: tuple[ir.Stmt, ...]) -> None:
        """Writes what a loop repeats; what may change from turn to turn is worked out anew in each."""
        start, outer = len(self.lines), self.asked
        self.asked = set()
        self.inner(body)
        stale = [
            name for name in sorted(self.asked) if self.early is None or not self.is_fixed(self.memos[name])
        ]
        self.lines[start:start] = [f"{'    ' * self.indent}{name} = {ABSENT};" for name in stale]
        self.asked |= outer

    # ------------------------------------------------------------------------------------ functions

    def locals_of(self, statements: tuple[ir.Stmt, ...], taken: tuple[str, ...] = ()) -> None:
        """Declares the locals that statements set."""
        bounds: dict[str, tuple[int, int]] = {}
        loops = {n.name for n in descend(*statements) if isinstance(n, ir.For)}
        for n in descend(*statements):
            if isinstance(n, ir.SetTemp) and n.name not in taken and n.name not in loops:
                low, high = bounds.get(n.name, (0, 0))
                bounds[n.name] = min(low, n.value.low), max(high, n.value.high)
        for name in sorted(bounds):
            self.line(f"{c_int(*bounds[name])} {identifier(name)};")

    def head(self, f: ir.Function) -> str:
        """Writes the head of a function."""
        position = "const Position *S" if f.kind != "procedure" else "Position *S"
        parameters = [position, *(f"{c_int(*b)} {identifier(p)}" for p, b in parameters_of(f))]
        if f.kind == "value":
            type_ = c_int(*self.judge.result(f))
        elif f.kind == "options":
            type_ = "int"
            parameters += [f"int {known(g)}" for g in self.given[f.name]]
            parameters.append("Span *restrict s" if self.as_spans else "action_t *restrict o")
        else:
            type_ = "void"
        pure = "PURE " if f.kind == "value" and f.name not in self.failing else ""
        name = f"spans_{identifier(f.name)}" if self.as_spans else identifier(f.name)
        inline = "inline " if f.kind == "value" else ""
        return f"{pure}static {inline}{type_} {name}({', '.join(parameters)})"

    def spans_of(self, f: ir.Function) -> None:
        """Writes a list of options as one that gives spans of them."""
        self.as_spans = True
        self.function(f)
        self.as_spans = False

    def function(self, f: ir.Function) -> None:
        """Writes a function."""
        self.judge.enter(f.body, parameters_of(f))
        self.parameters = frozenset(f.parameters)
        self.available = {g: known(g) for g in self.given.get(f.name, ())}
        self.open(self.head(f))

        def write() -> None:
            self.locals_of(f.body, f.parameters)
            if f.kind == "options":
                self.line("size_t n = 0;")
            self.body(f.body)
            if f.kind == "options":
                self.line("return (int)n;")
            elif f.kind == "value" and not (f.body and isinstance(f.body[-1], ir.Return)):
                self.line("return 0;")

        self.scope(write, hoists=f.kind != "procedure")
        self.available = {}
        self.close()
        self.line("")

    def scope(self, write: Callable[[], None], *, hoists: bool = False) -> None:
        """Writes the inside of a function or block, then puts the declarations of what is worked out once before it."""
        start, temps = len(self.lines), self.temps
        self.lazy = set()
        while True:
            self.worked_out, self.memos, self.known, self.early_known = {}, {}, set(), set()
            self.asked = set()
            self.early = [] if hoists else None
            write()
            lazy = {name for name, times in self.worked_out.items() if times > 1}
            if lazy <= self.lazy:
                break
            self.lazy |= lazy
            del self.lines[start:]
            self.temps = temps
        declared = []
        for name in sorted(self.memos):
            low, high = self.judge.bounds(self.memos[name].value)
            absent = f" = {ABSENT}" if name in self.lazy and name not in self.early_known else ""
            declared.append(f"{'    ' * self.indent}{c_int(low, high)} {name}{absent};")
        self.lines[start:start] = declared + (self.early or [])
        self.early, self.early_known = None, set()


def _lists_few(statements: tuple[ir.Stmt, ...]) -> bool:
    """Tests if statements do nothing but list a few options, some of them behind guards."""
    inside = list(descend(*statements))
    if not all(isinstance(n, ir.Emit | ir.If | ir.Expr) for n in inside):
        return False
    return 0 < sum(isinstance(n, ir.Emit) for n in inside) <= FEW


__all__ = ["ABSENT", "WHYS", "Piece", "Writer", "number"]
