"""Types and names of expressions: what each name stands for, and that values fit where they stand.

Names of entries ("afloat", "A") need no qualifier: where a value of an enumeration is expected, its entries come
first; elsewhere a name must belong to one enumeration alone.
"""

from __future__ import annotations

from ..grammar import tree
from ..grammar.diagnostics import Label, Report, suggestion
from ..grammar.span import Span
from .ruleset import Datum, Record, Table
from .symbols import (
    ActorRef,
    AliasRef,
    AllRef,
    BuiltinRef,
    Callable,
    Checked,
    EntryRef,
    Local,
    NumberRef,
    QuestionRef,
    Ref,
    Variable,
)
from .types import (
    EMPTY,
    FLAG,
    INT,
    NONE,
    TEXT,
    UNKNOWN,
    EnumType,
    ListType,
    OptionalType,
    PileType,
    SetType,
    Type,
    UnknownType,
    comparable,
    fits,
)


class ExpressionChecker:
    """Checks expressions in a stack of scopes, writing types and meanings into `checked`."""

    def __init__(self, checked: Checked, report: Report) -> None:
        self.checked = checked
        self.report = report
        self.scopes: list[dict[str, Local]] = [{}]
        self.actor_allowed = False
        self.entry_owners: dict[str, list[EnumType]] = {}

    def index_entries(self) -> None:
        """Notes which enumerations have an entry of which name."""
        for enum in self.checked.enums.values():
            for entry in enum.entries:
                self.entry_owners.setdefault(entry, []).append(enum)

    def error(
        self, code: str, message: str, span: Span, *, notes: list[Label] | None = None, help: str = ""
    ) -> None:
        self.report.error(code, message, span, notes=notes or [], help=help)

    def declare(self, name: tree.Word, type_: Type) -> Local:
        """Brings a local into the innermost scope."""
        for scope in self.scopes:
            if name.text in scope:
                self.error(
                    "duplicate-name",
                    f"'{name.text}' already means something here",
                    name.span,
                    notes=[Label("it is declared here", scope[name.text].span)],
                )
                break
        if isinstance(type_, NONE.__class__ | EMPTY.__class__):
            self.error("type", f"'{name.text}' would always be {type_}", name.span)
            type_ = UNKNOWN
        local = Local(name.text, type_, name.span)
        self.checked.locals[name] = local
        self.scopes[-1][name.text] = local
        return local

    # ----------------------------------------------------------------------------------------------------- types

    def type_of(self, node: tree.TypeExpr) -> Type:
        """Gets the type a type expression means."""
        match node:
            case tree.NamedType(_, name):
                if name in self.checked.enums:
                    return self.checked.enums[name]
                if name in self.checked.aliases:
                    alias = self.checked.aliases[name]
                    if isinstance(alias.type, tree.NamedType) and alias.type.name == name:
                        self.error("recursion", f"type '{name}' is made of itself", alias.span)
                        return UNKNOWN
                    return self.type_of(alias.type)
                known = [*self.checked.enums, *self.checked.aliases]
                self.error(
                    "unknown-type",
                    f"no type '{name}'",
                    node.span,
                    help=suggestion(name, known, what="the types are"),
                )
                return UNKNOWN
            case tree.RangeType():
                return INT
            case tree.FlagType():
                return FLAG
            case tree.TextType():
                return TEXT
            case tree.OptionalType(_, base):
                inner = self.type_of(base)
                if not isinstance(inner, EnumType | UnknownType) and inner != INT:
                    self.error("type", f"{inner} cannot be none", node.span)
                return OptionalType(inner)
            case tree.SetType(_, base):
                inner = self.type_of(base)
                if isinstance(inner, EnumType) and len(inner.entries) > 62:
                    self.error(
                        "set-size",
                        f"a set holds one of at most 62, {inner.name} has {len(inner.entries)}",
                        node.span,
                    )
                elif not isinstance(inner, EnumType | UnknownType):
                    self.error("type", f"a set holds entries of an enumeration, not {inner}", node.span)
                return SetType(inner)
            case tree.PileType(_, base, _):
                return PileType(self.type_of(base))
        raise AssertionError(node)

    # ------------------------------------------------------------------------------------------------ expectations

    def expect(self, node: tree.Expr, wanted: Type) -> Type:
        """Checks that an expression gives what is wanted."""
        got = self.infer(node, wanted)
        if not fits(got, wanted):
            self.error("type", f"got {got}, want {wanted}", node.span)
            return UNKNOWN
        return got

    def flag(self, node: tree.Expr) -> None:
        """Checks a condition."""
        self.expect(node, FLAG)

    def number(self, node: tree.Expr) -> None:
        """Checks a number."""
        self.expect(node, INT)

    def template(self, text: tree.Template) -> None:
        """Checks the placeholders of a text."""
        for piece in text.pieces:
            if not isinstance(piece, str):
                self.infer(piece)

    def target(self, node: tree.Expr) -> Type:
        """Checks what a statement changes: a state variable or an element of one."""
        base = node.value if isinstance(node, tree.Index) else node
        if isinstance(base, tree.Name):
            local = self._local(base.text)
            if local is None and base.text in self.checked.variables:
                return self.infer(node)
            if local is not None:
                self.error(
                    "assign-target",
                    f"'{base.text}' cannot be changed",
                    node.span,
                    notes=[Label("it is declared here", local.span)],
                    help="what changes is declared under 'state:'",
                )
                return UNKNOWN
            known = list(self.checked.variables)
            self.error(
                "unknown-name",
                f"no state variable '{base.text}'",
                base.span,
                help=suggestion(base.text, known, what="the state variables are"),
            )
            return UNKNOWN
        self.error("assign-target", "only a state variable can be changed", node.span)
        return UNKNOWN

    def arguments(self, symbol: Callable, name: tree.Word, arguments: tuple[tree.Expr, ...]) -> None:
        """Checks the arguments of a call."""
        if len(arguments) != len(symbol.params):
            self.error(
                "arguments",
                f"'{symbol.name}' takes {_count(len(symbol.params))}, got {len(arguments)}",
                name.span,
                notes=[Label("it is declared here", symbol.node.name.span)],
            )
        for a, p in zip(arguments, symbol.params, strict=False):
            self.expect(a, p.type)
        for a in arguments[len(symbol.params) :]:
            self.infer(a)

    # --------------------------------------------------------------------------------------------------- domains

    def domain(self, node: tree.Domain) -> Type:
        """Checks a domain and gets the type of its members."""
        match node:
            case tree.Range(_, low, high):
                self.number(low)
                self.number(high)
                return INT
            case tree.Clockwise(_, start, _):
                self.expect(start, self.checked.player)
                return self.checked.player
            case tree.Members(_, of):
                got = self.infer(of)
                match got:
                    case SetType(base) | PileType(base) | ListType(base):
                        return base
                    case UnknownType():
                        return UNKNOWN
                    case _:
                        self.error(
                            "type",
                            f"got {got}, want something with members",
                            of.span,
                            help="a type, a set, a pile, a list, or 'low to high'",
                        )
                        return UNKNOWN
        raise AssertionError(node)

    # ----------------------------------------------------------------------------------------------------- names

    def _local(self, name: str) -> Local | None:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def infer_ref(self, node: tree.Expr) -> Ref | None:
        """Infers an expression and gets what it stands for, if it is a name."""
        self.infer(node)
        while isinstance(node, tree.Group):
            node = node.inner
        return self.checked.refs.get(node)

    def _name(self, node: tree.Name, wanted: Type | None) -> Type:
        name, checked = node.text, self.checked
        local = self._local(name)
        if local is not None:
            checked.refs[node] = local
            return local.type
        enum = wanted.base if isinstance(wanted, OptionalType) else wanted
        if isinstance(enum, EnumType) and name in enum.entries:
            checked.refs[node] = EntryRef(enum, enum.entries.index(name))
            return enum
        if name in checked.variables:
            v = checked.variables[name]
            checked.refs[node] = v
            if v.indices:
                self.error("index", f"'{name}' has {_count(len(v.indices), 'index', 'indices')}", node.span)
                return UNKNOWN
            return v.type
        if name in checked.enums:
            checked.refs[node] = AllRef(checked.enums[name])
            return SetType(checked.enums[name])
        if name in checked.aliases:
            alias = checked.aliases[name].type
            if self.type_of(alias) == INT:
                checked.refs[node] = AliasRef(alias)
                return ListType(INT)
        if name in checked.questions:
            question = checked.questions[name]
            checked.refs[node] = QuestionRef(question)
            return FLAG if question.is_flag else checked.question_enums[name]
        if name in checked.callables and checked.callables[name].kind == "define":
            symbol = checked.callables[name]
            checked.refs[node] = symbol
            self.arguments(symbol, tree.Word(node.span, name), ())
            return symbol.result or UNKNOWN
        if name == "players":
            checked.refs[node] = NumberRef(checked.rules.players)
            return INT
        if name == "actor":
            if not self.actor_allowed:
                self.error("actor", "nobody acts here", node.span, help="give the player as a parameter")
            checked.refs[node] = ActorRef()
            return checked.player
        return self._entry(node, enum)

    def _entry(self, node: tree.Name, wanted: Type | None) -> Type:
        owners = self.entry_owners.get(node.text, [])
        if len(owners) == 1:
            self.checked.refs[node] = EntryRef(owners[0], owners[0].entries.index(node.text))
            return owners[0]
        if owners:
            self.error(
                "ambiguous-name",
                f"'{node.text}' is an entry of {' and of '.join(sorted(o.name for o in owners))}",
                node.span,
                help="compare it with a value of the type you mean",
            )
            return UNKNOWN
        if isinstance(wanted, EnumType):
            what = "a reading" if wanted.origin == "question" else "an entry"
            notes = [Label(f"'{wanted.name}' is declared here", wanted.span)] if wanted.span else []
            self.error(
                "unknown-name",
                f"'{node.text}' is not {what} of '{wanted.name}'",
                node.span,
                notes=notes,
                help=suggestion(
                    node.text, wanted.entries, what=f"its {what.split()[1]}s are".replace("entrys", "entries")
                ),
            )
            return UNKNOWN
        known = [
            *self.checked.variables,
            *self.checked.enums,
            *self.checked.questions,
            *(c.name for c in self.checked.callables.values() if c.kind == "define"),
            *self.entry_owners,
            *(name for scope in self.scopes for name in scope),
            *self.checked.rules.records,
        ]
        self.error(
            "unknown-name", f"nothing is called '{node.text}'", node.span, help=suggestion(node.text, known)
        )
        return UNKNOWN

    # ----------------------------------------------------------------------------------------------- expressions

    def infer(self, node: tree.Expr, wanted: Type | None = None) -> Type:
        """Gets the type of an expression; `wanted` helps to tell entries apart."""
        t = self._infer(node, wanted)
        self.checked.types[node] = t
        return t

    def _infer(self, node: tree.Expr, wanted: Type | None) -> Type:
        match node:
            case tree.Number():
                return INT
            case tree.Name():
                return self._name(node, wanted)
            case tree.Constant(_, word):
                return self._constant(node, word, wanted)
            case tree.Group(_, inner):
                t = self.infer(inner, wanted)
                if inner in self.checked.refs:
                    self.checked.refs[node] = self.checked.refs[inner]
                return t
            case tree.Attribute():
                return self._attribute(node)
            case tree.Index():
                return self._index(node)
            case tree.Function(_, name, arguments):
                return self._function(node, name, arguments)
            case tree.Unary(_, operator, operand):
                return self._unary(operator, operand)
            case tree.Binary(_, operator, left, right):
                return self._binary(operator, left, right)
            case tree.Divide(_, left, right, rounding):
                self.number(left)
                self.number(right)
                if rounding is None:
                    self.error(
                        "rounding",
                        "this division does not say how it rounds",
                        node.span,
                        help="write 'rounded down' or 'rounded up' after it",
                    )
                return INT
            case tree.Conditional(_, value, condition, otherwise):
                self.flag(condition)
                return self._either(value, otherwise, wanted)
            case tree.Collection(_, kind, items):
                base = wanted.base if isinstance(wanted, SetType | PileType) else None
                types = [self.infer(item, base) for item in items]
                first = types[0]
                for t, item in zip(types[1:], items[1:], strict=True):
                    if not comparable(first, t):
                        self.error("type", f"got {t}, want {first}", item.span)
                if isinstance(first, OptionalType):
                    first = first.base
                return SetType(first) if kind == "set" else PileType(first)
            case tree.Fold(_, _, value, variable, domain, where, otherwise):
                self._bind(variable, domain, where)
                self.number(value)
                self.scopes.pop()
                if otherwise is not None:
                    self.number(otherwise)
                return INT
            case tree.Search(_, kind, variable, domain, where, otherwise):
                self._bind(variable, domain, where)
                element = self.scopes.pop()[variable.text].type
                if kind == "number":
                    return INT
                if otherwise is not None:
                    got = self.infer(otherwise, element)
                    if not comparable(got, element):
                        self.error("type", f"got {got}, want {element}", otherwise.span)
                    return OptionalType(element) if got == NONE else element
                return element
            case tree.Quantify(_, _, variable, domain, where, has):
                self._bind(variable, domain, where)
                self.flag(has)
                self.scopes.pop()
                return FLAG
        raise AssertionError(node)

    def _bind(self, variable: tree.Word, domain: tree.Domain, where: tree.Expr | None) -> None:
        element = self.domain(domain)
        self.scopes.append({})
        self.declare(variable, element)
        if where is not None:
            self.flag(where)

    def _constant(self, node: tree.Constant, word: str, wanted: Type | None) -> Type:
        enum = wanted.base if isinstance(wanted, OptionalType) else wanted
        if isinstance(enum, EnumType) and word in enum.entries:
            self.checked.refs[node] = EntryRef(enum, enum.entries.index(word))
            return enum
        return {"yes": FLAG, "no": FLAG, "none": NONE, "empty": EMPTY}[word]

    def _either(self, a: tree.Expr, b: tree.Expr, wanted: Type | None) -> Type:
        first = self.infer(a, wanted)
        second = self.infer(b, wanted or first)
        if (
            isinstance(first, OptionalType)
            and fits(second, first)
            and wanted is not None
            and fits(second, wanted)
        ):
            # `master if master is not none else …`: that the first one is not none is checked when it runs
            return second if not isinstance(second, NONE.__class__) else first
        if fits(second, first):
            return first
        if fits(first, second):
            return second if not isinstance(first, NONE.__class__) else OptionalType(second)
        if second == NONE:
            return OptionalType(first)
        self.error("type", f"got {second}, want {first}", b.span)
        return UNKNOWN

    def _attribute(self, node: tree.Attribute) -> Type:
        value, name = node.value, node.name
        if isinstance(value, tree.Name) and self._local(value.text) is None:
            record = self.checked.rules.records.get(value.text)
            if record is not None:
                return self._record(node, record)
        t = self.infer(value)
        if isinstance(t, OptionalType):
            t = t.base
        if isinstance(t, UnknownType):
            return UNKNOWN
        if isinstance(t, EnumType):
            table = self.checked.rules.tables.get(t.name)
            if table is not None and table.enum is t and name.text in table.cells:
                self.checked.refs[node] = table
                return self._cell_type(name.text, [c.value for c in table.cells[name.text].values()])
            known = list(table.cells) if table is not None and table.enum is t else []
            notes = [Label("the table is here", table.span)] if table is not None else []
            self.error(
                "unknown-attribute",
                f"{t} has no attribute '{name.text}'",
                name.span,
                notes=notes,
                help=suggestion(name.text, known, what="its attributes are"),
            )
            return UNKNOWN
        self.error(
            "type",
            f"{t} has no attributes",
            value.span,
            help=suggestion(getattr(value, "text", ""), self.checked.rules.records, what="the records are"),
        )
        return UNKNOWN

    def _record(self, node: tree.Attribute, record: Record) -> Type:
        cell = record.cells.get(node.name.text)
        if cell is None:
            self.error(
                "unknown-attribute",
                f"'{record.name}' has no entry '{node.name.text}'",
                node.name.span,
                notes=[Label("the record is here", record.span)],
                help=suggestion(node.name.text, record.cells),
            )
            return UNKNOWN
        self.checked.refs[node] = record
        return self._cell_type(node.name.text, [cell.value])

    def _cell_type(self, attribute: str, values: list[Datum]) -> Type:
        first = values[0] if values else 0
        if isinstance(first, bool):
            return FLAG
        if isinstance(first, int):
            return INT
        if isinstance(first, str):
            enum = self.checked.enums.get(attribute)
            if enum is not None and all(isinstance(v, str) and v in enum.entries for v in values):
                return enum
            return TEXT
        items = [item for v in values if isinstance(v, tuple) for item in v]
        return ListType(self._cell_type(attribute, items))

    def _index(self, node: tree.Index) -> Type:
        base = node.value
        if (
            isinstance(base, tree.Name)
            and self._local(base.text) is None
            and base.text in self.checked.variables
        ):
            v = self.checked.variables[base.text]
            self.checked.refs[base] = v
            self.checked.types[base] = v.type
            if v.indices or not isinstance(v.type, PileType):
                return self._element(node, v)
        t = self.infer(base)
        if isinstance(t, PileType | ListType) or (isinstance(t, SetType) and False):
            for i in node.indices:
                self.number(i)
            if len(node.indices) != 1:
                self.error("index", f"{t} has one index, got {len(node.indices)}", node.span)
            return t.base
        if not isinstance(t, UnknownType):
            self.error("index", f"{t} has no elements to number", base.span)
        for i in node.indices:
            self.infer(i)
        return UNKNOWN

    def _element(self, node: tree.Index, v: Variable) -> Type:
        for i, t in zip(node.indices, v.indices, strict=False):
            self.expect(i, t)
        extra = node.indices[len(v.indices) :]
        if isinstance(v.type, PileType) and len(extra) == 1:
            self.number(extra[0])
            return v.type.base
        for i in extra:
            self.infer(i)
        if len(node.indices) != len(v.indices):
            self.error(
                "index",
                f"'{v.name}' has {_count(len(v.indices), 'index', 'indices')}, got {len(node.indices)}",
                node.span,
                notes=[Label("it is declared here", v.node.span)],
            )
            return UNKNOWN
        return v.type

    def _function(self, node: tree.Function, name: tree.Word, arguments: tuple[tree.Expr, ...]) -> Type:
        symbol = self.checked.callables.get(name.text)
        if symbol is not None and symbol.kind == "define":
            self.checked.refs[node] = symbol
            self.arguments(symbol, name, arguments)
            return symbol.result or UNKNOWN
        player = self.checked.player
        signature: dict[str, tuple[Type, Type, int | None]] = {
            "min": (INT, INT, None),
            "max": (INT, INT, None),
            "abs": (INT, INT, 1),
            "left_of": (player, player, 1),
            "seat": (player, INT, 1),
        }
        if name.text in signature:
            wanted, result, count = signature[name.text]
            self.checked.refs[node] = BuiltinRef(name.text)
            for a in arguments:
                self.expect(a, wanted)
            if (count is not None and len(arguments) != count) or not arguments:
                self.error(
                    "arguments", f"'{name.text}' takes {_count(count or 2)}, got {len(arguments)}", name.span
                )
            return result
        for a in arguments:
            self.infer(a)
        if symbol is not None:
            self.error("not-a-value", f"'{name.text}' is a {symbol.kind} and gives no value", name.span)
        else:
            known = [*signature, *(c.name for c in self.checked.callables.values() if c.kind == "define")]
            self.error(
                "unknown-name", f"no define '{name.text}'", name.span, help=suggestion(name.text, known)
            )
        return UNKNOWN

    def _unary(self, operator: str, operand: tree.Expr) -> Type:
        match operator:
            case "-":
                self.number(operand)
                return INT
            case "not":
                self.flag(operand)
                return FLAG
            case "length of":
                t = self.infer(operand)
                if not isinstance(t, PileType | ListType | SetType | UnknownType):
                    self.error("type", f"got {t}, want a pile, a set or a list", operand.span)
                return INT
            case _:
                t = self.infer(operand)
                if isinstance(t, PileType | ListType | SetType):
                    if isinstance(t, SetType) and not isinstance(self.checked.refs.get(operand), AllRef):
                        self.error(
                            "type", "a set has no order", operand.span, help="write 'the first x in …'"
                        )
                    return t.base
                if not isinstance(t, UnknownType):
                    self.error("type", f"got {t}, want a pile or a list", operand.span)
                return UNKNOWN

    def _binary(self, operator: str, left: tree.Expr, right: tree.Expr) -> Type:
        match operator:
            case "and" | "or":
                self.flag(left)
                self.flag(right)
                return FLAG
            case "+" | "-" | "*" | "mod":
                self.number(left)
                self.number(right)
                return INT
            case "in" | "not in":
                collection = self.infer(right)
                if isinstance(collection, SetType | PileType | ListType):
                    self.expect(left, collection.base)
                else:
                    self.infer(left)
                    if not isinstance(collection, UnknownType | EMPTY.__class__):
                        self.error("type", f"got {collection}, want a set, a pile or a list", right.span)
                return FLAG
            case "=" | "is" | "is not":
                a, b = self._sides(left, right)
                if not comparable(a, b):
                    self.error("type", f"got {b}, want {a}", right.span)
                return FLAG
            case _:
                a, b = self._sides(left, right)
                plain = (
                    a.base if isinstance(a, OptionalType) else a,
                    b.base if isinstance(b, OptionalType) else b,
                )
                for t, side in zip(plain, (left, right), strict=True):
                    if t != INT and not isinstance(t, EnumType | UnknownType):
                        self.error("type", f"{t} has no order", side.span)
                        return FLAG
                if not comparable(a, b):
                    self.error("type", f"got {b}, want {a}", right.span)
                return FLAG

    def _sides(self, left: tree.Expr, right: tree.Expr) -> tuple[Type, Type]:
        if isinstance(left, tree.Name) and self._needs_other_side(left.text):
            b = self.infer(right)
            return self.infer(left, b), b
        a = self.infer(left)
        ref = self.checked.refs.get(left)
        if isinstance(ref, QuestionRef) and ref.question.is_flag:
            return a, self.infer(right)
        return a, self.infer(right, a)

    def _needs_other_side(self, name: str) -> bool:
        return (
            self._local(name) is None
            and name not in self.checked.variables
            and name not in self.checked.questions
            and name not in self.checked.callables
            and name in self.entry_owners
        )


def _count(n: int, one: str = "argument", many: str = "arguments") -> str:
    return f"{n} {one if n == 1 else many}"


__all__ = ["ExpressionChecker", "Table"]
