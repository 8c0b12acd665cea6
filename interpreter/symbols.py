"""The names of a rule set: what each global name stands for, and what the checker learnt about each node."""

from __future__ import annotations

from msgspec import Struct, field

from ..grammar import tree
from ..grammar.span import Span
from .ruleset import Question, Record, RuleSet, Table
from .types import EnumType, Type


class Local(Struct, frozen=True, eq=False):
    """A parameter, a `let`, or the variable of a loop or search."""

    name: str
    type: Type
    span: Span
    secret: bool = False


class Variable(Struct, frozen=True, eq=False):
    """A state variable: types of its indices and of its value."""

    node: tree.StateVar
    indices: tuple[Type, ...]
    type: Type
    tally: bool

    @property
    def name(self) -> str:
        return self.node.name.text


class Callable(Struct, frozen=True, eq=False):
    """A rule, a move or a define with the types of its parameters."""

    node: tree.Rule | tree.Move | tree.Define
    params: tuple[Local, ...]
    result: Type | None
    layer: str = ""

    @property
    def name(self) -> str:
        return self.node.name.text

    @property
    def kind(self) -> str:
        match self.node:
            case tree.Rule():
                return "rule"
            case tree.Move():
                return "move"
            case _:
                return "define"


# What a name in an expression stands for.


class EntryRef(Struct, frozen=True, eq=False):
    """An entry of an enumeration."""

    enum: EnumType
    index: int


class AllRef(Struct, frozen=True, eq=False):
    """All members of an enumeration."""

    enum: EnumType


class NumberRef(Struct, frozen=True, eq=False):
    """A constant known when loading, e.g. how many players there are."""

    value: int


class QuestionRef(Struct, frozen=True, eq=False):
    question: Question


class ActorRef(Struct, frozen=True, eq=False):
    """Who makes the move."""


class AliasRef(Struct, frozen=True, eq=False):
    """All numbers of a named range."""

    type: tree.TypeExpr


class BuiltinRef(Struct, frozen=True, eq=False):
    """A function of the language itself."""

    name: str


Ref = (
    Local
    | Variable
    | Callable
    | EntryRef
    | AllRef
    | NumberRef
    | QuestionRef
    | ActorRef
    | AliasRef
    | BuiltinRef
    | Table
    | Record
)


class Checked(Struct):
    """A rule set that was checked, with the tables that the lowering reads."""

    rules: RuleSet
    player: EnumType
    aliases: dict[str, tree.TypeDef]
    enums: dict[str, EnumType]
    variables: dict[str, Variable]
    callables: dict[str, Callable]
    questions: dict[str, Question]
    types: dict[tree.Expr, Type] = field(default_factory=dict)
    refs: dict[tree.Node, Ref] = field(default_factory=dict)
    locals: dict[tree.Node, Local] = field(default_factory=dict)
    """The local that a parameter, let, loop or search introduces, by its name's node."""
    asks: set[str] = field(default_factory=set)
    """Rules and moves in which the game may stop and wait."""
    question_enums: dict[str, EnumType] = field(default_factory=dict)
