"""Checks a rule set: names, types, calls, choices, exhaustive matches, no recursion, secrets kept.

Takes a loaded rule set and gives it with the type and meaning of every expression; refuses, with all complaints at
once, what could not run or would read secrets aloud. Ranges are the lowering's concern: it knows the constants.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..grammar import tree
from ..grammar.diagnostics import Label, Report, suggestion
from ..grammar.span import Span
from .check_expressions import ExpressionChecker
from .check_secrets import check_secrets
from .check_use import check_recursion, check_unused, find_asking
from .ruleset import RuleSet
from .symbols import Callable, Checked, EntryRef, Local, QuestionRef, Variable
from .types import FLAG, INT, EnumType, OptionalType, PileType, SetType, TextType, Type, UnknownType, fits

BUILTIN_NAMES = ("player", "players", "actor", "min", "max", "abs", "left_of", "seat")


def check(rules: RuleSet, report: Report) -> Checked:
    """Checks `rules`; the result can be lowered only if `report` then holds no error."""
    checker = _Checker(rules, report)
    checker.run()
    if not report.has_errors:
        check_recursion(checker.checked, report)
        find_asking(checker.checked, report)
        check_secrets(checker.checked, report)
        check_unused(checker.checked, report)
    return checker.checked


class _Checker(ExpressionChecker):
    def __init__(self, rules: RuleSet, report: Report) -> None:
        player = EnumType("player", tuple(f"{n}" for n in rules.player_names[: rules.players]), "players")
        checked = Checked(rules, player, {}, {}, {}, {}, {})
        super().__init__(checked, report)

    def run(self) -> None:
        self._collect()
        for definition in self.checked.rules.definitions:
            self._definition(definition.node)
        self._look_for_a_score()
        start = self.checked.callables.get(self.checked.rules.start)
        if start is None or start.kind != "rule" or start.params:
            rules = [c.name for c in self.checked.callables.values() if c.kind == "rule" and not c.params]
            self.report.error(
                "unknown-rule",
                f"no rule '{self.checked.rules.start}' without parameters to start with",
                self.checked.rules.start_span,
                help=suggestion(self.checked.rules.start, rules, what="the rules are"),
            )

    # ------------------------------------------------------------------------------------------------ collecting

    def _look_for_a_score(self) -> None:
        definitions = [d.node for d in self.checked.rules.definitions]
        if definitions and not any(isinstance(d, tree.Score) and not d.tie_break for d in definitions):
            self.report.warning(
                "no-score",
                "nothing says who wins",
                self.checked.rules.start_span,
                help="add 'score p: …' to the rules; the highest score wins",
            )

    def _collect(self) -> None:
        rules, checked = self.checked.rules, self.checked
        checked.enums["player"] = checked.player
        for table in rules.tables.values():
            checked.enums[table.name] = table.enum
        for question in rules.questions.values():
            checked.questions[question.identifier] = question
            names = tuple(r.replace("-", "_") for r in question.readings)
            checked.question_enums[question.identifier] = EnumType(
                question.identifier, names, "question", question.span
            )
        nodes = [d.node for d in rules.definitions]
        for node in nodes:
            match node:
                case tree.KindDef(span, name, members):
                    checked.enums[name.text] = EnumType(
                        name.text, tuple(m.text for m in members), "kind", span
                    )
                    self._no_duplicates(members, "entry")
                case tree.TypeDef(_, name, _):
                    checked.aliases[name.text] = node
                case _:
                    pass
        self.index_entries()
        for definition in rules.definitions:
            match definition.node:
                case tree.StateBlock(_, variables, tally):
                    for v in variables:
                        indices = tuple(self.type_of(t) for t in v.indices)
                        checked.variables[v.name.text] = Variable(v, indices, self.type_of(v.type), tally)
                case (
                    tree.Rule(_, name, params)
                    | tree.Move(_, name, params)
                    | tree.Define(_, name, params) as d
                ):
                    result = self.type_of(d.type) if isinstance(d, tree.Define) else None
                    symbol = Callable(d, tuple(self._param(p) for p in params), result, definition.layer)
                    checked.callables[name.text] = symbol
                    self._no_duplicates([p.name for p in params], "parameter")
                case _:
                    pass

    def _param(self, p: tree.Param) -> Local:
        local = Local(p.name.text, self.type_of(p.type), p.name.span, p.secret)
        self.checked.locals[p.name] = local
        return local

    def _no_duplicates(self, words: list[tree.Word] | tuple[tree.Word, ...], what: str) -> None:
        seen: dict[str, tree.Word] = {}
        for word in words:
            if word.text in seen:
                self.report.error(
                    "duplicate-name",
                    f"{what} '{word.text}' stands here twice",
                    word.span,
                    notes=[Label("the first one is here", seen[word.text].span)],
                )
            seen.setdefault(word.text, word)

    # ----------------------------------------------------------------------------------------------- definitions

    def _definition(self, node: tree.Definition) -> None:
        self.scopes = [{}]
        self.actor_allowed = False
        match node:
            case tree.TypeDef(_, _, type_):
                self._bounds(type_)
            case tree.StateBlock(_, variables):
                for v in variables:
                    self._state_variable(v)
            case tree.Rule(_, name, params, body):
                self._parameters(name, params)
                self.actor_allowed = True
                self._body(body, in_loop=False)
            case tree.Move():
                self._move(node)
            case tree.Define(_, name, params, type_, result):
                self._parameters(name, params)
                self._bounds(type_)
                self._result(result, self.type_of(type_))
            case tree.Standing(_, _, when, moves):
                if when is not None:
                    self.flag(when)
                self._move_names(moves)
            case tree.Invariant(_, text, condition):
                self.template(text)
                self._result(condition, FLAG)
            case tree.Score(_, player, result):
                self.declare(player, self.checked.player)
                self._result(result, INT)
            case tree.Measure(_, _, per, value):
                if per is not None:
                    self.declare(per, self.checked.player)
                self._result(value, INT)
            case tree.EndsWhen(_, condition):
                self.flag(condition)
            case _:
                pass

    def _bounds(self, node: tree.TypeExpr) -> None:
        match node:
            case tree.RangeType(_, low, high):
                self.number(low)
                self.number(high)
            case tree.OptionalType(_, base) | tree.SetType(_, base):
                self._bounds(base)
            case tree.PileType(_, base, capacity):
                self._bounds(base)
                self.number(capacity)
            case _:
                pass

    def _state_variable(self, v: tree.StateVar) -> None:
        symbol = self.checked.variables[v.name.text]
        for node in (*v.indices, v.type):
            self._bounds(node)
        for node, index in zip(v.indices, symbol.indices, strict=True):
            if not isinstance(index, EnumType) and index != INT and not isinstance(index, UnknownType):
                self.error("type", f"{index} cannot number the elements of a variable", node.span)
        if v.initial is not None:
            self.expect(v.initial, symbol.type)
        if isinstance(v.secret_to, tree.Expr):
            self.expect(v.secret_to, self.checked.player)
        if v.secret_to == "index" and self.checked.player not in symbol.indices[:1]:
            self.error(
                "secret-owner",
                f"'{v.name.text}' has no player as its first index",
                v.span,
                help="write 'secret to' and the player who sees it",
            )
        if v.when is not None:
            self.flag(v.when)

    def _parameters(self, name: tree.Word, params: tuple[tree.Param, ...]) -> None:
        symbol = self.checked.callables.get(name.text)
        if symbol is None:
            return
        for p, local in zip(params, symbol.params, strict=False):
            self._bounds(p.type)
            self.scopes[-1][p.name.text] = local

    def _move(self, move: tree.Move) -> None:
        self.actor_allowed = True
        symbol = self.checked.callables.get(move.name.text)
        if symbol is None or symbol.node is not move:
            return
        for p, local in zip(move.params, symbol.params, strict=False):
            if not isinstance(local.type, EnumType | TextType | UnknownType) and local.type not in (
                INT,
                FLAG,
            ):
                self.error(
                    "type",
                    f"a move's parameter cannot be {local.type}",
                    p.span,
                    help="name an enumeration or a range",
                )
            self._bounds(p.type)
            self.scopes[-1][p.name.text] = local
        if move.says is None:
            self.error(
                "move-says", f"move '{move.name.text}' has no words", move.name.span, help='add: says "…"'
            )
        for text in (move.says, move.shows, move.means):
            if text is not None:
                self.template(text)
        for guard in move.guards:
            self.flag(guard.condition)
            if guard.reason is not None:
                self.template(guard.reason)
        self._body(move.body, in_loop=False)

    def _result(self, result: tree.Result, wanted: Type) -> None:
        match result:
            case tree.Value(_, value):
                self.expect(value, wanted)
            case tree.ResultLet(_, name, value, rest):
                self.scopes.append({})
                self.declare(name, self.infer(value))
                self._result(rest, wanted)
                self.scopes.pop()
            case tree.ResultIf(_, condition, then, otherwise):
                self.flag(condition)
                self._result(then, wanted)
                self._result(otherwise, wanted)
            case tree.ResultMatch(_, subject, cases):
                self._cases(subject, [(c.labels, c.span) for c in cases])
                for c in cases:
                    self._result(c.result, wanted)

    def _cases(self, subject: tree.Expr, cases: list[tuple[tuple[tree.Word, ...], Span]]) -> None:
        """Checks the labels of a match: entries of the subject's type, each once, all of them handled."""
        ref = self.infer_ref(subject)
        type_ = self.checked.types.get(subject, UnknownType())
        if isinstance(ref, QuestionRef):
            type_ = self.checked.question_enums[ref.question.identifier]
        optional = isinstance(type_, OptionalType)
        enum = type_.base if isinstance(type_, OptionalType) else type_
        if isinstance(enum, UnknownType):
            return
        if not isinstance(enum, EnumType):
            self.error("type", f"match wants an enumeration, got {type_}", subject.span)
            return
        seen: dict[str, tree.Word] = {}
        for labels, _ in cases:
            for label in labels:
                if "else" in seen:
                    self.error("unreachable-case", "this case comes after 'else'", label.span)
                if label.text in seen:
                    self.error(
                        "duplicate-case",
                        f"case '{label.text}' stands here twice",
                        label.span,
                        notes=[Label("the first one is here", seen[label.text].span)],
                    )
                seen[label.text] = label
                if label.text == "else" or (optional and label.text == "none"):
                    continue
                if label.text in enum.entries:
                    self.checked.refs[label] = EntryRef(enum, enum.entries.index(label.text))
                else:
                    self.error(
                        "unknown-case",
                        f"'{label.text}' is not {'a reading' if enum.origin == 'question' else 'an entry'}"
                        f" of '{enum.name}'",
                        label.span,
                        help=suggestion(label.text, enum.entries, what=f"its {_entries(enum)} are"),
                    )
        if "else" not in seen:
            missing = [e for e in (*enum.entries, *(["none"] if optional else [])) if e not in seen]
            if missing:
                notes = [Label(f"'{enum.name}' is declared here", enum.span)] if enum.span else []
                self.error(
                    "missing-case",
                    f"no case for {', '.join(missing)}",
                    subject.span,
                    notes=notes,
                    help="handle every one, or add 'else'",
                )

    # ------------------------------------------------------------------------------------------------ statements

    def _body(self, body: tuple[tree.Statement, ...], *, in_loop: bool) -> None:
        self.scopes.append({})
        for statement in body:
            self._statement(statement, in_loop)
        self.scopes.pop()

    def _statement(self, s: tree.Statement, in_loop: bool) -> None:
        match s:
            case tree.Let(_, name, value):
                self.declare(name, self.infer(value))
            case tree.Assign(_, target, value):
                self.expect(value, self.target(target))
            case tree.Adjust(_, target, amount, _):
                self._wants(self.target(target), INT, target, "a number")
                self.number(amount)
            case tree.Add(_, item, target):
                t = self.target(target)
                if isinstance(t, SetType):
                    self.expect(item, t.base)
                else:
                    self._wants_kind(
                        t, target, "a set", help="write 'increase x by n', or 'put x on top of pile'"
                    )
                    self.infer(item)
            case tree.Remove(_, item, target):
                t = self.target(target)
                if isinstance(t, SetType | PileType):
                    self.expect(item, t.base)
                else:
                    self._wants_kind(t, target, "a set or a pile", help="write 'decrease x by n'")
                    self.infer(item)
            case tree.Put(_, item, target, _):
                t = self.target(target)
                if isinstance(t, PileType):
                    self.expect(item, t.base)
                else:
                    self._wants_kind(t, target, "a pile")
                    self.infer(item)
            case tree.Take(_, target, which):
                self._pile(target)
                if isinstance(which, tree.Expr):
                    self.number(which)
            case tree.Transfer(_, count, source, target):
                self.number(count)
                a, b = self._pile(source), self._pile(target)
                if a is not None and b is not None and not fits(a, b):
                    self.error("type", f"got {a}, want {b}", source.span)
            case tree.Shuffle(_, target):
                self._pile(target)
            case tree.Stop(_, when):
                if when is not None:
                    self.flag(when)
                self._needs_loop(s, in_loop, "stop")
            case tree.Skip(_, when, _):
                if when is not None:
                    self.flag(when)
                self._needs_loop(s, in_loop, "skip")
            case tree.Choose():
                self._choose(s)
            case tree.Roll(_, target, variable, domain, where):
                self.scopes.append({})
                if variable is not None and domain is not None:
                    self.declare(variable, self.domain(domain))
                    if where is not None:
                        self.flag(where)
                self._wants(self.target(target), INT, target, "a number to roll")
                self.scopes.pop()
            case tree.Draw(_, name, domain, where, weight, _):
                element = self.domain(domain)
                self.scopes.append({})
                local = self.declare(name, element)
                if where is not None:
                    self.flag(where)
                if weight is not None:
                    self.number(weight)
                self.scopes.pop()
                self.scopes[-1][name.text] = local
            case tree.Tell(_, to, text):
                if to is not None:
                    self.expect(to, self.checked.player)
                self.template(text)
            case tree.Call(_, name, arguments):
                symbol = self.checked.callables.get(name.text)
                if symbol is None or symbol.kind != "rule":
                    rules = [c.name for c in self.checked.callables.values() if c.kind == "rule"]
                    known = (
                        f"'{name.text}' is a {symbol.kind}, not a rule"
                        if symbol
                        else f"no rule '{name.text}'"
                    )
                    self.error(
                        "unknown-rule",
                        known,
                        name.span,
                        help=suggestion(name.text, rules, what="the rules are"),
                    )
                    for argument in arguments:
                        self.infer(argument)
                else:
                    self.checked.refs[s] = symbol
                    self.arguments(symbol, name, arguments)
            case tree.EndGame():
                pass
            case tree.If(_, condition, then, otherwise):
                self.flag(condition)
                self._body(then, in_loop=in_loop)
                self._body(otherwise, in_loop=in_loop)
            case tree.Match(_, subject, cases):
                self._cases(subject, [(c.labels, c.span) for c in cases])
                for c in cases:
                    self._body(c.body, in_loop=in_loop)
            case tree.For(_, variable, domain, forever, where, body):
                element = self.domain(domain)
                if forever and not isinstance(domain, tree.Clockwise):
                    self.error("type", "only players sit in a round", domain.span)
                self.scopes.append({})
                self.declare(variable, element)
                if where is not None:
                    self.flag(where)
                self._body(body, in_loop=True)
                self.scopes.pop()
            case tree.Repeat(_, times, condition, body):
                if times is not None:
                    self.number(times)
                if condition is not None:
                    self.flag(condition)
                self._body(body, in_loop=True)
            case _:
                raise AssertionError(s)

    def _needs_loop(self, s: tree.Statement, in_loop: bool, word: str) -> None:
        if not in_loop:
            self.error("outside-loop", f"'{word}' stands outside any 'for' or 'repeat'", s.span)

    def _pile(self, node: tree.Expr) -> Type | None:
        t = self.target(node)
        if isinstance(t, PileType):
            return t
        self._wants_kind(t, node, "a pile")
        return None

    def _wants_kind(self, got: Type, node: tree.Node, what: str, help: str = "") -> None:
        if not isinstance(got, UnknownType):
            self.error("type", f"got {got}, want {what}", node.span, help=help)

    def _wants(self, got: Type, wanted: Type, node: tree.Node, what: str) -> None:
        if not fits(got, wanted):
            self._wants_kind(got, node, what)

    def _choose(self, s: tree.Choose) -> None:
        self.scopes.append({})
        if s.who is not None:
            self.expect(s.who, self.checked.player)
        if s.variable is not None and s.domain is not None:
            element = self.domain(s.domain)
            self._wants(element, self.checked.player, s.domain, "players")
            self.declare(s.variable, element)
            if s.where is not None:
                self.flag(s.where)
        self.scopes.pop()
        self._move_names(s.moves)
        if s.nobody is not None:
            if s.mode != "any":
                self.error("choose-nobody", "only 'choose any' can end with nobody acting", s.nobody.span)
            self._move_names((s.nobody,))

    def _move_names(self, moves: tuple[tree.Word, ...]) -> None:
        self._no_duplicates(moves, "move")
        for word in moves:
            symbol = self.checked.callables.get(word.text)
            if symbol is None or symbol.kind != "move":
                known = [c.name for c in self.checked.callables.values() if c.kind == "move"]
                message = (
                    f"'{word.text}' is a {symbol.kind}, not a move" if symbol else f"no move '{word.text}'"
                )
                self.error(
                    "unknown-move",
                    message,
                    word.span,
                    help=suggestion(word.text, known, what="the moves are"),
                )
            else:
                self.checked.refs[word] = symbol


def _entries(enum: EnumType) -> str:
    return "readings" if enum.origin == "question" else "entries"


def statements(body: tuple[tree.Statement, ...]) -> Iterator[tree.Statement]:
    """Walks all statements of a body, nested ones too."""
    for s in body:
        yield s
        match s:
            case tree.If(_, _, then, otherwise):
                yield from statements(then)
                yield from statements(otherwise)
            case tree.Match(_, _, cases):
                for c in cases:
                    yield from statements(c.body)
            case tree.For(body=inner) | tree.Repeat(body=inner):
                yield from statements(inner)
            case _:
                pass
