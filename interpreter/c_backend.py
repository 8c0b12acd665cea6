"""The C backend: writes the program as one readable C file that plays positions in steps or whole games at a time.

A position is a struct whose members have the smallest types that do (`c_layout`). The blocks become labels of one
function, written twice: `step` stops at every decision and chance node, like the Python backend; `play_on` picks and
rolls by itself and plays to the end, without any allocation. Positions, options, their order, the numbers of chance
and the errors are those of the Python backend.
"""

from __future__ import annotations

from . import program as ir
from .c_cost import parameters_of
from .c_layout import Unwritable, c_type, descend, identifier
from .c_runtime import HEAD, INTERFACE
from .c_writer import WHYS, Writer, bare, number

MOST_OPTIONS = 1 << 16
"""Longer lists of options are not written in C."""

STOPS = {"END": -1, "TROUBLE": -2, "ENDLESS": -3, "CHANCE": -16}
MORE_WHYS = ("lost", "weight")
RUN, APPLY, DECIDE = 0, 1, 2


class Backend(Writer):
    """Writes a whole program."""

    def __init__(self, program: ir.Program, fingerprint: str) -> None:
        super().__init__(program)
        program = self.program
        self.fingerprint = fingerprint
        self.action_type = c_type(0, program.actions * (program.players + 1))[0]
        self.sizes = {f.name: _most(f.body) for f in program.functions.values() if f.kind == "options"}
        self.most_options = max((self.capacity(d) for d in program.decisions), default=1)
        if program.actions * (program.players + 1) > 1 << 31:
            raise Unwritable(f"there are {program.actions:,} actions")
        if self.most_options > MOST_OPTIONS:
            raise Unwritable(f"a decision may have {self.most_options:,} options")
        self.values = [
            f for f in program.functions.values() if f.kind == "value" and f.name in wanted(program)
        ]
        self.listers = [f for f in program.functions.values() if f.kind == "options"]
        self.backs = _ways_back(program)

    def capacity(self, d: ir.Decision) -> int:
        """Gets how many options a decision can have at most."""
        players = 1 if d.mode != "any" else self.program.players
        n = players * self.sizes[d.own]
        if d.nobody_options:
            n += self.sizes[d.nobody_options]
        if d.offers:
            n += self.sizes[d.offers] * (self.program.players if d.everyone or d.mode == "any" else 1)
        return max(n, 1)

    # --------------------------------------------------------------------------------------------------- the whole

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
        self.line(f"#define STREAMS {max(1, len(p.streams))}")
        self.line(f"#define MOST_OPTIONS {self.most_options}")
        self.line(f"#define FIGURES {figure_count(p)}")
        self.line(f"#define ROW {row_length(p)}")
        self.lines += HEAD.splitlines()
        self.line("")
        self.position()
        self.tables()
        used = wanted(p)
        functions = [f for f in p.functions.values() if f.name in used]
        for f in functions:
            self.line(self.head(f) + ";")
        self.line("")
        for f in functions:
            self.function(f)
        self.luck()
        self.machine(bulk=False)
        self.machine(bulk=True)
        self.doors()
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
        for name, head in (
            ("read_slots", "Position *S, const int64_t *slots"),
            ("write_slots", "const Position *S, int64_t *slots"),
        ):
            self.open(f"static void {name}({head})")
            for m in self.layout.members:
                inside, outside = f"S->{m.name}", f"slots[{m.first}]"
                if not m.scalar:
                    inside, outside = f"S->{m.name}[i]", f"slots[{m.first} + i]"
                loop = "" if m.scalar else f"for (int i = 0; i < {m.count}; i++) "
                if name == "read_slots":
                    self.line(f"{loop}{inside} = ({m.type}){outside};")
                else:
                    self.line(f"{loop}{outside} = {inside};")
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
        self.close("} Luck;")
        self.line("")
        self.open("static void luck_of(Luck *luck, uint64_t seed)")
        self.line("luck->decisions = 0;")
        self.line(f"luck->x = mix(seed * GOLDEN + UINT64_C({name_hash('policy')}));")
        for i, name in enumerate(self.program.streams):
            self.line(f"luck->keys[{i}] = mix(seed * GOLDEN + UINT64_C({name_hash(name)})); /* {name} */")
        self.close()
        self.line("")

    # ------------------------------------------------------------------------------------------------- the machine

    def machine(self, *, bulk: bool) -> None:
        """Writes the function that runs blocks: in steps, or to the end of the game."""
        p = self.program
        if bulk:
            self.open("static int play_on(Position *S, int64_t what, int64_t value, Luck *luck)")
            self.line(f"action_t o[{self.most_options + 1}];")
            self.line("uint64_t x = luck->x;")
            self.line("int64_t decisions = luck->decisions;")
        else:
            self.open(
                "static int64_t step(Position *S, int how, int64_t what, int64_t value, action_t *restrict o)"
            )
        self.line("int turns = 0, n, p;")
        self.line("int64_t a = value;")
        self.entries(bulk)
        for b in p.blocks:
            self.block(b, bulk)
        for d in p.decisions:
            self.decision(d, bulk)
        for c in p.chances:
            self.chance(c, bulk)
        self.close()
        self.line("")

    def entries(self, bulk: bool) -> None:
        """Writes the ways into the machine."""
        p = self.program
        self.open("if (value >= 0)" if bulk else f"if (how == {APPLY})")
        self.open("switch (what)" if bulk else "switch (S->place)")
        for d in p.decisions:
            self.line(f"case {d.block}: goto a{d.number};")
        self.line("default: lost(S->place);")
        self.close()
        self.close()
        if not bulk:
            self.open(f"if (how == {DECIDE})")
            self.open("switch (what)")
            for c in p.chances:
                self.line(f"case {c.number}: goto o{c.number};")
            self.line("default: lost(S->place);")
            self.close()
            self.close()
        self.open("switch (what)")
        for b in p.blocks:
            if not bulk or b.number == p.start or isinstance(b.end, ir.Decide | ir.Chance | ir.End):
                self.line(f"case {b.number}: goto b{b.number};")
        self.line("default: lost(what);")
        self.close()

    def block(self, b: ir.Block, bulk: bool) -> None:
        """Writes a block."""
        self.indent -= 1
        self.open(f"b{b.number}:")
        if b.budget >= 0:
            self.line(f"if (RARE(++turns > {self.program.step_budget})) circle({b.budget});")
        self.judge.enter(b.body, [])
        self.scope(lambda: self.inside(b, bulk))
        self.close()
        self.indent += 1

    def inside(self, b: ir.Block, bulk: bool) -> None:
        """Writes what a block does and where it leads."""
        self.locals_of(b.body)
        self.body(b.body)
        match b.end:
            case ir.Jump():
                self.line(f"goto b{b.end.block};")
            case ir.Branch():
                self.line(f"if ({bare(self.expr(b.end.condition))}) goto b{b.end.then};")
                self.line(f"goto b{b.end.otherwise};")
            case ir.Back():
                self.back(b.end.slot)
            case ir.Decide():
                self.line(f"goto d{b.end.decision};")
            case ir.Chance():
                if not bulk:
                    self.line(f"S->place = {b.number};")
                    self.line(f"return STOP_CHANCE - {b.end.chance};")
                else:
                    self.line(f"goto c{b.end.chance};")
            case ir.End():
                self.line(f"S->place = {b.number};")
                if bulk:
                    self.line("luck->x = x;")
                    self.line("luck->decisions = decisions;")
                self.line("return 1;" if bulk else "return STOP_END;")

    def back(self, slot: int) -> None:
        """Writes the return to the caller's block."""
        targets = sorted(self.backs.get(slot, ()))
        self.open(f"switch ({self.layout.slot(slot)})")
        for n in targets:
            self.line(f"case {n}: goto b{n};")
        self.line(f"default: lost({self.layout.slot(slot)});")
        self.close()

    # --------------------------------------------------------------------------------------------------- decisions

    def decision(self, d: ir.Decision, bulk: bool) -> None:
        """Writes a decision: who is asked, the options, and what a move leads to."""
        self.indent -= 1
        self.open(f"d{d.number}: /* {self.program.sites[d.site]} */")
        {"one": self.decision_of_one, "each": self.decision_of_each, "any": self.decision_of_any}[d.mode](
            d, bulk
        )
        self.close()
        self.open(f"a{d.number}:")
        self.application(d)
        self.close()
        self.indent += 1

    def auto(self, d: ir.Decision, player: str, then: str) -> None:
        """Writes that a single option is taken without asking."""
        self.open("if (n < 2)")
        self.line(f"if (RARE(n == 0)) stuck({d.site}, {player});")
        self.line("a = (int64_t)o[0];")
        self.line(then)
        self.close()

    def pick(self, d: ir.Decision, bulk: bool) -> None:
        """Writes that the game stops for a decision, or that an option is picked."""
        if not bulk:
            self.line(f"S->place = {d.block};")
            self.line("return n;")
            return
        self.line(f"if (RARE(++decisions > {self.program.decision_budget})) return 0;")
        self.line("turns = 0;")
        self.line("x = next_pick(x);")
        self.line("a = (int64_t)o[(x >> 32) * (uint64_t)n >> 32];")
        self.line(f"goto a{d.number};")

    def decision_of_one(self, d: ir.Decision, bulk: bool) -> None:
        self.line(f"p = {self.expr(d.actor)};")
        self.line(f"n = {d.own}(S, p, o);")
        self.auto(d, "p", f"goto a{d.number};")
        if d.offers:
            self.line(f"n += {d.offers}(S, p, o + n);")
            if d.everyone:
                self.others(d, "q != p")
        self.pick(d, bulk)

    def others(self, d: ir.Decision, test: str) -> None:
        self.open(f"for (int q = 0; q < {self.program.players}; q++)")
        self.open(f"if ({test})" if test else "")
        self.listed(d.offers, "q")
        self.close()
        self.close()

    def listed(self, lister: str, player: str) -> None:
        """Writes the listing of options that name their player."""
        self.line(f"int m = {lister}(S, {player}, o + n);")
        self.line(f"for (; m > 0; m--, n++) o[n] += {self.program.actions} * ({player} + 1);")

    def decision_of_each(self, d: ir.Decision, bulk: bool) -> None:
        pending = self.layout.member_of[d.pending]
        at = f"S->{pending.name}[p{f' + {d.pending - pending.first}' if d.pending > pending.first else ''}]"
        if pending.scalar:
            at = f"S->{pending.name}"
        self.open(f"for (p = 0; p < {self.program.players}; p++)")
        self.line(f"if ({at} != 0) continue;")
        self.line(f"n = {d.own}(S, p, o);")
        self.open("if (n < 2)")
        self.line(f"if (RARE(n == 0)) stuck({d.site}, p);")
        self.line(f"{at} = o[0] + 1;")
        self.line("continue;")
        self.close()
        if d.offers:
            self.line(f"n += {d.offers}(S, p, o + n);")
        self.pick(d, bulk)
        self.close()
        self.line(f"goto b{d.next};")

    def decision_of_any(self, d: ir.Decision, bulk: bool) -> None:
        self.line(f"int64_t w = {self.expr(d.who)};")
        self.line("n = 0;")
        self.open(f"for (p = 0; p < {self.program.players}; p++)")
        self.open("if (w >> p & 1)")
        self.listed(d.own, "p")
        self.close()
        self.close()
        if d.nobody_options:
            self.line(f"n += {d.nobody_options}(S, 0, o + n);")
        self.auto(d, "-1", f"goto a{d.number};")
        if d.offers:
            self.others(d, "" if d.everyone else "w >> q & 1")
        self.pick(d, bulk)

    def application(self, d: ir.Decision) -> None:
        """Writes what a move leads to."""
        n = self.program.actions
        match d.mode:
            case "one":
                self.line(f"p = {self.expr(d.actor)};")
                if d.everyone and d.offers:
                    self.line(f"if (a >= {n}) {{ p = (int)(a / {n} - 1); a %= {n}; }}")
            case "each":
                pending = self.layout.member_of[d.pending]
                at = f"S->{pending.name}[p + {d.pending - pending.first}]"
                if pending.scalar:
                    at = f"S->{pending.name}"
                self.open(f"if (a >= {n})")
                self.line(f"p = (int)(a / {n} - 1);")
                self.line(f"a %= {n};")
                self.close("} else {")
                self.indent += 1
                self.line("p = 0;")
                self.line(f"while (p < {self.program.players - 1} && {at} != 0) p++;")
                self.close()
            case "any":
                self.line(f"p = (int)(a / {n} - 1);")
                self.line(f"a %= {n};")
        own = set(d.moves) | ({d.nobody} if d.nobody >= 0 else set())
        if d.mode == "each":
            for m in d.standing:
                if m not in own:
                    move = self.program.moves[m]
                    self.open(f"if ({move.first} <= a && a < {move.first + move.actions})")
                    self.perform(move, d.block)
                    self.close()
            self.line(f"{at} = a + 1;")
            self.line(f"goto d{d.number};")
            return
        moves = [self.program.moves[m] for m in sorted(own | set(d.standing))]
        self.dispatch(moves, own, d)

    def dispatch(self, moves: list[ir.MoveInfo], own: set[int], d: ir.Decision) -> None:
        if len(moves) == 1:
            self.perform(moves[0], d.next if moves[0].index in own else d.block)
            return
        half = len(moves) // 2
        self.open(f"if (a < {moves[half].first})")
        self.dispatch(moves[:half], own, d)
        self.close("} else {")
        self.indent += 1
        self.dispatch(moves[half:], own, d)
        self.close()

    def perform(self, move: ir.MoveInfo, then: int) -> None:
        """Writes the effects of a move."""
        arguments = decoded(move)
        if move.procedure:
            text = "".join(f", {x}" for x in arguments)
            self.line(f"{identifier(move.procedure)}(S, p{text});")
            self.line(f"goto b{then};")
            return
        for slot, value in zip(move.slots, ["p", *arguments], strict=True):
            self.line(f"{self.layout.slot(slot)} = {value};")
        self.line(f"{self.layout.slot(move.back)} = {then};")
        self.line(f"goto b{move.entry};")

    # ------------------------------------------------------------------------------------------------------ chance

    def chance(self, c: ir.ChanceNode, bulk: bool) -> None:
        """Writes a chance node: in whole games it draws by itself."""
        self.indent -= 1
        if bulk:
            self.open(f"c{c.number}: /* {self.program.sites[c.site]} */")
            ordinal, count = self.expr(c.ordinal), self.expr(c.count)
            row = self.layout.slot(c.row)
            self.line("turns = 0;")
            self.line(
                f"uint64_t bits = number_at(luck->keys[{c.stream}], (uint64_t)(int64_t){row}, (uint64_t)(int64_t){ordinal});"
            )
            if not c.weights:
                self.line(f"a = {number(c.low)} + share_of(bits, (uint64_t){count});")
            else:
                self.weigh(c, count)
            self.line(f"goto o{c.number};")
            self.close()
        self.open(f"o{c.number}:")
        place = self.element(c.base, c.index)
        self.line(f"{place} = a;")
        self.line(f"goto b{c.next};")
        self.close()
        self.indent += 1

    def weigh(self, c: ir.ChanceNode, count: str) -> None:
        if c.count.high > 1 << 12:
            raise Unwritable(f"a chance node may have {c.count.high:,} outcomes by weight")
        self.line(f"int64_t weights[{max(1, c.count.high)}], sum = 0, left;")
        self.line(f"int count = {count}, i;")
        self.line(f"for (i = 0; i < count; i++) sum += weights[i] = {c.weights}(S, {number(c.low)} + i);")
        self.line("left = share_of(bits, (uint64_t)sum);")
        self.line("for (i = 0; i < count && (left -= weights[i]) >= 0; i++) {}")
        self.line(f"if (RARE(i == count)) weightless({c.site});")
        self.line(f"a = {number(c.low)} + i;")

    # ------------------------------------------------------------------------------------------------------- doors

    def doors(self) -> None:
        """Writes what finds functions by number, for callers outside."""
        p = self.program
        self.open("static int64_t call(Position *S, int function, const int64_t *a)")
        self.open("switch (function)")
        for i, f in enumerate(self.values):
            arguments = "".join(
                f", ({self.c_type_of(b)})a[{k}]" for k, (_, b) in enumerate(parameters_of(f))
            )
            self.line(f"case {i}: return {identifier(f.name)}(S{arguments});")
        self.line("default: lost(function);")
        self.close()
        self.close()
        self.line("")
        self.open("static int list(const Position *S, int function, int actor, action_t *o)")
        self.open("switch (function)")
        for i, f in enumerate(self.listers):
            self.line(f"case {i}: return {identifier(f.name)}(S, actor, o);")
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
        for name, function in (("score_of", p.score), ("tie_break_of", p.tie_break)):
            value = f"{identifier(function)}(S, p)" if function else "0"
            self.line(
                f"LOCAL int64_t {name}(const Position *S, int p) {{ (void)S; (void)p; return {value}; }}"
            )
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

    @staticmethod
    def c_type_of(bounds: tuple[int, int]) -> str:
        from .c_writer import c_int

        return c_int(*bounds)


def decoded(move: ir.MoveInfo) -> list[str]:
    """Writes the arguments of a move out of its action number `a`."""
    out: list[str] = []
    stride = 1
    for i in range(len(move.counts) - 1, -1, -1):
        low, count = move.lows[i], move.counts[i]
        if count == 1:
            out.insert(0, number(low))
            continue
        text = f"((unsigned)a - {move.first}u)" if move.first else "(unsigned)a"
        if stride > 1:
            text = f"{text} / {stride}u"
        if i > 0:
            text = f"({text}) % {count}u"
        text = f"(int)({text})"
        if low:
            text += f" + {low}" if low > 0 else f" - {-low}"
        out.insert(0, text)
        stride *= count
    return out


def _most(body: tuple[ir.Stmt, ...]) -> int:
    """Gets how many options statements can list at most."""
    total = 0
    for s in body:
        match s:
            case ir.Emit():
                total += 1
            case ir.EmitRange():
                total += max(0, s.high.high - s.low.low + 1)
            case ir.If():
                total += max(_most(s.then), _most(s.otherwise))
            case ir.For():
                total += max(0, s.high.high - s.low.low + 1) * _most(s.body)
            case ir.Loop():
                raise Unwritable("options are listed in a loop without bounds")
            case _:
                pass
    return total


def _ways_back(program: ir.Program) -> dict[int, set[int]]:
    """Finds the blocks that each way-back slot may hold."""
    ways: dict[int, set[int]] = {b.end.slot: set() for b in program.blocks if isinstance(b.end, ir.Back)}
    for b in program.blocks:
        for s in descend(*b.body):
            if isinstance(s, ir.Store) and s.slot in ways:
                if isinstance(s.value, ir.Const):
                    ways[s.slot].add(s.value.value)
                else:
                    ways[s.slot] |= {x.number for x in program.blocks}
    for d in program.decisions:
        own = {*d.moves, d.nobody}
        for m in {*d.moves, *d.standing, *({d.nobody} if d.nobody >= 0 else ())}:
            move = program.moves[m]
            if move.back in ways:
                ways[move.back].add(d.next if m in own else d.block)
    return ways


def name_hash(name: str) -> int:
    """Gets the part of a stream's key that its name makes."""
    h = 0xCBF29CE484222325
    for byte in name.encode():
        h = (h ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return h


def figure_count(program: ir.Program) -> int:
    """Gets how many figures the measures give together."""
    return sum(program.players if m.per else 1 for m in program.measures)


def row_length(program: ir.Program) -> int:
    """Gets how many numbers tell of one game: decisions, winners (as a set), scores, figures."""
    return 2 + program.players + figure_count(program)


def wanted(program: ir.Program) -> set[str]:
    """Finds the functions that play and its callers need: all but those of texts."""
    texts: set[str] = set()
    for m in program.moves:
        for use in (m.says, m.shows, m.means, *m.reasons):
            if use is not None:
                texts.update(use.functions)
    found: set[str] = set()
    todo = [name for name in program.functions if name not in texts]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        todo += [n.function for n in descend(*program.functions[name].body) if isinstance(n, ir.Call | ir.Do)]
    return found


def write_c(program: ir.Program, fingerprint: str = "") -> str:
    """Writes the program as C. Raises `Unwritable` when numbers or lists are too large for it."""
    return Backend(program, fingerprint).source()
