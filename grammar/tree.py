"""The syntax tree: one frozen structure a construct, each with the span it was read from.

Nodes compare by identity, so that later passes can keep what they learn in tables keyed by node. They are msgspec
structures, not dataclasses: ninety dataclasses take a tenth of a second to define, and a file has thousands of nodes.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .span import Span


class Node(Struct, frozen=True, eq=False):
    """Stands for any piece of a rule file."""

    span: Span


# ------------------------------------------------------------------------------------------------ names and texts


class Word(Node):
    """A name as written, where it is written."""

    text: str


class Template(Node):
    """A text with placeholders: `pieces` alternate literal text and the expressions between braces."""

    text: str
    pieces: tuple[str | Expr, ...]


# ---------------------------------------------------------------------------------------------------- expressions


class Expr(Node):
    """Stands for any expression."""


class Number(Expr):
    value: int


class Name(Expr):
    text: str


class Constant(Expr):
    """`yes`, `no`, `none` or `empty`."""

    word: Literal["yes", "no", "none", "empty"]


class Attribute(Expr):
    """`value.name`: an attribute of a table entry, or a constant of a record."""

    value: Expr
    name: Word


class Index(Expr):
    """`value[i, j]`: an element of a state array, or item number i of a list or pile, counting from 1."""

    value: Expr
    indices: tuple[Expr, ...]


class Function(Expr):
    name: Word
    arguments: tuple[Expr, ...]


class Unary(Expr):
    operator: Literal["-", "not", "length of", "first of", "last of"]
    operand: Expr


class Binary(Expr):
    operator: str
    left: Expr
    right: Expr


class Divide(Expr):
    """Whole division; `rounding` is None where the author did not say (an error)."""

    left: Expr
    right: Expr
    rounding: Literal["down", "up"] | None


class Conditional(Expr):
    value: Expr
    condition: Expr
    otherwise: Expr


class Collection(Expr):
    """`{a, b}`, a set, or `[a, b]`, a pile."""

    kind: Literal["set", "pile"]
    items: tuple[Expr, ...]


class Group(Expr):
    """An expression in parentheses, kept so that the text can be shown as written."""

    inner: Expr


class Fold(Expr):
    """`sum of E for x in D where c`, `the largest …`, `the smallest … otherwise d`."""

    kind: Literal["sum", "largest", "smallest"]
    value: Expr
    variable: Word
    domain: Domain
    where: Expr | None
    otherwise: Expr | None


class Search(Expr):
    """`number of x in D where c` or `the first x in D where c otherwise d`."""

    kind: Literal["number", "first"]
    variable: Word
    domain: Domain
    where: Expr | None
    otherwise: Expr | None


class Quantify(Expr):
    """`some x in D has c` or `every x in D has c`."""

    kind: Literal["some", "every"]
    variable: Word
    domain: Domain
    where: Expr | None
    has: Expr


# -------------------------------------------------------------------------------------------------------- domains


class Domain(Node):
    """Stands for what a variable runs over."""


class Members(Domain):
    """All of a type, a set, a pile, or a list."""

    of: Expr


class Range(Domain):
    """Whole numbers from `low` to `high`, both included."""

    low: Expr
    high: Expr


class Clockwise(Domain):
    """All players by seat, from one of them or from the one after him, who then comes last."""

    start: Expr
    after: bool


# ---------------------------------------------------------------------------------------------------------- types


class TypeExpr(Node):
    """Stands for any type as written."""


class NamedType(TypeExpr):
    name: str


class RangeType(TypeExpr):
    low: Expr
    high: Expr


class FlagType(TypeExpr):
    """`yes or no`."""


class TextType(TypeExpr):
    """Free text: recorded and shown, never branched on."""


class OptionalType(TypeExpr):
    base: TypeExpr


class SetType(TypeExpr):
    base: TypeExpr


class PileType(TypeExpr):
    base: TypeExpr
    capacity: Expr


# ----------------------------------------------------------------------------------------------------- statements


class Statement(Node):
    """Stands for any statement."""


class Let(Statement):
    name: Word
    value: Expr


class Assign(Statement):
    target: Expr
    value: Expr


class Adjust(Statement):
    """`increase x by e` (sign 1) or `decrease x by e` (sign -1)."""

    target: Expr
    amount: Expr
    sign: Literal[1, -1]


class Add(Statement):
    """`add e to set`."""

    item: Expr
    target: Expr


class Remove(Statement):
    """`remove e from set`; from a pile the first item equal to e."""

    item: Expr
    target: Expr


class Put(Statement):
    item: Expr
    target: Expr
    where: Literal["top", "bottom"]


class Take(Statement):
    """`take top from pile`, `take bottom from pile`, `take item k from pile`: removes it."""

    target: Expr
    which: Literal["top", "bottom"] | Expr


class Transfer(Statement):
    """`transfer n from pile to pile`: the top n, in their order."""

    count: Expr
    source: Expr
    target: Expr


class Shuffle(Statement):
    target: Expr


class Stop(Statement):
    when: Expr | None


class Skip(Statement):
    when: Expr | None
    unless: bool


class Choose(Statement):
    """A decision. `who` is a player, or a domain with a variable for `each` and `any`."""

    mode: Literal["one", "each", "any"]
    who: Expr | None
    variable: Word | None
    domain: Domain | None
    where: Expr | None
    offers: bool
    moves: tuple[Word, ...]
    nobody: Word | None


class Roll(Statement):
    target: Expr
    variable: Word | None
    domain: Domain | None
    where: Expr | None


class Draw(Statement):
    name: Word
    domain: Domain
    where: Expr | None
    weight: Expr | None
    stream: Word | None


class Tell(Statement):
    """A sentence for all, or for one player alone."""

    to: Expr | None
    text: Template


class Call(Statement):
    name: Word
    arguments: tuple[Expr, ...]


class EndGame(Statement):
    """`end the game`."""


class If(Statement):
    condition: Expr
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


class Case(Node):
    labels: tuple[Word, ...]
    body: tuple[Statement, ...]


class Match(Statement):
    subject: Expr
    cases: tuple[Case, ...]


class For(Statement):
    variable: Word
    domain: Domain
    forever: bool
    where: Expr | None
    body: tuple[Statement, ...]


class Repeat(Statement):
    """`repeat:`, `repeat n times:` or `repeat while c:`."""

    times: Expr | None
    condition: Expr | None
    body: tuple[Statement, ...]


# -------------------------------------------------------------------------------------------------------- results


class Result(Node):
    """Stands for the value of a `define`: an expression, or a choice between results."""


class Value(Result):
    value: Expr


class ResultLet(Result):
    name: Word
    value: Expr
    rest: Result


class ResultIf(Result):
    condition: Expr
    then: Result
    otherwise: Result


class ResultCase(Node):
    labels: tuple[Word, ...]
    result: Result


class ResultMatch(Result):
    subject: Expr
    cases: tuple[ResultCase, ...]


# ---------------------------------------------------------------------------------------------------- definitions


class Definition(Node):
    """Stands for anything at the top level of a rule file."""


class TypeDef(Definition):
    name: Word
    type: TypeExpr


class KindDef(Definition):
    name: Word
    members: tuple[Word, ...]


class StateVar(Node):
    """A state variable: `secret_to` is a player, or "index" for `secret to its player`; `hidden` ones nobody sees.

    `when` says under which condition (a constant) that holds; otherwise all see it.
    """

    name: Word
    indices: tuple[TypeExpr, ...]
    type: TypeExpr
    initial: Expr | None
    secret_to: Expr | Literal["index"] | None
    hidden: bool
    when: Expr | None


class StateBlock(Definition):
    variables: tuple[StateVar, ...]
    tally: bool


class Param(Node):
    name: Word
    type: TypeExpr
    secret: bool


class Rule(Definition):
    name: Word
    params: tuple[Param, ...]
    body: tuple[Statement, ...]


class Needs(Node):
    """A guard of a move: the condition, and what to say when it fails.

    With `listing`, the condition only says which of several equal moves is offered; the others are legal too.
    """

    condition: Expr
    reason: Template | None
    listing: bool = False


class Move(Definition):
    """A move: `says` are its words, `shows` those others see, `means` tells what it is for; guards; effects."""

    name: Word
    params: tuple[Param, ...]
    says: Template | None
    shows: Template | None
    means: Template | None
    guards: tuple[Needs, ...]
    body: tuple[Statement, ...]


class Define(Definition):
    name: Word
    params: tuple[Param, ...]
    type: TypeExpr
    result: Result
    open: bool


class Standing(Definition):
    """Moves that join the decisions of a player: his own, or (`everyone`) those of all."""

    everyone: bool
    when: Expr | None
    moves: tuple[Word, ...]


class Invariant(Definition):
    text: Template
    condition: Result


class Score(Definition):
    """`score p:` or, with `tie_break`, what decides between equal scores; the highest is best."""

    player: Word
    result: Result
    tie_break: bool


class Measure(Definition):
    text: Template
    per: Word | None
    value: Result


class EndsWhen(Definition):
    condition: Expr


class Replace(Definition):
    definition: Rule | Move | Define | Standing | Score


class Insert(Definition):
    """Statements (and, for a move, guards) put before or after those of a rule or move."""

    where: Literal["before", "after"]
    kind: Literal["rule", "move"]
    name: Word
    guards: tuple[Needs, ...]
    body: tuple[Statement, ...]


class ChangeChoice(Definition):
    """`add to choice NAME: moves` or `remove from choice NAME: moves`; the choice is named for its rule."""

    add: bool
    choice: Word
    moves: tuple[Word, ...]


class File(Node):
    """One rule file."""

    definitions: tuple[Definition, ...]
