"""Cuts rules in which the game may stop into basic blocks: decisions, chance, calls, and the loops around them."""

from __future__ import annotations

from abc import abstractmethod

from msgspec import Struct
from msgspec.structs import replace

from ..grammar import tree
from ..grammar.walk import walk
from . import program as ir
from .environment import Env, Run
from .layout import FREE
from .lower_statements import Code, StatementLowering
from .program import FALSE, TRUE, Expr, const, make
from .symbols import ActorRef, Callable, Local, Variable
from .types import PileType, SetType


class Frame(Struct):
    """The slots of a rule or move in which the game may stop: those to clear when it is done, and the way back."""

    symbol: Callable
    entry: int
    parameters: tuple[int, ...]
    back: int
    slots: list[int]


class LoopBlocks(Struct):
    """Where `stop` and `skip` lead."""

    stop: int
    skip: int


class BlockLowering(StatementLowering):
    """Lowers the rules in which the game may stop."""

    blocks: list[ir.Block]
    decisions: list[ir.Decision]
    chances: list[ir.ChanceNode]
    streams: dict[str, int]
    frames: dict[str, Frame]
    pending_frames: list[Frame]
    asks: set[str]
    """Rules and moves in which the game may stop, under the readings chosen."""
    ends: list[tree.Expr]
    end_block: int
    current: ir.Block
    code: Code
    frame: Frame

    # ----------------------------------------------------------------------------------------------------- blocks

    def new_block(self) -> ir.Block:
        """Makes an empty block."""
        block = ir.Block(len(self.blocks))
        self.blocks.append(block)
        return block

    def start_block(self, block: ir.Block, env: Env) -> None:
        """Goes on in `block`; nothing is known of the position there."""
        self.current = block
        self.code = Code(replace(env, facts=frozenset()))

    def close(self, end: ir.Terminator) -> Env:
        """Ends the current block and gets the environment that held in it."""
        self.current.body = tuple(self.code.out)
        self.current.end = end
        return self.code.env

    def slot(self, low: int, high: int) -> int:
        """Takes a slot in the frame of the rule being lowered."""
        number = self.slots.take(max(low, -FREE), min(high, FREE))
        self.frame.slots.append(number)
        return number

    def frame_of(self, symbol: Callable) -> Frame:
        """Gets the frame of a rule or move, giving it slots and an entry block at first use."""
        frame = self.frames.get(symbol.name)
        if frame is not None:
            return frame
        node = symbol.node
        assert isinstance(node, tree.Rule | tree.Move)
        players = len(self.checked.player.entries)
        parameters = []
        if isinstance(node, tree.Move) or self.uses_actor(symbol):
            parameters.append(self.slots.take(0, players - 1))
        env = Env(actor=ir.Load(0, players - 1, parameters[0]) if parameters else None)
        for p in node.params:
            shape = self.param_shape(p.type, env)[0] if isinstance(node, tree.Move) else self.shape(p.type)
            parameters.append(self.slots.take(shape.low, shape.high, max(0, shape.low)))
        back = self.slots.take(0, 1 << 15)
        frame = Frame(symbol, self.new_block().number, tuple(parameters), back, [*parameters, back])
        self.frames[symbol.name] = frame
        self.pending_frames.append(frame)
        return frame

    def lower_frame(self, frame: Frame, *, start: bool) -> None:
        """Lowers a rule or move into blocks."""
        node = frame.symbol.node
        assert isinstance(node, tree.Rule | tree.Move)
        self.frame = frame
        env = Env()
        slots = list(frame.parameters)
        if isinstance(node, tree.Move) or self.uses_actor(frame.symbol):
            n = slots.pop(0)
            env.actor = ir.Load(*self.slots.bounds[n], n)
        for local, n in zip(frame.symbol.params, slots, strict=True):
            env = env.bind(local, ir.Load(*self.slots.bounds[n], n))
        self.start_block(self.blocks[frame.entry], env)
        self.body(node.body, None)
        if start:
            self.close(ir.Jump(self.end_block))
            return
        for n in dict.fromkeys(frame.slots):
            if n != frame.back:
                self.code.out.append(ir.Store(n, const(self.slots.initial[n]), -1))
        self.close(ir.Back(frame.back))

    # ------------------------------------------------------------------------------------------------- statements

    def stops(self, s: tree.Statement) -> bool:
        """Tests if the game may stop in a statement."""
        match s:
            case tree.Choose() | tree.Roll() | tree.Draw() | tree.Shuffle() | tree.EndGame():
                return True
            case tree.Call():
                ref = self.checked.refs.get(s)
                return isinstance(ref, Callable) and ref.name in self.asks
            case tree.If() | tree.Match():
                return any(self.stops(x) for body in self.live(s) for x in body)
            case tree.For(body=body) | tree.Repeat(body=body):
                return any(self.stops(x) for x in body)
            case _:
                return False

    def find_asking(self) -> None:
        """Finds the rules and moves in which the game may stop, under the readings chosen."""
        self.asks = set()
        found = True
        while found:
            found = False
            for name in self.checked.asks - self.asks:
                node = self.checked.callables[name].node
                if not isinstance(node, tree.Define) and any(self.stops(s) for s in node.body):
                    self.asks.add(name)
                    found = True

    def live(self, s: tree.If | tree.Match) -> list[tuple[tree.Statement, ...]]:
        """Gets the branches that the readings chosen leave open."""
        if isinstance(s, tree.If):
            test = self.settled(s.condition)
            return [body for body, closed in ((s.then, 0), (s.otherwise, 1)) if test != closed]
        if self.settled(s.subject) is None:
            return [c.body for c in s.cases]
        return [c.body for _, c in self.cases(s.subject, s.cases, Env())]

    def settled(self, e: tree.Expr) -> int | None:
        """Works out what is known before play, from readings and tables alone; None where that is not enough."""
        match e:
            case tree.Group(_, inner):
                return self.settled(inner)
            case tree.Binary(_, "and" | "or" as operator, left, right):
                decides = int(operator == "or")
                sides = {self.settled(left), self.settled(right)}
                return decides if decides in sides else None if None in sides else 1 - decides
            case _:
                if any(
                    isinstance(self.checked.refs.get(n), Variable | Local | Callable | ActorRef)
                    for n in walk(e)
                ):
                    return None
                value = self.expr(e, Env())
                return value.value if isinstance(value, ir.Const) else None

    def leaves(self, s: tree.Statement) -> bool:
        """Tests if a statement may leave or go round a loop that it is not itself."""
        match s:
            case tree.Stop() | tree.Skip():
                return True
            case tree.If(_, _, then, otherwise):
                return any(self.leaves(x) for x in (*then, *otherwise))
            case tree.Match(_, _, cases):
                return any(self.leaves(x) for c in cases for x in c.body)
            case _:
                return False

    def body(self, body: tuple[tree.Statement, ...], loop: LoopBlocks | None) -> bool:
        """Lowers statements into blocks; gives False if what comes after cannot be reached."""
        outer = self.code.env.locals
        for i, s in enumerate(body):
            if isinstance(s, tree.Let):
                self._let(
                    s,
                    any(
                        self.stops(x) or self.leaves(x) or isinstance(x, tree.For | tree.Repeat)
                        for x in body[i + 1 :]
                    ),
                )
            elif self.stops(s) or self.leaves(s):
                if not self.waiting(s, loop):
                    return False
            else:
                self.statement(s, self.code)
        self.code.env = replace(
            self.code.env, locals={k: v for k, v in self.code.env.locals.items() if k in outer}
        )
        return True

    def _let(self, s: tree.Let, outlives: bool) -> None:
        if not outlives:
            self.statement(s, self.code)
            return
        value = self.expr(s.value, self.code.env)
        local = self.checked.locals[s.name]
        self.code.env = self.code.env.bind(local, self.keep(value))

    def keep(self, value: Expr) -> Expr:
        """Keeps a value in a slot of the frame, so that it outlives a wait."""
        if isinstance(value, ir.Const):
            return value
        n = self.slot(value.low, value.high)
        self.code.add(ir.Store(n, value, -1))
        return ir.Load(value.low, value.high, n)

    def waiting(self, s: tree.Statement, loop: LoopBlocks | None) -> bool:
        """Lowers a statement in which the game may stop, or that leaves a loop of blocks."""
        env = self.code.env
        match s:
            case tree.Stop(_, when):
                assert loop is not None
                return self.leave(TRUE if when is None else self.flag(when, env), loop.stop)
            case tree.Skip(_, when, unless):
                assert loop is not None
                test = TRUE if when is None else self.flag(when, env)
                return self.leave(ir.negate(test) if unless else test, loop.skip)
            case tree.If(_, condition, then, otherwise):
                return self._if(self.flag(condition, env), then, otherwise, loop)
            case tree.Match(_, subject, cases):
                return self._match_blocks(self.cases(subject, cases, env), loop)
            case tree.For():
                self._for_blocks(s)
            case tree.Repeat():
                self._repeat_blocks(s)
            case tree.Call(_, _, arguments):
                self._call_blocks(s, arguments)
            case tree.EndGame():
                self.close(ir.Jump(self.end_block))
                self.start_block(self.new_block(), env)
                return False
            case tree.Choose():
                self.choose(s)
            case tree.Roll():
                self.roll(s)
            case tree.Draw():
                self.draw(s)
            case tree.Shuffle():
                self.shuffle(s)
            case _:
                raise AssertionError(s)
        return True

    def leave(self, test: Expr, where: int) -> bool:
        if test == FALSE:
            return True
        if test == TRUE:
            env = self.close(ir.Jump(where))
            self.start_block(self.new_block(), env)
            return False
        after = self.new_block()
        env = self.close(ir.Branch(test, where, after.number))
        self.start_block(after, env)
        return True

    def _if(
        self,
        test: Expr,
        then: tuple[tree.Statement, ...],
        otherwise: tuple[tree.Statement, ...],
        loop: LoopBlocks | None,
    ) -> bool:
        if isinstance(test, ir.Const):
            return self.body(then if test.value else otherwise, loop)
        a, after = self.new_block(), self.new_block()
        b = self.new_block() if otherwise else after
        env = self.close(ir.Branch(test, a.number, b.number))
        reached = not otherwise
        for block, body in ((a, then), (b, otherwise)):
            if block is after:
                continue
            self.start_block(block, env)
            if self.body(body, loop):
                reached = True
                self.close(ir.Jump(after.number))
        self.start_block(after, env)
        return reached

    def _match_blocks(self, cases: list[tuple[Expr, tree.Case]], loop: LoopBlocks | None) -> bool:
        after = self.new_block()
        env = self.code.env
        reached = False
        for test, case in cases:
            rest: ir.Block | None = None
            if test != TRUE:
                this, rest = self.new_block(), self.new_block()
                self.close(ir.Branch(test, this.number, rest.number))
                self.start_block(this, env)
            if self.body(case.body, loop):
                reached = True
                self.close(ir.Jump(after.number))
            if rest is not None:
                self.start_block(rest, env)
            else:
                break
        else:
            reached = True
            self.close(ir.Jump(after.number))
        self.start_block(after, env)
        return reached

    # ------------------------------------------------------------------------------------------------------ loops

    def settle(self, domain: tree.Domain) -> Run:
        """Lowers a domain, keeping in slots what a loop over it starts from."""
        env = self.code.env
        run = self.run(domain, env)
        match domain:
            case tree.Clockwise(_, _, after) if run.start is not None:
                start = self.keep(run.start)
                n = const(run.bound)
                shift = TRUE if after else FALSE
                return replace(run, value=lambda k: make("mod", make("+", make("+", start, shift), k), n))
            case tree.Range(_, low_node, high_node):
                low = self.keep(self.expr(low_node, env))
                high = self.keep(self.expr(high_node, env))
                top = max(low.low, high.high)
                return replace(
                    run,
                    holds=lambda k: make("<=", make("+", low, k), high),
                    value=lambda k: _bounded(make("+", low, k), low.low, top),
                )
            case tree.Members(_, of) if isinstance(self.checked.types[of], PileType):
                pile = self.pile(of, env)
                return self.pile_run(replace(pile, offset=self.keep(pile.offset)))
            case _:
                return run

    def _for_blocks(self, s: tree.For) -> None:
        env = self.code.env
        local = self.checked.locals[s.variable]
        run = self.settle(s.domain)
        k = self.counter(run.bound)
        head, inside, step, after = (self.new_block() for _ in range(4))
        self.code.add(ir.Store(k.slot, FALSE, -1))
        self.close(ir.Jump(head.number))
        step.budget = self.site(s.span) if s.forever else -1
        self.start_block(head, env)
        more: Expr = TRUE if s.forever else make("<", k, const(run.bound))
        first = more if s.forever else make("and", more, run.holds(reach(k, run.bound)))
        if first == TRUE:
            self.close(ir.Jump(inside.number))
        elif self._has_gaps(s.domain):
            self.close(ir.Branch(more, inside.number, after.number))
        else:
            self.close(ir.Branch(first, inside.number, after.number))
        self.start_block(inside, env)
        place = reach(k, run.bound)
        value = run.value(place)
        held: Expr = value
        if not isinstance(value, ir.Load):
            n = self.slot(value.low, value.high)
            held = ir.Load(value.low, value.high, n)
        inner = self.code.env.bind(local, held)
        if self._has_gaps(s.domain):
            self.leave(ir.negate(run.holds(place)), step.number)
            inner = self.code.env.bind(local, held)
        if isinstance(held, ir.Load) and held is not value:
            self.code.add(ir.Store(held.slot, value, -1))
        self.code.env = replace(inner, facts=frozenset())
        if s.where is not None:
            self.leave(ir.negate(self.flag(s.where, self.code.env)), step.number)
        if self.body(s.body, LoopBlocks(after.number, step.number)):
            self.close(ir.Jump(step.number))
        self.start_block(step, env)
        advanced = make("+", reach(k, run.bound), TRUE)
        if s.forever:
            advanced = make("mod", advanced, const(run.bound))
        self.code.add(ir.Store(k.slot, advanced, -1))
        self.close(ir.Jump(head.number))
        self.start_block(after, env)

    def _has_gaps(self, domain: tree.Domain) -> bool:
        """Tests if a place of a domain may be empty though later ones are not: so it is with sets."""
        return isinstance(domain, tree.Members) and isinstance(self.checked.types[domain.of], SetType)

    def counter(self, bound: int) -> ir.Load:
        n = self.slot(0, bound)
        return ir.Load(0, bound, n)

    def _repeat_blocks(self, s: tree.Repeat) -> None:
        env = self.code.env
        head, inside, again, after = (self.new_block() for _ in range(4))
        k: ir.Load | None = None
        if s.times is not None:
            times = self.expr(s.times, env)
            k = self.counter(max(1, times.high))
            self.code.add(ir.Store(k.slot, times, -1))
        else:
            again.budget = self.site(s.span)
        self.close(ir.Jump(head.number))
        self.start_block(head, env)
        if k is not None:
            self.close(ir.Branch(make("<", FALSE, k), inside.number, after.number))
        elif s.condition is not None:
            test = self.flag(s.condition, self.code.env)
            if isinstance(test, ir.Const):
                self.close(ir.Jump(inside.number if test.value else after.number))
            else:
                self.close(ir.Branch(test, inside.number, after.number))
        else:
            self.close(ir.Jump(inside.number))
        self.start_block(inside, env)
        if k is not None:
            self.code.add(ir.Store(k.slot, ir.Op(0, k.high, "-", (k, TRUE)), -1))
        if self.body(s.body, LoopBlocks(after.number, again.number)):
            self.close(ir.Jump(again.number))
        self.start_block(again, env)
        self.close(ir.Jump(head.number))
        self.start_block(after, env)

    # ------------------------------------------------------------------------------------------------------ calls

    def _call_blocks(self, s: tree.Call, arguments: tuple[tree.Expr, ...]) -> None:
        symbol = self.checked.refs[s]
        assert isinstance(symbol, Callable)
        values = self.rule_arguments(symbol, arguments, self.code.env)
        if self.uses_actor(symbol):
            assert self.code.env.actor is not None
            values = [self.code.env.actor, *values]
        caller = self.frame
        frame = self.frame_of(symbol)
        self.frame = caller
        after = self.new_block()
        for n, value in zip(frame.parameters, values, strict=True):
            self.code.add(ir.Store(n, value, -1))
        self.code.add(ir.Store(frame.back, const(after.number), -1))
        env = self.close(ir.Jump(frame.entry))
        self.start_block(after, env)

    def waits(self) -> ir.Block:
        """Makes the block in which the game stops, behind the test whether it has ended."""
        block = self.new_block()
        tests = [self.flag(e, Env()) for e in self.ends]
        ended = make("or", *tests)
        env = self.close(
            ir.Jump(block.number) if ended == FALSE else ir.Branch(ended, self.end_block, block.number)
        )
        self.start_block(block, env)
        return block

    @abstractmethod
    def choose(self, s: tree.Choose) -> None:
        """Lowers a decision."""

    @abstractmethod
    def roll(self, s: tree.Roll) -> None:
        """Lowers a roll."""

    @abstractmethod
    def draw(self, s: tree.Draw) -> None:
        """Lowers a draw."""

    @abstractmethod
    def shuffle(self, s: tree.Shuffle) -> None:
        """Lowers a shuffle."""

    @abstractmethod
    def drawn_from(self, domain: tree.Domain, outcome: Expr, env: Env) -> Expr:
        """Lowers the test whether `outcome` is a member of `domain`."""


def reach(k: ir.Load, bound: int) -> Expr:
    """Gets the counter as a place below `bound`."""
    return ir.Load(0, max(0, bound - 1), k.slot)


def _bounded(value: Expr, low: int, high: int) -> Expr:
    if isinstance(value, ir.Op):
        return replace(value, low=max(value.low, low), high=min(value.high, high))
    return value
