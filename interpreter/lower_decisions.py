"""Lowers decisions and moves: who is asked, which options are listed, what a move does, and why it may not be made.

A decision lists every instance of its moves whose guards hold, move by move in the order written, arguments from the
lowest. A guard is tested as soon as the parameters it speaks of are known. Parameters that run over few values are
written out, so that what depends on tables alone folds away.
"""

from __future__ import annotations

from msgspec.structs import replace

from ..grammar import tree
from ..grammar.walk import walk
from . import program as ir
from .environment import Env
from .layout import Shape
from .lower_chance import ChanceLowering
from .program import FALSE, TRUE, Expr, const, make
from .symbols import Callable, Local
from .types import TextType

WRITTEN_OUT = 1024
"""How many instances of a move may be written out one by one."""
MOST_ACTIONS = 1 << 40


class DecisionLowering(ChanceLowering):
    """Lowers decisions and moves."""

    moves: list[ir.MoveInfo]
    move_numbers: dict[str, int]

    # ------------------------------------------------------------------------------------------------------ moves

    def number_moves(self) -> None:
        """Gives every move its actions, in the order the moves are defined."""
        first = 0
        for symbol in self.checked.callables.values():
            node = symbol.node
            if not isinstance(node, tree.Move):
                continue
            lows, counts = [], []
            env = self._move_env(symbol)
            for p, local in zip(node.params, symbol.params, strict=True):
                shape = self._param(p, env)[0]
                lows.append(shape.low)
                counts.append(shape.count)
                env = env.bind(local, ir.Temp(shape.low, shape.high, f"{local.name}_"))
            info = ir.MoveInfo(
                symbol.name,
                len(self.moves),
                node.span,
                first,
                tuple(lows),
                tuple(counts),
                tuple(p.type for p in symbol.params),
                tuple(p.name.text for p in node.params),
                tuple(p.secret for p in node.params),
                guards=tuple(g.span for g in node.guards if not g.listing),
            )
            if info.actions > MOST_ACTIONS:
                self.report.error(
                    "too-many-actions", f"'{symbol.name}' has too many instances", node.name.span
                )
            first += info.actions
            self.move_numbers[symbol.name] = len(self.moves)
            self.moves.append(info)

    def _param(self, p: tree.Param, env: Env) -> tuple[Shape, Expr, Expr]:
        return self.param_shape(p.type, env)

    def _move_env(self, symbol: Callable) -> Env:
        return Env(actor=ir.Temp(0, len(self.checked.player.entries) - 1, "actor"))

    def lower_moves(self) -> None:
        """Lowers the effects, guards and texts of every move."""
        for symbol in self.checked.callables.values():
            node = symbol.node
            if not isinstance(node, tree.Move):
                continue
            info = self.moves[self.move_numbers[symbol.name]]
            if symbol.name in self.asks:
                frame = self.frame_of(symbol)
                info.entry, info.slots, info.back = frame.entry, frame.parameters, frame.back
            else:
                info.procedure = self.procedure(symbol)
            self._explain(symbol, node, info)

    def _explain(self, symbol: Callable, node: tree.Move, info: ir.MoveInfo) -> None:
        """Lowers what tells a player about a move: the first failing guard, and its texts."""
        env = self._move_env(symbol)
        players = len(self.checked.player.entries)
        names, bounds = ["actor"], [(0, players - 1)]
        body: list[ir.Stmt] = []
        for i, (p, local) in enumerate(zip(node.params, symbol.params, strict=True)):
            shape, low, high = self._param(p, env)
            temp = ir.Temp(shape.low, shape.high, f"{p.name.text}_")
            names.append(temp.name)
            bounds.append((shape.low, shape.high))
            inside = make("and", make("<=", low, temp), make("<=", temp, high))
            if inside != TRUE:
                body.append(ir.If(ir.negate(inside), (ir.Return(const(-1 - i)),)))
                env = env.knowing(inside)
            env = env.bind(local, temp)
        number = 0
        for guard in node.guards:
            if guard.listing:
                continue
            number += 1
            test = self.flag(guard.condition, env)
            if test != TRUE:
                body.append(ir.If(ir.negate(test), (ir.Return(const(number)),)))
                env = env.knowing(test)
        body.append(ir.Return(FALSE))
        info.why_not = f"why_{symbol.name}"
        self.functions[info.why_not] = ir.Function(
            info.why_not, tuple(names), tuple(body), "value", (-len(names), number), tuple(bounds)
        )
        plain = self._move_env(symbol)
        for local, n, b in zip(symbol.params, names[1:], bounds[1:], strict=True):
            plain = plain.bind(local, ir.Temp(*b, n))

        def use(template: tree.Template | None) -> ir.TextUse | None:
            if template is None:
                return None
            text, values = self.text(template, plain)
            functions = []
            for v in values:
                name = self.fresh("text")
                self.functions[name] = ir.Function(
                    name, tuple(names), (ir.Return(v),), "value", (v.low, v.high), tuple(bounds)
                )
                functions.append(name)
            return ir.TextUse(text, tuple(functions))

        info.says, info.shows, info.means = use(node.says), use(node.shows), use(node.means)
        info.reasons = tuple(use(g.reason) for g in node.guards if not g.listing)

    # -------------------------------------------------------------------------------------------------- decisions

    def choose(self, s: tree.Choose) -> None:
        """Lowers a decision."""
        env = self.code.env
        site = self.site(s.span)
        players = len(self.checked.player.entries)
        standing, everyone = self._standing() if s.offers else ((), False)
        actor: Expr = FALSE
        who: Expr = FALSE
        pending = -1
        if s.who is not None:
            actor = self.fit(self.expr(s.who, env), 0, players - 1, s.who, env)
            if _calls(actor):
                actor = self.keep(actor)  # who decides is read off the position, without the functions
        else:
            assert s.domain is not None and s.variable is not None
            who = self._choosers(s, env, players)
            if s.mode == "each":
                pending = self.slots.take(-1, self.actions, -1)
                for _ in range(players - 1):
                    self.slots.take(-1, self.actions, -1)
                for p in range(players):
                    takes_part = make("bit", who, const(p))
                    self.code.add(ir.Store(pending + p, ir.choose(takes_part, FALSE, const(-1)), -1))
        block = self.waits()
        after = self.new_block()
        number = len(self.decisions)
        own = self._lister(f"own_{number}", s.moves)
        offers = self._lister(f"offers_{number}", standing) if standing else ""
        nobody = ""
        if s.nobody is not None:
            nobody = self._lister(f"nobody_{number}", (s.nobody,))
        self.decisions.append(
            ir.Decision(
                number,
                s.mode,
                block.number,
                site,
                self.frame.symbol.name,
                actor,
                who,
                pending,
                tuple(self.move_numbers[w.text] for w in s.moves),
                tuple(self.move_numbers[w.text] for w in standing),
                everyone,
                -1 if s.nobody is None else self.move_numbers[s.nobody.text],
                own,
                offers,
                nobody,
                after.number,
            )
        )
        env = self.close(ir.Decide(number))
        self.start_block(after, env)
        if s.mode == "each":
            self._carry_out(s, pending, players)

    @property
    def actions(self) -> int:
        """How many actions there are."""
        return sum(m.actions for m in self.moves)

    def _standing(self) -> tuple[tuple[tree.Word, ...], bool]:
        words: dict[str, tree.Word] = {}
        everyone = False
        for definition in self.checked.rules.definitions:
            node = definition.node
            if not isinstance(node, tree.Standing) or not self.offers:
                continue
            if node.when is not None and self.flag(node.when, Env()) != TRUE:
                if not isinstance(self.flag(node.when, Env()), ir.Const):
                    self.report.error("not-constant", "this is not known before play", node.when.span)
                continue
            everyone = everyone or node.everyone
            words.update({w.text: w for w in node.moves})
        return tuple(words.values()), everyone

    offers: bool

    def _choosers(self, s: tree.Choose, env: Env, players: int) -> Expr:
        assert s.domain is not None and s.variable is not None
        local = self.checked.locals[s.variable]
        who: Expr = FALSE
        for p in range(players):
            holds = self.drawn_from(s.domain, const(p), env)
            if s.where is not None:
                inner = env.bind(local, const(p)).knowing(holds)
                holds = make("and", holds, self.flag(s.where, inner))
            who = make("union", who, ir.choose(holds, const(1 << p), FALSE))
        return who

    def _carry_out(self, s: tree.Choose, pending: int, players: int) -> None:
        """Makes the moves that all have chosen, by seat."""
        for p in range(players):
            chosen = ir.Load(-1, self.actions, pending + p)
            self.code.add(ir.If(make("<", FALSE, chosen), self._by_action(s, chosen, p)))
            self.code.add(ir.Store(pending + p, const(-1), -1))

    def _by_action(self, s: tree.Choose, chosen: Expr, p: int) -> tuple[ir.Stmt, ...]:
        chain: tuple[ir.Stmt, ...] = ()
        for word in sorted(s.moves, key=lambda w: self.moves[self.move_numbers[w.text]].first):
            info = self.moves[self.move_numbers[word.text]]
            symbol = self.checked.refs[word]
            assert isinstance(symbol, Callable)
            arguments = _arguments(info, chosen)
            do = ir.Do(self.procedure(symbol), (const(p), *arguments))
            test = make("<", const(info.first), chosen)
            chain = (ir.If(test, (do,), chain),) if chain else (do,)
        return chain

    # ----------------------------------------------------------------------------------------------------- options

    def _lister(self, name: str, moves: tuple[tree.Word, ...]) -> str:
        """Makes the function that lists the options of (actor)."""
        players = len(self.checked.player.entries)
        memos: dict[Expr, str] = {}
        env = Env(actor=ir.Temp(0, players - 1, "actor"), memos=memos, lasting=frozenset(["actor"]))
        body: list[ir.Stmt] = []
        for word in moves:
            symbol = self.checked.refs[word]
            assert isinstance(symbol, Callable) and isinstance(symbol.node, tree.Move)
            info = self.moves[self.move_numbers[word.text]]
            guards = list(symbol.node.guards)
            body += self._instances(symbol, info, guards, 0, const(info.first), env, info.actions)
        self.functions[name] = ir.Function(
            name, ("actor",), tuple(body), "options", parameter_bounds=((0, players - 1),)
        )
        return name

    def _instances(
        self,
        symbol: Callable,
        info: ir.MoveInfo,
        guards: list[tree.Needs],
        k: int,
        action: Expr,
        env: Env,
        instances: int,
    ) -> list[ir.Stmt]:
        """Lists the instances of a move from parameter k on; `action` is the number with the rest at their lowest."""
        node = symbol.node
        assert isinstance(node, tree.Move)
        later = set(symbol.params[k:])
        now = [g for g in guards if not self._speaks_of(g.condition, later)]
        rest = [g for g in guards if g not in now]
        test: Expr = TRUE
        for g in now:
            this = self.flag(g.condition, env)
            env = env.knowing(this)
            test = make("and", test, this)
            if test == FALSE:
                return []
        inner: list[ir.Stmt] = []
        if k == len(info.counts):
            inner.append(ir.Emit(action))
        else:
            inner += self._parameter(symbol, info, rest, k, action, env, instances)
        if not inner or test == TRUE:
            return inner
        return [ir.If(test, tuple(inner))]

    def _parameter(
        self,
        symbol: Callable,
        info: ir.MoveInfo,
        guards: list[tree.Needs],
        k: int,
        action: Expr,
        env: Env,
        instances: int,
    ) -> list[ir.Stmt]:
        node = symbol.node
        assert isinstance(node, tree.Move)
        local = symbol.params[k]
        shape, low, high = self._param(node.params[k], env)
        stride = 1
        for c in info.counts[k + 1 :]:
            stride *= c
        if isinstance(shape.type, TextType):  # listed once, without a text; whoever makes the move gives one
            return self._instances(symbol, info, guards, k + 1, action, env.bind(local, FALSE), instances)
        fixed = isinstance(low, ir.Const) and isinstance(high, ir.Const)
        if fixed and instances <= WRITTEN_OUT:
            out: list[ir.Stmt] = []
            for value in range(low.low, high.low + 1):
                number = make("+", action, const((value - info.lows[k]) * stride))
                out += self._instances(
                    symbol, info, guards, k + 1, number, env.bind(local, const(value)), instances
                )
            return out
        start = make("+", action, make("*", make("-", low, const(info.lows[k])), const(stride)))
        if k == len(info.counts) - 1 and not guards:
            end = make("+", action, make("-", high, const(info.lows[k])))
            return [ir.EmitRange(start, end)]
        temp = ir.Temp(low.low, high.high, self.fresh(local.name))
        number = make("+", action, make("*", make("-", temp, const(info.lows[k])), const(stride)))
        body = self._instances(symbol, info, guards, k + 1, number, env.bind(local, temp), instances)
        return [ir.For(temp.name, low, high, tuple(body))] if body else []

    def _speaks_of(self, node: tree.Expr, locals_: set[Local]) -> bool:
        return any(self.checked.refs.get(n) in locals_ for n in walk(node))


def _calls(e: Expr) -> bool:
    """Tests if an expression calls a function."""
    match e:
        case ir.Call():
            return True
        case ir.Op(_, _, _, arguments):
            return any(_calls(a) for a in arguments)
        case ir.Cond(_, _, c, t, o):
            return _calls(c) or _calls(t) or _calls(o)
        case ir.LoadAt(_, _, _, _, inner) | ir.Lookup(_, _, _, inner) | ir.Checked(_, _, inner, _, _):
            return _calls(inner)
        case _:
            return False


def _arguments(info: ir.MoveInfo, chosen: Expr) -> list[Expr]:
    """Works the arguments of a move out of its action number + 1."""
    rest: Expr = ir.Op(0, info.actions - 1, "-", (chosen, const(info.first + 1)))
    arguments: list[Expr] = []
    for i in range(len(info.counts) - 1, -1, -1):
        low, count = info.lows[i], info.counts[i]
        value = rest if i == 0 else make("mod", rest, const(count))
        value = replace(value, low=0, high=count - 1) if isinstance(value, ir.Op) else value
        arguments.insert(0, make("+", value, const(low)))
        rest = make("//", rest, const(count))
    return arguments
