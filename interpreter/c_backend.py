"""The C backend: writes the program as one readable C file that plays positions in steps or whole games at a time.

A position is a struct whose members have the smallest types that do (`c_layout`). The blocks become labels of one
function, written twice: `step` stops at every decision and chance node, like the Python backend; `play_on` picks and
rolls by itself and plays to the end, without any allocation. Positions, options, their order, the numbers of chance
and the errors are those of the Python backend.
"""

from __future__ import annotations

from . import program as ir
from .c_cost import parameters_of
from .c_layout import Unwritable, c_type, identifier
from .c_machine import APPLY, DECIDE, Machine
from .c_runtime import HEAD, INTERFACE
from .c_taste import LEARNING, TASTE
from .c_text import c_int, number
from .c_writer import WHYS
from .chance import name_hash

MOST_OPTIONS = 1 << 16
"""Longer lists of options are not written in C."""

STOPS = {"END": -1, "TROUBLE": -2, "ENDLESS": -3, "CHANCE": -16}
MORE_WHYS = ("lost", "weight", "slot", "invariant")
RUN = 0


class Backend(Machine):
    """Writes a whole program.

    Who steps through positions by his own means leaves out the machine that plays whole games (`plays` is False): half
    of what the compiler has to do.
    """

    plays = True

    def __init__(self, program: ir.Program, fingerprint: str) -> None:
        super().__init__(program)
        program = self.program
        self.fingerprint = fingerprint
        self.action_type = c_type(0, program.actions * (program.players + 1))[0]
        self.most_options = max((self.capacity(d, self.sizes) for d in program.decisions), default=1)
        if program.actions * (program.players + 1) > 1 << 31:
            raise Unwritable(f"there are {program.actions:,} actions")
        if self.most_options > MOST_OPTIONS:
            raise Unwritable(f"a decision may have {self.most_options:,} options")
        self.wanted = wanted(program)
        self.values = [f for f in program.functions.values() if f.kind == "value" and f.name in self.wanted]
        self.listers = [f for f in program.functions.values() if f.kind == "options"]

    # ------------------------------------------------------------------------------------ the whole

    def source(self) -> str:
        """Writes everything."""
        p = self.program
        self.line("/* Written from rules by a program; changes here are lost. */")
        for i, why in enumerate((*WHYS, *MORE_WHYS)):
            self.line(f"#define WHY_{why.upper()} {i}")
        for name, value in STOPS.items():
            self.line(f"#define STOP_{name} ({value})")
        self.line(f'#define FINGERPRINT "{self.fingerprint}"')
        self.line(f"#define PLAYERS {p.players}")
        self.line(f"#define ACTIONS {p.actions}")
        self.line(f"#define STREAMS {max(1, len(p.streams))}")
        self.line(f"#define MOST_OPTIONS {self.most_options}")
        self.line(f"#define FIGURES {figure_count(p)}")
        self.line(f"#define ROW {row_length(p)}")
        self.lines += HEAD.splitlines()
        self.line("")
        self.position()
        self.tables()
        functions = [f for f in p.functions.values() if f.name in self.wanted]
        for f in functions:
            self.line(self.head(f) + ";")
        self.line("")
        for f in functions:
            self.function(f)
        for name in self.lists_in_spans():
            self.spans_of(p.functions[name])
        self.lines += TASTE.splitlines()
        self.luck()
        self.machine(bulk=False)
        if self.plays:
            for name in sorted({d.own for d in p.decisions if d.own in self.masked}):
                self.mask_of(p.functions[name])
            self.machine(bulk=True)
        else:
            self.line("static int play_on(Position *S, int64_t what, int64_t value, Luck *luck)")
            self.line("{ (void)S; (void)value; (void)luck; lost(what); }")
            self.line("")
        self.doors()
        self.lines += LEARNING.splitlines()
        self.lines += INTERFACE.splitlines()
        return "\n".join(self.lines) + "\n"

    def position(self) -> None:
        """Writes the struct of a position and what reads and writes it slot by slot."""
        p = self.program
        self.line(f"typedef {self.action_type} action_t;")
        self.line("")
        self.open("typedef struct")
        for m in self.layout.in_order():
            array = "" if m.scalar else f"[{m.count}]"
            last = m.first + m.count - 1
            slots = f"slot {m.first}" if m.scalar else f"slots {m.first} to {last}"
            self.line(f"{m.type} {m.name}{array}; /* {slots}: {m.low} to {m.high} */")
        self.close("} Position;")
        self.line("")
        self.open("static const Position INITIAL =")
        for m in self.layout.in_order():
            values = ", ".join(number(v) for v in p.initial[m.first : m.first + m.count])
            self.line(f".{m.name} = {values}," if m.scalar else f".{m.name} = {{{values}}},")
        self.close("};")
        self.line("")
        self.slot_access()

    def slot_access(self) -> None:
        """Writes what reads and writes a position slot by slot; reading finds the first slot that holds what it cannot."""
        self.open("static int64_t read_slots(Position *S, const int64_t *slots)")
        for m in self.layout.members:
            inside, loop, at = f"S->{m.name}", "", str(m.first)
            if not m.scalar:
                inside, at = f"S->{m.name}[i]", f"{m.first} + i"
                loop = f"for (int i = 0; i < {m.count}; i++) "
            self.open(f"{loop}")
            self.line(f"if (slots[{at}] < {number(m.low)} || slots[{at}] > {number(m.high)}) return {at};")
            self.line(f"{inside} = ({m.type})slots[{at}];")
            self.close()
        self.line("return -1;")
        self.close()
        self.line("")
        self.open("static void write_slots(const Position *S, int64_t *slots)")
        for m in self.layout.members:
            if m.scalar:
                self.line(f"slots[{m.first}] = S->{m.name};")
            else:
                self.line(f"for (int i = 0; i < {m.count}; i++) slots[{m.first} + i] = S->{m.name}[i];")
        self.close()
        self.line("")

    def tables(self) -> None:
        """Writes the constant tables."""
        for name, values in self.program.tables.items():
            low, high = self.judge.reach[name]
            padded = (0,) * -low + values + (0,) * (high + 1 - len(values))
            type_, _ = c_type(min(padded), max(padded))
            items = ", ".join(number(v) for v in padded)
            self.line(f"static const {type_} T_{identifier(name)}[{len(padded)}] = {{{items}}};")
        self.line("")

    def luck(self) -> None:
        """Writes where chance and picks come from in whole games."""
        self.open("typedef struct")
        self.line("uint64_t keys[STREAMS]; /* of the streams of chance */")
        self.line("uint64_t x; /* the generator of picks */")
        self.line("int64_t decisions;")
        self.line("Taste *taste; /* by which options are picked; none: by chance */")
        self.close("} Luck;")
        self.line("")
        self.open("static void luck_of(Luck *luck, uint64_t seed)")
        self.line("luck->decisions = 0;")
        self.line("luck->taste = 0;")
        self.line(f"luck->x = mix(seed * GOLDEN + UINT64_C({name_hash('policy')}));")
        for i, name in enumerate(self.program.streams):
            self.line(f"luck->keys[{i}] = mix(seed * GOLDEN + UINT64_C({name_hash(name)})); /* {name} */")
        self.close()
        self.line("")

    # ---------------------------------------------------------------------------------------- doors

    def doors(self) -> None:
        """Writes what finds functions by number, for callers outside."""
        p = self.program
        self.open("static int64_t call(Position *S, int function, const int64_t *a)")
        self.open("switch (function)")
        for i, f in enumerate(self.values):
            arguments = "".join(f", ({c_int(*b)})a[{k}]" for k, (_, b) in enumerate(parameters_of(f)))
            self.line(f"case {i}: return {identifier(f.name)}(S{arguments});")
        self.line("default: lost(function);")
        self.close()
        self.close()
        self.line("")
        self.open("static int list(const Position *S, int function, int actor, action_t *o)")
        self.open("switch (function)")
        for i, f in enumerate(self.listers):
            work = "".join(f", {identifier(g)}(S)" for g in self.given[f.name])
            self.line(f"case {i}: return {identifier(f.name)}(S, actor{work}, o);")
        self.line("default: lost(function);")
        self.close()
        self.close()
        self.line("")
        self.open("static void describe_chance(const Position *S, int node, int64_t *out)")
        self.open("switch (node)")
        for c in p.chances:
            self.open(f"case {c.number}:")
            ordinal = self.expr(c.ordinal)
            values = (str(c.stream), self.layout.slot(c.row), ordinal, number(c.low), self.expr(c.count))
            for k, v in enumerate(values):
                self.line(f"out[{k}] = {v};")
            self.line("return;")
            self.close()
        self.line("default: lost(node);")
        self.close()
        self.close()
        self.line("")
        self.results()

    def weights(self) -> None:
        """Writes what tells of chance nodes by weight; for those who draw outside the machine."""
        weighted = [c for c in self.program.chances if c.weights]
        self.open("LOCAL int is_weighted(int64_t node)")
        self.line(f"return {' || '.join(f'node == {c.number}' for c in weighted) or '0'};")
        self.close()
        self.line("")
        self.open("LOCAL int64_t weight_of(const Position *S, int64_t node, int64_t value)")
        self.line("(void)S; (void)value;")
        self.open("switch (node)")
        for c in weighted:
            self.line(f"case {c.number}: return {identifier(c.weights)}(S, (int)value);")
        self.line("default: return 0;")
        self.close()
        self.close()
        self.line("")

    def results(self) -> None:
        """Writes what tells of a game that is over."""
        p = self.program
        for name, function in (("score_of", p.score), ("tie_break_of", p.tie_break)):
            value = f"{identifier(function)}(S, p)" if function else "0"
            self.line(
                f"LOCAL int64_t {name}(const Position *S, int p) {{ (void)S; (void)p; return {value}; }}"
            )
        self.open("static void test_invariants(const Position *S)")
        self.line("(void)S;")
        for i, (_, function, _) in enumerate(p.invariants):
            self.line(f"if (!{identifier(function)}(S)) bad(-1, WHY_INVARIANT, {i}, 0, 0);")
        self.close()
        self.line("")
        self.open("static void measure(const Position *S, int64_t *out)")
        self.line("(void)S; (void)out;")
        at = 0
        for m in p.measures:
            if m.per:
                self.line(
                    f"for (int p = 0; p < PLAYERS; p++) out[{at} + p] = {identifier(m.function)}(S, p);"
                )
                at += p.players
            else:
                self.line(f"out[{at}] = {identifier(m.function)}(S);")
                at += 1
        self.close()
        self.line("")


def figure_count(program: ir.Program) -> int:
    """Gets how many figures the measures give together."""
    return sum(program.players if m.per else 1 for m in program.measures)


def row_length(program: ir.Program) -> int:
    """Gets how many numbers tell of one game: decisions, winners (as a set), scores, figures."""
    return 2 + program.players + figure_count(program)


def wanted(program: ir.Program) -> set[str]:
    """Gets the functions that play and its callers need: all but those of texts."""
    texts: set[str] = set()
    for m in program.moves:
        for use in (m.says, m.shows, m.means, *m.reasons):
            if use is not None:
                texts.update(use.functions)
    return program.functions.keys() - texts


def write_c(program: ir.Program, fingerprint: str = "") -> str:
    """Writes the program as C. Raises `Unwritable` when numbers or lists are too large for it."""
    return Backend(program, fingerprint).source()


__all__ = ["APPLY", "DECIDE", "RUN", "STOPS", "Backend", "figure_count", "row_length", "wanted", "write_c"]
