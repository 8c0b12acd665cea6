"""The intermediate program that every backend reads: functions and basic blocks over one flat array of integers.

A position is an array: slot 0 is the place in the rules (a block number), then the state variables, the locals that
must outlive a decision, and at the end, not part of equality, tallies and the row counters of chance.

Inside a block and in functions control flow is structured (`If`, `For`, `Loop`). Blocks end where the game may stop
and wait: in a jump, a branch, a return to the caller's block, a decision, a chance node or the end. Every expression
knows the interval its value lies in; constants are folded while building (`make`), so that a reading that was not
chosen leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct, field

from ..grammar.span import Span
from .types import Type

FAR = 1 << 40
"""A bound no value of a game reaches."""


# ---------------------------------------------------------------------------------------------------- expressions


class Expr(Struct, frozen=True, eq=False):
    """A whole number between `low` and `high`; flags are 0 and 1. The bounds take no part in equality."""

    low: int
    high: int

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not type(self):
            return False
        return all(getattr(self, f) == getattr(other, f) for f in self.__struct_fields__[2:])

    def __ne__(self, other: object) -> bool:
        return not self == other  # a structure does not derive it from __eq__

    def __hash__(self) -> int:
        return hash((type(self).__name__, *(getattr(self, f) for f in self.__struct_fields__[2:])))


class Const(Expr, frozen=True):
    value: int


class Load(Expr, frozen=True):
    """The value of a slot."""

    slot: int


class LoadAt(Expr, frozen=True):
    """The value of slot `base` + index, the index being within 0 … size - 1."""

    base: int
    size: int
    index: Expr


class Temp(Expr, frozen=True):
    """A local of the function or block."""

    name: str


class Op(Expr, frozen=True):
    """An operator on numbers; `make` builds it.

    + - * neg; // (floor) and ceil (ceiling) division; mod; min max; = != < <=; and or not (short-circuit, flags);
    bit (set, i): whether i is in the set; one (i): the set of i; union, without (sets); count: size of a set.
    """

    operator: str
    arguments: tuple[Expr, ...]


class Cond(Expr, frozen=True):
    condition: Expr
    then: Expr
    otherwise: Expr


class Call(Expr, frozen=True):
    """Calls a function that gives a value and changes nothing."""

    function: str
    arguments: tuple[Expr, ...]


class Lookup(Expr, frozen=True):
    """Item `index` (from 0) of a constant table."""

    table: str
    index: Expr


class Checked(Expr, frozen=True):
    """`value`, or an error at `site` when it is outside `low` … `high`; `why` is the kind of error."""

    value: Expr
    site: int
    why: Literal["range", "none", "index", "zero"]


class Memo(Expr, frozen=True):
    """`value`, worked out at most once in the function it stands in and kept in the local `name`."""

    name: str
    value: Expr


# ----------------------------------------------------------------------------------------------------- statements


class Stmt(Struct, frozen=True):
    """Stands for any statement."""


class Store(Stmt, frozen=True):
    slot: int
    value: Expr
    site: int


class StoreAt(Stmt, frozen=True):
    base: int
    size: int
    index: Expr
    value: Expr
    site: int


class SetTemp(Stmt, frozen=True):
    name: str
    value: Expr


class If(Stmt, frozen=True):
    condition: Expr
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...] = ()


class For(Stmt, frozen=True):
    """Runs `body` with `name` from `low` to `high`, both included, both worked out once."""

    name: str
    low: Expr
    high: Expr
    body: tuple[Stmt, ...]


class Loop(Stmt, frozen=True):
    """Runs `body` until a `Break`; each turn counts against the step budget of `site`."""

    body: tuple[Stmt, ...]
    site: int


class Break(Stmt, frozen=True):
    """Leaves the innermost loop."""


class Continue(Stmt, frozen=True):
    """Goes on with the next turn of the innermost loop."""


class Do(Stmt, frozen=True):
    """Calls a procedure."""

    function: str
    arguments: tuple[Expr, ...]


class Return(Stmt, frozen=True):
    value: Expr


class Tell(Stmt, frozen=True):
    """Says text number `text` with these values to all, or to one player."""

    text: int
    arguments: tuple[Expr, ...]
    to: Expr | None
    site: int


class Emit(Stmt, frozen=True):
    """Adds an action to the options being listed."""

    action: Expr


class EmitRange(Stmt, frozen=True):
    """Adds the actions from `low` to `high`, both included, to the options being listed."""

    low: Expr
    high: Expr


# --------------------------------------------------------------------------------------------- functions and blocks


class Function(Struct):
    """A function of the position: gives a value, changes the position, or lists options."""

    name: str
    parameters: tuple[str, ...]
    body: tuple[Stmt, ...]
    kind: Literal["value", "procedure", "options"]
    bounds: tuple[int, int] = (-FAR, FAR)
    parameter_bounds: tuple[tuple[int, int], ...] = ()


class Terminator(Struct, frozen=True):
    """Stands for any end of a block."""


class Jump(Terminator, frozen=True):
    block: int


class Branch(Terminator, frozen=True):
    condition: Expr
    then: int
    otherwise: int


class Back(Terminator, frozen=True):
    """Returns to the block whose number is in `slot`, and clears it: equal positions have equal arrays."""

    slot: int


class Decide(Terminator, frozen=True):
    decision: int


class Chance(Terminator, frozen=True):
    chance: int


class End(Terminator, frozen=True):
    """The game is over."""


class Block(Struct):
    """A run of statements and what comes after; `budget` is the site of a loop each entry counts against."""

    number: int
    body: tuple[Stmt, ...] = ()
    end: Terminator = field(default_factory=End)
    budget: int = -1


# -------------------------------------------------------------------------------------------- decisions and chance


class MoveInfo(Struct):
    """What backends and the game need of a move.

    Its actions are `first` + the mixed-radix number of its arguments: argument k counts from `lows[k]`, has
    `counts[k]` values, and the last one varies fastest. `procedure` runs its effects with (actor, *arguments); a move
    that may itself ask has instead an `entry` block, `slots` for actor and arguments, and a `back` slot
    (-1 where it leads to one place only).
    """

    name: str
    index: int
    span: Span
    first: int
    lows: tuple[int, ...]
    counts: tuple[int, ...]
    types: tuple[Type, ...]
    parameters: tuple[str, ...]
    secret: tuple[bool, ...]
    procedure: str = ""
    entry: int = -1
    slots: tuple[int, ...] = ()
    back: int = -1
    why_not: str = ""
    """Function (actor, *arguments) → 0 when legal, else the number (from 1) of the first failing guard."""
    guards: tuple[Span, ...] = ()
    reasons: tuple[TextUse | None, ...] = ()
    says: TextUse | None = None
    shows: TextUse | None = None
    means: TextUse | None = None

    @property
    def actions(self) -> int:
        """How many actions it has, legal or not."""
        n = 1
        for c in self.counts:
            n *= c
        return n


class TextUse(Struct):
    """A text of a move: the sentence and, for each placeholder, the function (actor, *arguments) that gives it."""

    text: int
    functions: tuple[str, ...]


class Text(Struct):
    """A sentence as written, where, its placeholders' texts, and the types of their values."""

    sentence: str
    span: Span
    keys: tuple[str, ...]
    types: tuple[Type, ...]


class Decision(Struct):
    """A point where somebody chooses.

    `one`: `actor` decides. `each`: the players of the set `who` decide at once and in secret; slot `pending` + player
    holds 0 who has yet to choose, action + 1 who has, -1 who takes no part. `any`: whoever of the set `who` acts
    first, or nobody (`nobody` is a move then). `own` lists the options of (actor) proper, `standing` those of the
    standing offers; for `nobody_options` there is no actor.
    """

    number: int
    mode: Literal["one", "each", "any"]
    block: int
    site: int
    rule: str
    actor: Expr
    who: Expr
    pending: int
    moves: tuple[int, ...]
    standing: tuple[int, ...]
    everyone: bool
    nobody: int
    own: str
    offers: str
    nobody_options: str
    next: int


class ChanceNode(Struct):
    """A point where chance decides: outcome `low` … `low` + `count` - 1, each as likely, or by weight.

    The value is drawn from stream number `stream`, in the row kept in slot `row`, at place `ordinal`. `weights`, if
    given, is the function (outcome) → weight. The outcome is stored in `slot` (+ index) and play goes on at `next`.
    """

    number: int
    block: int
    site: int
    stream: int
    row: int
    ordinal: Expr
    low: int
    count: Expr
    weights: str
    base: int
    size: int
    index: Expr
    next: int


class Variable(Struct):
    """A state variable in the layout: slots `slot` … `slot` + product(dims) * width - 1.

    `width` is 1, or for a pile 1 (its length) + its capacity. `visible` says who sees it.
    """

    name: str
    slot: int
    dims: tuple[tuple[Type, int, int], ...]
    """For each index: its type, its lowest value, how many values."""
    type: Type
    low: int
    high: int
    width: int
    initial: int
    visibility: Literal["all", "index", "player", "none"]
    span: Span
    tally: bool = False
    owner: str = ""
    """For visibility "player": the function () → player who alone sees it."""


class MeasureInfo(Struct):
    """A figure worth comparing: the function gives it, for (player) if `per`."""

    text: str
    function: str
    per: bool


class Program(Struct):
    """Everything a backend needs."""

    players: int
    size: int
    compared: int
    """Slots before this one make up the position; the rest are tallies and row counters."""
    initial: list[int]
    bounds: list[tuple[int, int]]
    """For each slot the lowest and highest value it can hold."""
    variables: dict[str, Variable]
    tables: dict[str, tuple[int, ...]]
    functions: dict[str, Function]
    blocks: list[Block]
    decisions: list[Decision]
    chances: list[ChanceNode]
    streams: list[str]
    moves: list[MoveInfo]
    entries: dict[str, int]
    """For each rule in which the game may stop the block in which it begins."""
    texts: list[Text]
    sites: list[Span]
    measures: list[MeasureInfo]
    invariants: list[tuple[str, str, Span]]
    """Text, function () → flag, place."""
    score: str
    tie_break: str
    start: int
    step_budget: int
    decision_budget: int

    @property
    def actions(self) -> int:
        """How many distinct actions there are, leaving aside who takes them."""
        last = self.moves[-1]
        return last.first + last.actions


# ------------------------------------------------------------------------------------------------- building, folded


def const(value: int) -> Const:
    """Makes a constant."""
    return Const(value, value, value)


TRUE, FALSE = const(1), const(0)


def _truth(op: str) -> Callable[[int, int], int]:
    return {
        "=": lambda a, b: int(a == b),
        "!=": lambda a, b: int(a != b),
        "<": lambda a, b: int(a < b),
        "<=": lambda a, b: int(a <= b),
    }[op]


_FOLD: dict[str, Callable[..., int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "neg": lambda a: -a,
    "//": lambda a, b: a // b,
    "ceil": lambda a, b: -(-a // b),
    "mod": lambda a, b: a % b,
    "min": min,
    "max": max,
    "=": _truth("="),
    "!=": _truth("!="),
    "<": _truth("<"),
    "<=": _truth("<="),
    "bit": lambda s, i: s >> i & 1,
    "one": lambda i: 1 << i,
    "union": lambda a, b: a | b,
    "without": lambda a, b: a & ~b,
    "count": lambda s: s.bit_count(),
}


def fold(operator: str, values: list[int]) -> int:
    """Works an operator out on numbers (all but `and`, `or`, `not`)."""
    return _FOLD[operator](*values)


def _products(a: Expr, b: Expr) -> tuple[int, int]:
    corners = (a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high)
    return min(corners), max(corners)


def make(op: str, *args: Expr) -> Expr:
    """Builds an operator, folding constants and simplifying."""
    if op in ("and", "or"):
        return _junction(op, args)
    if op == "not":
        return negate(args[0])
    if all(isinstance(a, Const) for a in args):
        values = [a.low for a in args]
        if not (op in ("//", "ceil", "mod") and values[1] == 0):
            return const(_FOLD[op](*values))
    a = args[0]
    b = args[1] if len(args) > 1 else a
    match op:
        case "+":
            if b == FALSE:
                return a
            if a == FALSE:
                return b
            return Op(a.low + b.low, a.high + b.high, op, args)
        case "-":
            if b == FALSE:
                return a
            return Op(a.low - b.high, a.high - b.low, op, args)
        case "*":
            if a == TRUE:
                return b
            if b == TRUE:
                return a
            if a == FALSE or b == FALSE:
                return FALSE
            return Op(*_products(a, b), op, args)
        case "neg":
            return Op(-a.high, -a.low, op, args)
        case "//" | "ceil":
            if b == TRUE:
                return a
            if b.low > 0:
                fold = _FOLD[op]
                ends = [fold(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
                return Op(min(ends), max(ends), op, args)
            return Op(-max(abs(a.low), abs(a.high)), max(abs(a.low), abs(a.high)), op, args)
        case "mod":
            return Op(0 if b.low > 0 else min(0, b.low + 1), max(b.high - 1, 0), op, args)
        case "min" | "max":
            return _extreme(op, args)
        case "=" | "!=":
            if a == b and not _checks(a):
                return TRUE if op == "=" else FALSE
            if a.high < b.low or b.high < a.low:
                return FALSE if op == "=" else TRUE
            if isinstance(a, Const):
                a, b = b, a
            return Op(0, 1, op, (a, b))
        case "<":
            if a.high < b.low:
                return TRUE
            if a.low >= b.high:
                return FALSE
            return Op(0, 1, op, args)
        case "<=":
            if a.high <= b.low:
                return TRUE
            if a.low > b.high:
                return FALSE
            return Op(0, 1, op, args)
        case "bit":
            if a == FALSE:
                return FALSE
            return Op(0, 1, op, args)
        case "one":
            return Op(1 << max(a.low, 0), 1 << min(a.high, 62), op, args)
        case "union":
            top = (1 << max(a.high, b.high).bit_length()) - 1
            return Op(max(a.low, b.low), top, op, args)
        case "without":
            return Op(0, a.high, op, args)
        case "count":
            return Op(0, a.high.bit_length(), op, args)
    raise AssertionError(op)


def _checks(e: Expr) -> bool:
    match e:
        case Checked():
            return True
        case Op(_, _, _, arguments) | Call(_, _, _, arguments):
            return any(_checks(a) for a in arguments)
        case Cond(_, _, c, t, o):
            return _checks(c) or _checks(t) or _checks(o)
        case LoadAt(_, _, _, _, index) | Lookup(_, _, _, index):
            return _checks(index)
        case Memo(_, _, _, value):
            return _checks(value)
        case _:
            return False


def _extreme(op: str, args: tuple[Expr, ...]) -> Expr:
    pick = min if op == "min" else max
    flat: list[Expr] = []
    for a in args:
        if isinstance(a, Op) and a.operator == op:
            flat += a.arguments
        else:
            flat.append(a)
    constants = [a.low for a in flat if isinstance(a, Const)]
    rest: list[Expr] = [a for a in flat if not isinstance(a, Const)]
    low, high = pick(a.low for a in flat), pick(a.high for a in flat)
    if constants:
        best = pick(constants)
        rest = [r for r in rest if (r.low < best if op == "min" else r.high > best)]
        if not rest:
            return const(best)
        if not all(r.high <= best if op == "min" else r.low >= best for r in rest):
            rest.append(const(best))
    if len(rest) == 1:
        return rest[0]
    return Op(low, high, op, tuple(rest))


def _junction(op: str, args: tuple[Expr, ...]) -> Expr:
    stop, go = (FALSE, TRUE) if op == "and" else (TRUE, FALSE)
    flat: list[Expr] = []
    for a in args:
        if a == go:
            continue
        if isinstance(a, Op) and a.operator == op:
            flat += a.arguments
        else:
            flat.append(a)
        if a == stop:
            break
    if stop in flat:
        flat = flat[: flat.index(stop) + 1]
        if len(flat) == 1 or not any(_checks(a) for a in flat):
            return stop
    if not flat:
        return go
    if len(flat) == 1:
        return flat[0]
    return Op(0, 1, op, tuple(flat))


_OPPOSITE = {"=": "!=", "!=": "="}


def negate(e: Expr) -> Expr:
    """Builds the negation of a flag."""
    if isinstance(e, Const):
        return FALSE if e.value else TRUE
    if isinstance(e, Op):
        if e.operator == "not":
            return e.arguments[0]
        if e.operator in _OPPOSITE:
            return Op(0, 1, _OPPOSITE[e.operator], e.arguments)
        if e.operator == "<":
            return make("<=", e.arguments[1], e.arguments[0])
        if e.operator == "<=":
            return make("<", e.arguments[1], e.arguments[0])
    return Op(0, 1, "not", (e,))


def choose(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    """Builds a conditional."""
    if isinstance(condition, Const):
        return then if condition.value else otherwise
    if then == otherwise and not _checks(condition):
        return then
    if then == TRUE and otherwise == FALSE:
        return condition
    if then == FALSE and otherwise == TRUE:
        return negate(condition)
    return Cond(min(then.low, otherwise.low), max(then.high, otherwise.high), condition, then, otherwise)


def load_at(base: int, size: int, index: Expr, low: int, high: int) -> Expr:
    """Builds the load of an element, of a fixed slot if the index is constant."""
    if isinstance(index, Const):
        return Load(low, high, base + index.value)
    return LoadAt(low, high, base, size, index)


def store_at(base: int, size: int, index: Expr, value: Expr, site: int) -> Stmt:
    """Builds the store of an element, to a fixed slot if the index is constant."""
    if isinstance(index, Const):
        return Store(base + index.value, value, site)
    return StoreAt(base, size, index, value, site)


def lookup(table: str, values: tuple[int, ...], index: Expr) -> Expr:
    """Builds the lookup of a constant table item, folded when the index is constant."""
    if isinstance(index, Const):
        return const(values[index.value])
    reach = values[max(index.low, 0) : min(index.high, len(values) - 1) + 1] or values
    return Lookup(min(reach), max(reach), table, index)


def checked(
    value: Expr, low: int, high: int, site: int, why: Literal["range", "none", "index", "zero"]
) -> Expr:
    """Builds a check that a value lies within bounds, nothing when that is certain."""
    if value.low >= low and value.high <= high:
        return value
    return Checked(low, high, value, site, why)
