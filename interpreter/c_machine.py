"""Writes the blocks of a program as one C function with labels: in steps, or whole games at a time.

`step` stops at every decision and chance node. `play_on` picks and rolls by itself. Since nobody asks there where a
position stands, it follows the blocks as far as it can: a block with one way in, or a short one, is written where it is
come from, and a return whose caller is known leads straight on.
"""

from __future__ import annotations

from . import program as ir
from .c_layout import Unwritable, descend, identifier
from .c_masks import MaskWriter
from .c_text import bare, known, number
from .c_ways import ways_in
from .tidy import ways_back

APPLY, DECIDE = 1, 2
_SHORT = 60
"""Up to this cost a block with several ways in is written anew at each."""
_LONG = 1000
"""Up to this cost blocks are written one into another."""
_COPIES = 10_000
"""Up to this cost, all together, blocks are written anew: what compilers take grows with it."""
_DEEP = 24
_SPANS = 1 << 12

Backs = dict[int, int]
"""Where ways back lead, as far as known: block by slot."""


class Machine(MaskWriter):
    """Writes the machine of a program."""

    def __init__(self, program: ir.Program) -> None:
        super().__init__(program)
        program = self.program
        self.bulk = False
        self.copied = 0
        """The cost of all blocks that were written anew so far."""
        self.ways_back = ways_back(program.blocks, program.decisions, program.moves)
        self.ways_in = ways_in(program)
        self.to_write: list[int] = []
        self.asked_for: set[int] = set()
        lists = [f for f in program.functions.values() if f.kind == "options"]
        self.sizes = {f.name: most_options(f.body, ranges=True) for f in lists}
        self.ranged = {f.name: most_options(f.body, ranges=False) for f in lists if _has_ranges(f.body)}

    def capacity(self, d: ir.Decision, sizes: dict[str, int]) -> int:
        """Gets how many entries the list of a decision's options can have at most."""
        players = self.program.players
        n = sizes.get(d.own, 0) * (players if d.mode == "any" else 1)
        if d.nobody_options:
            n += sizes.get(d.nobody_options, 0)
        if d.offers:
            n += sizes.get(d.offers, 0) * (players if d.everyone or d.mode == "any" else 1)
        return max(n, 1)

    def machine(self, *, bulk: bool) -> None:
        """Writes the function that runs blocks: in steps, or to the end of the game."""
        self.bulk = bulk
        p = self.program
        if bulk:
            most = max((self.capacity(d, self.sizes) for d in p.decisions if not self.spans(d)), default=1)
            spans = max((self.capacity(d, self.entries_of) for d in p.decisions if self.spans(d)), default=1)
            self.open("static int play_on(Position *restrict S, int64_t what, int64_t value, Luck *luck)")
            self.line(f"action_t o[{most + 1}];")
            self.line(f"Span s[{spans + 1}];")
            self.line("uint64_t x = luck->x;")
            self.line("Taste *const taste = luck->taste;")
            self.line("int64_t decisions = luck->decisions, total;")
            self.line("(void)s; (void)o; (void)total; (void)taste;")
        else:
            self.open(
                "static int64_t step(Position *S, int how, int64_t what, int64_t value, action_t *restrict o)"
            )
        self.line("int turns = 0, n = 0, p = 0, back = 0;")
        self.line("int64_t a = value;")
        self.line("(void)n; (void)p; (void)turns; (void)back; (void)a;")
        for g in sorted({g for d in p.decisions for g in self.known_at(d)}):
            self.line(f"int {known(g)} = 0;")
            self.line(f"(void){known(g)};")
        self.to_write, self.asked_for = [], set()
        self.copied = 0
        self.entries()
        while self.to_write:
            self.block(p.blocks[self.to_write.pop(0)])
        self.close()
        self.line("")

    @property
    def entries_of(self) -> dict[str, int]:
        """How many spans each list can have."""
        return {name: self.ranged.get(name, size) for name, size in self.sizes.items()}

    def spans(self, d: ir.Decision) -> bool:
        """Tests if a decision's options are kept as spans of actions instead of one by one."""
        return self.bulk and any(name in self.ranged for name in (d.own, d.offers, d.nobody_options))

    def lists_in_spans(self) -> list[str]:
        """Gets the lists of options that are needed as spans."""
        names = {
            name
            for d in self.program.decisions
            if any(name in self.ranged for name in (d.own, d.offers, d.nobody_options))
            for name in (d.own, d.offers, d.nobody_options)
            if name
        }
        return sorted(names)

    def entries(self) -> None:
        """Writes the ways into the machine."""
        p = self.program
        self.open("if (value >= 0)" if self.bulk else f"if (how == {APPLY})")
        self.open("switch (what)" if self.bulk else "switch (S->place)")
        for d in p.decisions:
            work = "".join(f"{known(g)} = {identifier(g)}(S); " for g in self.known_at(d))
            self.line(f"case {d.block}: {work}goto a{d.number};")
        self.line("default: lost(S->place);")
        self.close()
        self.close()
        if not self.bulk:
            self.open(f"if (how == {DECIDE})")
            self.open("switch (what)")
            for c in p.chances:
                self.line(f"case {c.number}: goto o{c.number};")
            self.line("default: lost(S->place);")
            self.close()
            self.close()
        self.open("switch (what)")
        for b in p.blocks:
            if not self.bulk or b.number == p.start or isinstance(b.end, ir.Decide | ir.Chance | ir.End):
                self.line(f"case {b.number}: {self.goto(b.number)}")
        self.line("default: lost(what);")
        self.close()
        for d in p.decisions:
            self.decision(d)
        for c in p.chances:
            self.chance(c)

    # --------------------------------------------------------------------------------------- blocks

    def goto(self, n: int) -> str:
        """Writes a jump to a block, which is then written somewhere."""
        if n not in self.asked_for:
            self.asked_for.add(n)
            self.to_write.append(n)
        return f"goto b{n};"

    def block(self, b: ir.Block) -> None:
        """Writes a block at its label."""
        self.available = {}
        self.indent -= 1
        self.open(f"b{b.number}:{self.place_of(b)}")
        self.inside(b, (b.number,), {}, 0)
        self.close()
        self.indent += 1

    def place_of(self, b: ir.Block) -> str:
        """Writes, as a comment, the rules' line that a block comes from."""
        sites = [s.site for s in b.body if isinstance(s, ir.Store | ir.StoreAt | ir.Tell) and s.site >= 0]
        return f" /* {self.program.sites[sites[0]]} */" if sites else ""

    def go(self, n: int, path: tuple[int, ...], backs: Backs, cost: int) -> None:
        """Leads on to a block: by a jump, or by writing it here."""
        b = self.program.blocks[n]
        if self.bulk and n not in path and len(path) < _DEEP:
            own = sum(self.judge.cost(s, set(self.available)) for s in b.body) + 4
            copied = self.ways_in[n] > 1
            if not copied or (own <= _SHORT and cost + own <= _LONG and self.copied <= _COPIES):
                self.copied += own if copied else 0
                self.open(self.place_of(b).strip())
                self.inside(b, (*path, n), backs, cost + own)
                self.close()
                return
        self.line(self.goto(n))

    def inside(self, b: ir.Block, path: tuple[int, ...], backs: Backs, cost: int) -> None:
        """Writes what a block does and where it leads."""
        if b.budget >= 0:
            self.line(f"if (RARE(++turns > {self.program.step_budget})) circle({b.budget});")
        test: list[str] = []

        before = self.available

        def write() -> None:
            self.available = before
            self.locals_of(b.body)
            for s in b.body:
                if not isinstance(s, ir.Store | ir.StoreAt):
                    self.forget(self.judge.writes(s))
                self.stmt(s)
                self.forget(self.judge.writes(s))
            if isinstance(b.end, ir.Branch):
                test[:] = [bare(self.expr(b.end.condition))]

        self.judge.enter(b.body, [])
        self.scope(write)
        backs = dict(backs)
        for s in b.body:
            if isinstance(s, ir.Store) and s.slot in self.ways_back:
                backs.pop(s.slot, None)
                if isinstance(s.value, ir.Const):
                    backs[s.slot] = s.value.value
        match b.end:
            case ir.Jump():
                self.go(b.end.block, path, backs, cost)
            case ir.Branch():
                self.open(f"if ({test[0]})")
                after = self.available
                self.go(b.end.then, path, backs, cost)
                self.close("} else {")
                self.indent += 1
                self.available = after
                self.go(b.end.otherwise, path, backs, cost)
                self.close()
            case ir.Back():
                self.back(b.end.slot, path, backs, cost)
            case ir.Decide():
                self.line(f"goto d{b.end.decision};")
            case ir.Chance():
                if self.bulk:
                    self.line(f"goto c{b.end.chance};")
                else:
                    self.line(f"S->place = {b.number};")
                    self.line(f"return STOP_CHANCE - {b.end.chance};")
            case ir.End():
                self.line(f"S->place = {b.number};")
                if self.bulk:
                    self.leave(1)
                else:
                    self.line("return STOP_END;")

    def leave(self, result: int) -> None:
        """Writes the end of whole games."""
        self.line("luck->x = x;")
        self.line("luck->decisions = decisions;")
        self.line(f"return {result};")

    def forget(self, slots: frozenset[int]) -> None:
        """Forgets what was known of functions that read any of these slots."""
        self.available = {
            g: name for g, name in self.available.items() if slots.isdisjoint(self.judge.reads(g))
        }

    def back(self, slot: int, path: tuple[int, ...], backs: Backs, cost: int) -> None:
        """Writes the return to the caller's block, after which nothing is left of where it was."""
        place = self.layout.slot(slot)
        if slot in backs:
            self.line(f"{place} = 0;")
            self.go(backs[slot], path, {k: v for k, v in backs.items() if k != slot}, cost)
            return
        self.line(f"back = {place};")
        self.line(f"{place} = 0;")
        self.open("switch (back)")
        for n in sorted(self.ways_back[slot]):
            self.line(f"case {n}: {self.goto(n)}")
        self.line("default: lost(back);")
        self.close()

    # ------------------------------------------------------------------------------------ decisions

    def decision(self, d: ir.Decision) -> None:
        """Writes a decision: who is asked, the options, and what a move leads to."""
        self.indent -= 1
        self.open(f"d{d.number}: /* {self.program.sites[d.site]} */")
        for g in self.known_at(d):
            self.line(f"{known(g)} = {identifier(g)}(S);")
        match d.mode:
            case "one":
                self.decision_of_one(d)
            case "each":
                self.decision_of_each(d)
            case "any":
                self.decision_of_any(d)
        self.close()
        self.open(f"a{d.number}:")
        self.application(d)
        self.close()
        self.indent += 1

    def known_at(self, d: ir.Decision) -> list[str]:
        """Gets the functions that are worked out before the options of a decision are listed."""
        lists = [name for name in (d.own, d.offers, d.nobody_options) if name]
        return sorted({g for name in lists for g in self.given[name]})

    def lists(
        self, d: ir.Decision, lister: str, player: str, *, first: bool = False, names: bool = False
    ) -> None:
        """Writes that options are listed, behind those before; `names`: as another player's."""
        name, list_ = identifier(lister), "s" if self.spans(d) else "o"
        if self.spans(d):
            name = f"spans_{name}"
        player = ", ".join([player, *(known(g) for g in self.given[lister])])
        if not names:
            self.line(
                f"n = {name}(S, {player}, {list_});" if first else f"n += {name}(S, {player}, {list_} + n);"
            )
            return
        field = "s[n].first" if self.spans(d) else "o[n]"
        self.line(f"int m = {name}(S, {player}, {list_} + n);")
        self.line(
            f"for (; m > 0; m--, n++) {field} += {self.program.actions} * ({player.split(',')[0]} + 1);"
        )

    def counted(self, d: ir.Decision) -> str:
        """Writes the counting of spans; gets the name of how many options there are."""
        if not self.spans(d):
            return "n"
        self.line("total = 0;")
        self.line("for (int i = 0; i < n; i++) total += s[i].count;")
        return "total"

    def sole(self, d: ir.Decision, player: str, then: str) -> None:
        """Writes that a single option is taken without asking."""
        count = self.counted(d)
        self.open(f"if ({count} < 2)")
        self.line(f"if (RARE({count} == 0)) stuck({d.site}, {player});")
        self.line("a = span_at(s, 0);" if self.spans(d) else "a = (int64_t)o[0];")
        self.line(then)
        self.close()

    def pick(self, d: ir.Decision, *, more: bool) -> None:
        """Writes that the game stops for a decision, or that an option is picked; `more` were listed since counted."""
        if not self.bulk:
            self.line(f"S->place = {d.block};")
            self.line("return n;")
            return
        count = self.counted(d) if more else "total" if self.spans(d) else "n"
        self.pick_from(d, "s" if self.spans(d) else "o", count)

    def pick_from(self, d: ir.Decision, options: str, count: str) -> None:
        """Writes that one of so many options is picked, by chance or by taste."""
        self.count_decision(d)
        self.by_taste(d, "0, s" if options == "s" else f"{options}, 0", count)
        self.line("x = next_pick(x);")
        which = f"(int64_t)((x >> 32) * (uint64_t){count} >> 32)"
        self.line(f"a = span_at(s, {which});" if options == "s" else f"a = (int64_t){options}[{which}];")
        self.line(f"goto a{d.number};")

    def decision_of_one(self, d: ir.Decision) -> None:
        """Writes a decision of one player."""
        self.line(f"p = {self.expr(d.actor)};")
        fixed = _fixed(self.program.functions[d.own].body)
        if self.bulk and not d.offers and len(fixed) > 1:
            self.line(f"static const action_t fixed[{len(fixed)}] = {{{', '.join(map(str, fixed))}}};")
            self.pick_from(d, "fixed", str(len(fixed)))
            return
        if self.in_bits(d):
            self.pick_bit(d)
            return
        self.lists(d, d.own, "p", first=True)
        self.sole(d, "p", f"goto a{d.number};")
        if d.offers:
            self.lists(d, d.offers, "p")
            if d.everyone:
                self.others(d, "q != p")
        self.pick(d, more=bool(d.offers))

    def in_bits(self, d: ir.Decision) -> bool:
        """Tests if a decision's options are kept as bits of a number."""
        return self.bulk and d.mode == "one" and not d.offers and d.own in self.masked

    def pick_bit(self, d: ir.Decision) -> None:
        """Writes that one of the options is picked that are bits of a number."""
        name = identifier(d.own)
        given = "".join(f", {known(g)}" for g in self.given[d.own])
        self.line(f"uint64_t m = mask_{name}(S, p{given});")
        self.line(f"n = count_{name}(m);")
        self.open("if (n < 2)")
        self.line(f"if (RARE(n == 0)) stuck({d.site}, p);")
        self.line(f"a = nth_{name}(m, 0);")
        self.line(f"goto a{d.number};")
        self.close()
        self.count_decision(d)
        self.by_taste(d, "o, 0", "n", f"for (int i = 0; i < n; i++) o[i] = (action_t)nth_{name}(m, i);")
        self.line("x = next_pick(x);")
        self.line(f"a = nth_{name}(m, (int64_t)((x >> 32) * (uint64_t)n >> 32));")
        self.line(f"goto a{d.number};")

    def count_decision(self, d: ir.Decision) -> None:
        """Writes that a decision is counted."""
        self.open(f"if (RARE(++decisions > {self.program.decision_budget}))")
        self.line(f"S->place = {d.block};")
        self.leave(0)
        self.close()
        self.line("turns = 0;")

    def by_taste(self, d: ir.Decision, lists: str, count: str, before: str = "") -> None:
        """Writes that an option is picked by taste, where there is one."""
        self.open("if (RARE(taste != 0))")
        if before:
            self.line(before)
        self.line(f"a = tasted(taste, {lists}, (uint64_t){count}, {-1 if d.mode == 'any' else 'p'}, &x);")
        self.line(f"goto a{d.number};")
        self.close()

    def others(self, d: ir.Decision, test: str) -> None:
        """Writes the standing offers of other players."""
        self.open(f"for (int q = 0; q < {self.program.players}; q++)")
        self.open(f"if ({test})" if test else "")
        self.lists(d, d.offers, "q", names=True)
        self.close()
        self.close()

    def pending(self, d: ir.Decision) -> str:
        """Writes the place of what player p has chosen."""
        m = self.layout.member_of[d.pending]
        return f"S->{m.name}" if m.scalar else f"S->{m.name}[p + {d.pending - m.first}]"

    def decision_of_each(self, d: ir.Decision) -> None:
        """Writes a decision that several make at once."""
        self.open(f"for (p = 0; p < {self.program.players}; p++)")
        self.line(f"if ({self.pending(d)} != 0) continue;")
        self.lists(d, d.own, "p", first=True)
        count = self.counted(d)
        self.open(f"if ({count} < 2)")
        self.line(f"if (RARE({count} == 0)) stuck({d.site}, p);")
        self.line(f"{self.pending(d)} = {'span_at(s, 0)' if self.spans(d) else '(int64_t)o[0]'} + 1;")
        self.line("continue;")
        self.close()
        if d.offers:
            self.lists(d, d.offers, "p")
        self.pick(d, more=bool(d.offers))
        self.close()
        self.line(self.goto(d.next))

    def decision_of_any(self, d: ir.Decision) -> None:
        """Writes a decision of whoever acts first."""
        self.line(f"int64_t w = {self.expr(d.who)};")
        self.line("n = 0;")
        self.open(f"for (p = 0; p < {self.program.players}; p++)")
        self.open("if (w >> p & 1)")
        self.lists(d, d.own, "p", names=True)
        self.close()
        self.close()
        if d.nobody_options:
            self.lists(d, d.nobody_options, "0")
        self.sole(d, "-1", f"goto a{d.number};")
        if d.offers:
            self.others(d, "" if d.everyone else "w >> q & 1")
        self.pick(d, more=bool(d.offers))

    def application(self, d: ir.Decision) -> None:
        """Writes what a move leads to."""
        n = self.program.actions
        match d.mode:
            case "one":
                self.line(f"p = {self.expr(d.actor)};")
                if d.everyone and d.offers:
                    self.line(f"if (a >= {n}) {{ p = (int)(a / {n} - 1); a %= {n}; }}")
            case "each":
                self.open(f"if (a >= {n})")
                self.line(f"p = (int)(a / {n} - 1);")
                self.line(f"a %= {n};")
                self.close("} else {")
                self.indent += 1
                self.line("p = 0;")
                self.line(f"while (p < {self.program.players - 1} && {self.pending(d)} != 0) p++;")
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
                    self.perform(d, move, d.block)
                    self.close()
            self.line(f"{self.pending(d)} = a + 1;")
            self.line(f"goto d{d.number};")
            return
        moves = [self.program.moves[m] for m in sorted(own | set(d.standing))]
        self.dispatch(moves, own, d)
        self.available = {}

    def dispatch(self, moves: list[ir.MoveInfo], own: set[int], d: ir.Decision) -> None:
        """Writes the choice of the move by the action's number."""
        if len(moves) == 1:
            self.perform(d, moves[0], d.next if moves[0].index in own else d.block)
            return
        self.open("switch (a)")
        for i, move in enumerate(moves):
            last = move.first + move.actions - 1
            case = f"case {move.first}" if move.actions == 1 else f"case {move.first} ... {last}"
            self.open("default:" if i == len(moves) - 1 else f"{case}:")
            self.perform(d, move, d.next if move.index in own else d.block)
            self.close()
        self.close()

    def perform(self, d: ir.Decision, move: ir.MoveInfo, then: int) -> None:
        """Writes the effects of a move."""
        arguments = decoded(move)
        if self.bulk and d.mode == "one":
            # picking has not changed the position since
            self.available = {g: known(g) for g in self.known_at(d)}
        if move.procedure:
            text = "".join(f", {x}" for x in arguments)
            self.line(f"{identifier(move.procedure)}(S, p{text});")
            self.forget(self.judge.writes(ir.Do(move.procedure, ())))
            self.go(then, (), {}, 0)
            return
        self.forget(frozenset((*move.slots, *((move.back,) if move.back >= 0 else ()))))
        for slot, value in zip(move.slots, ["p", *arguments], strict=True):
            self.line(f"{self.layout.slot(slot)} = {value};")
        if move.back >= 0:
            self.line(f"{self.layout.slot(move.back)} = {then};")
        self.go(move.entry, (), {move.back: then} if move.back >= 0 else {}, 0)

    # --------------------------------------------------------------------------------------- chance

    def chance(self, c: ir.ChanceNode) -> None:
        """Writes a chance node: in whole games it draws by itself."""
        self.indent -= 1
        if self.bulk:
            self.open(f"c{c.number}: /* {self.program.sites[c.site]} */")
            ordinal, count = self.expr(c.ordinal), self.expr(c.count)
            row = self.layout.slot(c.row)
            self.line("turns = 0;")
            address = f"(uint64_t)(int64_t){row}, (uint64_t)(int64_t){ordinal}"
            self.line(f"uint64_t bits = number_at(luck->keys[{c.stream}], {address});")
            if c.weights:
                self.weigh(c, count)
            else:
                self.line(f"a = {number(c.low)} + share_of(bits, (uint64_t){count});")
            self.line(f"goto o{c.number};")
            self.close()
        self.open(f"o{c.number}:")
        self.available = {}
        self.line(f"{self.element(c.base, c.index)} = a;")
        self.go(c.next, (), {}, 0)
        self.close()
        self.indent += 1

    def weigh(self, c: ir.ChanceNode, count: str) -> None:
        """Writes the drawing of an outcome by weight."""
        if c.count.high > 1 << 12:
            raise Unwritable(f"a chance node may have {c.count.high:,} outcomes by weight")
        self.line(f"int64_t weights[{max(1, c.count.high)}], sum = 0, left;")
        self.line(f"int count = {count}, i;")
        weight = f"{identifier(c.weights)}(S, {number(c.low)} + i)"
        self.line(f"for (i = 0; i < count; i++) sum += weights[i] = {weight};")
        self.line("left = share_of(bits, (uint64_t)sum);")
        self.line("for (i = 0; i < count && (left -= weights[i]) >= 0; i++) {}")
        self.line(f"if (RARE(i == count)) weightless({c.site});")
        self.line(f"a = {number(c.low)} + i;")


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


def most_options(body: tuple[ir.Stmt, ...], *, ranges: bool) -> int:
    """Gets how many entries statements can list at most, a range counting as all it holds or as one."""
    total = 0
    for s in body:
        match s:
            case ir.Emit():
                total += 1
            case ir.EmitRange():
                total += max(0, s.high.high - s.low.low + 1) if ranges else 1
            case ir.If():
                total += max(most_options(s.then, ranges=ranges), most_options(s.otherwise, ranges=ranges))
            case ir.For():
                total += max(0, s.high.high - s.low.low + 1) * most_options(s.body, ranges=ranges)
            case ir.Loop():
                raise Unwritable("options are listed in a loop without bounds")
            case _:
                pass
    return total


def _has_ranges(body: tuple[ir.Stmt, ...]) -> bool:
    holds = any(isinstance(n, ir.EmitRange) for n in descend(*body))
    return holds and most_options(body, ranges=False) <= _SPANS


def _fixed(body: tuple[ir.Stmt, ...]) -> list[int]:
    """Gets the options of a list that is always the same; none if it is not."""
    actions = [s.action.value for s in body if isinstance(s, ir.Emit) and isinstance(s.action, ir.Const)]
    return actions if len(actions) == len(body) else []
