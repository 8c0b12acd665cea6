"""The syntax tree: one frozen dataclass a construct, each with the span it was read from.

Nodes compare by identity, so that later passes can keep what they learn in tables keyed by node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar, dataclass_transform

from .span import Span

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, eq_default=False)
def _node(cls: type[_T]) -> type[_T]:
    return dataclass(frozen=True, slots=True, eq=False)(cls)


@_node
class Node:
    """Stands for any piece of a rule file."""

    span: Span


# ------------------------------------------------------------------------------------------------ names and texts


@_node
class Word(Node):
    """A name as written, where it is written."""

    text: str


@_node
class Template(Node):
    """A text with placeholders: `pieces` alternate literal text and the expressions between braces."""

    text: str
    pieces: tuple[str | Expr, ...]


# ---------------------------------------------------------------------------------------------------- expressions


@_node
class Expr(Node):
    """Stands for any expression."""


@_node
class Number(Expr):
    value: int


@_node
class Name(Expr):
    text: str


@_node
class Constant(Expr):
    """`yes`, `no`, `none` or `empty`."""

    word: Literal["yes", "no", "none", "empty"]


@_node
class Attribute(Expr):
    """`value.name`: an attribute of a table entry, or a constant of a record."""

    value: Expr
    name: Word


@_node
class Index(Expr):
    """`value[i, j]`: an element of a state array, or item number i of a list or pile, counting from 1."""

    value: Expr
    indices: tuple[Expr, ...]


@_node
class Function(Expr):
    name: Word
    arguments: tuple[Expr, ...]


@_node
class Unary(Expr):
    operator: Literal["-", "not", "length of", "first of", "last of"]
    operand: Expr


@_node
class Binary(Expr):
    operator: str
    left: Expr
    right: Expr


@_node
class Divide(Expr):
    """Whole division; `rounding` is None where the author did not say (an error)."""

    left: Expr
    right: Expr
    rounding: Literal["down", "up"] | None


@_node
class Conditional(Expr):
    value: Expr
    condition: Expr
    otherwise: Expr


@_node
class Collection(Expr):
    """`{a, b}`, a set, or `[a, b]`, a pile."""

    kind: Literal["set", "pile"]
    items: tuple[Expr, ...]


@_node
class Group(Expr):
    """An expression in parentheses, kept so that the text can be shown as written."""

    inner: Expr


@_node
class Fold(Expr):
    """`sum of E for x in D where c`, `the largest …`, `the smallest … otherwise d`."""

    kind: Literal["sum", "largest", "smallest"]
    value: Expr
    variable: Word
    domain: Domain
    where: Expr | None
    otherwise: Expr | None


@_node
class Search(Expr):
    """`number of x in D where c` or `the first x in D where c otherwise d`."""

    kind: Literal["number", "first"]
    variable: Word
    domain: Domain
    where: Expr | None
    otherwise: Expr | None


@_node
class Quantify(Expr):
    """`some x in D has c` or `every x in D has c`."""

    kind: Literal["some", "every"]
    variable: Word
    domain: Domain
    where: Expr | None
    has: Expr


# -------------------------------------------------------------------------------------------------------- domains


@_node
class Domain(Node):
    """Stands for what a variable runs over."""


@_node
class Members(Domain):
    """All of a type, a set, a pile, or a list."""

    of: Expr


@_node
class Range(Domain):
    """Whole numbers from `low` to `high`, both included."""

    low: Expr
    high: Expr


@_node
class Clockwise(Domain):
    """All players by seat, from one of them or from the one after him, who then comes last."""

    start: Expr
    after: bool


# ---------------------------------------------------------------------------------------------------------- types


@_node
class TypeExpr(Node):
    """Stands for any type as written."""


@_node
class NamedType(TypeExpr):
    name: str


@_node
class RangeType(TypeExpr):
    low: Expr
    high: Expr


@_node
class FlagType(TypeExpr):
    """`yes or no`."""


@_node
class TextType(TypeExpr):
    """Free text: recorded and shown, never branched on."""


@_node
class OptionalType(TypeExpr):
    base: TypeExpr


@_node
class SetType(TypeExpr):
    base: TypeExpr


@_node
class PileType(TypeExpr):
    base: TypeExpr
    capacity: Expr


# ----------------------------------------------------------------------------------------------------- statements


@_node
class Statement(Node):
    """Stands for any statement."""


@_node
class Let(Statement):
    name: Word
    value: Expr


@_node
class Assign(Statement):
    target: Expr
    value: Expr


@_node
class Adjust(Statement):
    """`increase x by e` (sign 1) or `decrease x by e` (sign -1)."""

    target: Expr
    amount: Expr
    sign: Literal[1, -1]


@_node
class Add(Statement):
    """`add e to set`."""

    item: Expr
    target: Expr


@_node
class Remove(Statement):
    """`remove e from set`; from a pile the first item equal to e."""

    item: Expr
    target: Expr


@_node
class Put(Statement):
    item: Expr
    target: Expr
    where: Literal["top", "bottom"]


@_node
class Take(Statement):
    """`take top from pile`, `take bottom from pile`, `take item k from pile`: removes it."""

    target: Expr
    which: Literal["top", "bottom"] | Expr


@_node
class Transfer(Statement):
    """`transfer n from pile to pile`: the top n, in their order."""

    count: Expr
    source: Expr
    target: Expr


@_node
class Shuffle(Statement):
    target: Expr


@_node
class Stop(Statement):
    when: Expr | None


@_node
class Skip(Statement):
    when: Expr | None
    unless: bool


@_node
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


@_node
class Roll(Statement):
    target: Expr
    variable: Word | None
    domain: Domain | None
    where: Expr | None


@_node
class Draw(Statement):
    name: Word
    domain: Domain
    where: Expr | None
    weight: Expr | None
    stream: Word | None


@_node
class Tell(Statement):
    """A sentence for all, or for one player alone."""

    to: Expr | None
    text: Template


@_node
class Call(Statement):
    name: Word
    arguments: tuple[Expr, ...]


@_node
class EndGame(Statement):
    pass


@_node
class If(Statement):
    condition: Expr
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@_node
class Case(Node):
    labels: tuple[Word, ...]
    body: tuple[Statement, ...]


@_node
class Match(Statement):
    subject: Expr
    cases: tuple[Case, ...]


@_node
class For(Statement):
    variable: Word
    domain: Domain
    forever: bool
    where: Expr | None
    body: tuple[Statement, ...]


@_node
class Repeat(Statement):
    """`repeat:`, `repeat n times:` or `repeat while c:`."""

    times: Expr | None
    condition: Expr | None
    body: tuple[Statement, ...]


# -------------------------------------------------------------------------------------------------------- results


@_node
class Result(Node):
    """Stands for the value of a `define`: an expression, or a choice between results."""


@_node
class Value(Result):
    value: Expr


@_node
class ResultLet(Result):
    name: Word
    value: Expr
    rest: Result


@_node
class ResultIf(Result):
    condition: Expr
    then: Result
    otherwise: Result


@_node
class ResultCase(Node):
    labels: tuple[Word, ...]
    result: Result


@_node
class ResultMatch(Result):
    subject: Expr
    cases: tuple[ResultCase, ...]


# ---------------------------------------------------------------------------------------------------- definitions


@_node
class Definition(Node):
    """Stands for anything at the top level of a rule file."""


@_node
class TypeDef(Definition):
    name: Word
    type: TypeExpr


@_node
class KindDef(Definition):
    name: Word
    members: tuple[Word, ...]


@_node
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


@_node
class StateBlock(Definition):
    variables: tuple[StateVar, ...]
    tally: bool


@_node
class Param(Node):
    name: Word
    type: TypeExpr
    secret: bool


@_node
class Rule(Definition):
    name: Word
    params: tuple[Param, ...]
    body: tuple[Statement, ...]


@_node
class Needs(Node):
    """A guard of a move: the condition, and what to say when it fails.

    With `listing`, the condition only says which of several equal moves is offered; the others are legal too.
    """

    condition: Expr
    reason: Template | None
    listing: bool = False


@_node
class Move(Definition):
    """A move: `says` are its words, `shows` those others see, `means` tells what it is for; guards; effects."""

    name: Word
    params: tuple[Param, ...]
    says: Template | None
    shows: Template | None
    means: Template | None
    guards: tuple[Needs, ...]
    body: tuple[Statement, ...]


@_node
class Define(Definition):
    name: Word
    params: tuple[Param, ...]
    type: TypeExpr
    result: Result
    open: bool


@_node
class Standing(Definition):
    """Moves that join the decisions of a player: his own, or (`everyone`) those of all."""

    everyone: bool
    when: Expr | None
    moves: tuple[Word, ...]


@_node
class Invariant(Definition):
    text: Template
    condition: Result


@_node
class Score(Definition):
    """`score p:` or, with `tie_break`, what decides between equal scores; the highest is best."""

    player: Word
    result: Result
    tie_break: bool


@_node
class Measure(Definition):
    text: Template
    per: Word | None
    value: Result


@_node
class EndsWhen(Definition):
    condition: Expr


@_node
class Replace(Definition):
    definition: Rule | Move | Define | Standing | Score


@_node
class Insert(Definition):
    """Statements (and, for a move, guards) put before or after those of a rule or move."""

    where: Literal["before", "after"]
    kind: Literal["rule", "move"]
    name: Word
    guards: tuple[Needs, ...]
    body: tuple[Statement, ...]


@_node
class ChangeChoice(Definition):
    """`add to choice NAME: moves` or `remove from choice NAME: moves`; the choice is named for its rule."""

    add: bool
    choice: Word
    moves: tuple[Word, ...]


@_node
class File(Node):
    """One rule file."""

    definitions: tuple[Definition, ...]
