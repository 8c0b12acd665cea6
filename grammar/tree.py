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


class Word(Node, frozen=True):
    """A name as written, where it is written."""

    text: str


class Template(Node, frozen=True):
    """A text with placeholders: `pieces` alternate literal text and the expressions between braces."""

    text: str
    pieces: tuple[str | Expr, ...]


# ---------------------------------------------------------------------------------------------------- expressions


class Expr(Node, frozen=True):
    """Stands for any expression."""


class Number(Expr, frozen=True):
    value: int


class Name(Expr, frozen=True):
    text: str


class Constant(Expr, frozen=True):
    """`yes`, `no`, `none` or `empty`."""

    word: Literal["yes", "no", "none", "empty"]


class Attribute(Expr, frozen=True):
    """`value.name`: an attribute of a table entry, or a constant of a record."""

    value: Expr
    name: Word


class Index(Expr, frozen=True):
    """`value[i, j]`: an element of a state array, or item number i of a list or pile, counting from 1."""

    value: Expr
    indices: tuple[Expr, ...]


class Function(Expr, frozen=True):
    name: Word
    arguments: tuple[Expr, ...]


class Unary(Expr, frozen=True):
    operator: Literal["-", "not", "length of", "first of", "last of"]
    operand: Expr


class Binary(Expr, frozen=True):
    operator: str
    left: Expr
    right: Expr


class Divide(Expr, frozen=True):
    """Whole division; `rounding` is None where the author did not say (an error)."""

    left: Expr
    right: Expr
    rounding: Literal["down", "up"] | None


class Conditional(Expr, frozen=True):
    value: Expr
    condition: Expr
    otherwise: Expr


class Collection(Expr, frozen=True):
    """`{a, b}`, a set, or `[a, b]`, a pile."""

    kind: Literal["set", "pile"]
    items: tuple[Expr, ...]


class Group(Expr, frozen=True):
    """An expression in parentheses, kept so that the text can be shown as written."""

    inner: Expr


class Fold(Expr, frozen=True):
    """`sum of E for x in D where c`, `the largest …`, `the smallest … otherwise d`."""

    kind: Literal["sum", "largest", "smallest"]
    value: Expr
    variable: Word
    domain: Domain
    where: Expr | None
    otherwise: Expr | None


class Search(Expr, frozen=True):
    """`number of x in D where c` or `the first x in D where c otherwise d`."""

    kind: Literal["number", "first"]
    variable: Word
    domain: Domain
    where: Expr | None
    otherwise: Expr | None


class Quantify(Expr, frozen=True):
    """`some x in D has c` or `every x in D has c`."""

    kind: Literal["some", "every"]
    variable: Word
    domain: Domain
    where: Expr | None
    has: Expr


# -------------------------------------------------------------------------------------------------------- domains


class Domain(Node, frozen=True):
    """Stands for what a variable runs over."""


class Members(Domain, frozen=True):
    """All of a type, a set, a pile, or a list."""

    of: Expr


class Range(Domain, frozen=True):
    """Whole numbers from `low` to `high`, both included."""

    low: Expr
    high: Expr


class Clockwise(Domain, frozen=True):
    """All players by seat, from one of them or from the one after him, who then comes last."""

    start: Expr
    after: bool


# ---------------------------------------------------------------------------------------------------------- types


class TypeExpr(Node, frozen=True):
    """Stands for any type as written."""


class NamedType(TypeExpr, frozen=True):
    name: str


class RangeType(TypeExpr, frozen=True):
    low: Expr
    high: Expr


class FlagType(TypeExpr, frozen=True):
    """`yes or no`."""


class TextType(TypeExpr, frozen=True):
    """Free text: recorded and shown, never branched on."""


class OptionalType(TypeExpr, frozen=True):
    base: TypeExpr


class SetType(TypeExpr, frozen=True):
    base: TypeExpr


class PileType(TypeExpr, frozen=True):
    base: TypeExpr
    capacity: Expr


# ----------------------------------------------------------------------------------------------------- statements


class Statement(Node, frozen=True):
    """Stands for any statement."""


class Let(Statement, frozen=True):
    name: Word
    value: Expr


class Assign(Statement, frozen=True):
    target: Expr
    value: Expr


class Adjust(Statement, frozen=True):
    """`increase x by e` (sign 1) or `decrease x by e` (sign -1)."""

    target: Expr
    amount: Expr
    sign: Literal[1, -1]


class Add(Statement, frozen=True):
    """`add e to set`."""

    item: Expr
    target: Expr


class Remove(Statement, frozen=True):
    """`remove e from set`; from a pile the first item equal to e."""

    item: Expr
    target: Expr


class Put(Statement, frozen=True):
    item: Expr
    target: Expr
    where: Literal["top", "bottom"]


class Take(Statement, frozen=True):
    """`take top from pile`, `take bottom from pile`, `take item k from pile`: removes it."""

    target: Expr
    which: Literal["top", "bottom"] | Expr


class Transfer(Statement, frozen=True):
    """`transfer n from pile to pile`: the top n, in their order."""

    count: Expr
    source: Expr
    target: Expr


class Shuffle(Statement, frozen=True):
    target: Expr


class Stop(Statement, frozen=True):
    when: Expr | None


class Skip(Statement, frozen=True):
    when: Expr | None
    unless: bool


class Choose(Statement, frozen=True):
    """A decision. `who` is a player, or a domain with a variable for `each` and `any`."""

    mode: Literal["one", "each", "any"]
    who: Expr | None
    variable: Word | None
    domain: Domain | None
    where: Expr | None
    offers: bool
    moves: tuple[Word, ...]
    nobody: Word | None


class Roll(Statement, frozen=True):
    target: Expr
    variable: Word | None
    domain: Domain | None
    where: Expr | None


class Draw(Statement, frozen=True):
    name: Word
    domain: Domain
    where: Expr | None
    weight: Expr | None
    stream: Word | None


class Tell(Statement, frozen=True):
    """A sentence for all, or for one player alone."""

    to: Expr | None
    text: Template


class Call(Statement, frozen=True):
    name: Word
    arguments: tuple[Expr, ...]


class EndGame(Statement, frozen=True):
    """`end the game`."""


class If(Statement, frozen=True):
    condition: Expr
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


class Case(Node, frozen=True):
    labels: tuple[Word, ...]
    body: tuple[Statement, ...]


class Match(Statement, frozen=True):
    subject: Expr
    cases: tuple[Case, ...]


class For(Statement, frozen=True):
    variable: Word
    domain: Domain
    forever: bool
    where: Expr | None
    body: tuple[Statement, ...]


class Repeat(Statement, frozen=True):
    """`repeat:`, `repeat n times:` or `repeat while c:`."""

    times: Expr | None
    condition: Expr | None
    body: tuple[Statement, ...]


# -------------------------------------------------------------------------------------------------------- results


class Result(Node, frozen=True):
    """Stands for the value of a `define`: an expression, or a choice between results."""


class Value(Result, frozen=True):
    value: Expr


class ResultLet(Result, frozen=True):
    name: Word
    value: Expr
    rest: Result


class ResultIf(Result, frozen=True):
    condition: Expr
    then: Result
    otherwise: Result


class ResultCase(Node, frozen=True):
    labels: tuple[Word, ...]
    result: Result


class ResultMatch(Result, frozen=True):
    subject: Expr
    cases: tuple[ResultCase, ...]


# ---------------------------------------------------------------------------------------------------- definitions


class Definition(Node, frozen=True):
    """Stands for anything at the top level of a rule file."""


class TypeDef(Definition, frozen=True):
    name: Word
    type: TypeExpr


class KindDef(Definition, frozen=True):
    name: Word
    members: tuple[Word, ...]


class StateVar(Node, frozen=True):
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


class StateBlock(Definition, frozen=True):
    variables: tuple[StateVar, ...]
    tally: bool


class Param(Node, frozen=True):
    name: Word
    type: TypeExpr
    secret: bool


class Rule(Definition, frozen=True):
    name: Word
    params: tuple[Param, ...]
    body: tuple[Statement, ...]


class Needs(Node, frozen=True):
    """A guard of a move: the condition, and what to say when it fails.

    With `listing`, the condition only says which of several equal moves is offered; the others are legal too.
    """

    condition: Expr
    reason: Template | None
    listing: bool = False


class Move(Definition, frozen=True):
    """A move: `says` are its words, `shows` those others see, `means` tells what it is for; guards; effects."""

    name: Word
    params: tuple[Param, ...]
    says: Template | None
    shows: Template | None
    means: Template | None
    guards: tuple[Needs, ...]
    body: tuple[Statement, ...]


class Define(Definition, frozen=True):
    name: Word
    params: tuple[Param, ...]
    type: TypeExpr
    result: Result
    open: bool


class Standing(Definition, frozen=True):
    """Moves that join the decisions of a player: his own, or (`everyone`) those of all."""

    everyone: bool
    when: Expr | None
    moves: tuple[Word, ...]


class Invariant(Definition, frozen=True):
    text: Template
    condition: Result


class Score(Definition, frozen=True):
    """`score p:` or, with `tie_break`, what decides between equal scores; the highest is best."""

    player: Word
    result: Result
    tie_break: bool


class Measure(Definition, frozen=True):
    text: Template
    per: Word | None
    value: Result


class EndsWhen(Definition, frozen=True):
    condition: Expr


class Replace(Definition, frozen=True):
    definition: Rule | Move | Define | Standing | Score


class Insert(Definition, frozen=True):
    """Statements (and, for a move, guards) put before or after those of a rule or move."""

    where: Literal["before", "after"]
    kind: Literal["rule", "move"]
    name: Word
    guards: tuple[Needs, ...]
    body: tuple[Statement, ...]


class ChangeChoice(Definition, frozen=True):
    """`add to choice NAME: moves` or `remove from choice NAME: moves`; the choice is named for its rule."""

    add: bool
    choice: Word
    moves: tuple[Word, ...]


class File(Node, frozen=True):
    """One rule file."""

    definitions: tuple[Definition, ...]
