"""Builds the syntax tree while Lark parses: one method a grammar rule, called with all tokens and nodes of that rule.

Lark calls these on each reduction (an embedded transformer), so no parse tree is made in between; spans come from the
first and the last child, which is why the grammar keeps every token.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lark import Token, Transformer

from . import tree
from .span import Source, Span

Children = list[Any]

_MOST_DIGITS = 18
"""Numbers of so many digits always fit the 64 bits of a position's cell."""


class BuildError(Exception):
    """Says what the grammar lets pass and is wrong all the same: a placeholder, a brace, a number."""

    def __init__(self, message: str, span: Span, help: str) -> None:
        super().__init__(message)
        self.message, self.span, self.help = message, span, help


class Builder(Transformer[Token, Any]):
    """Turns reductions into syntax nodes of `source`; `parse_placeholder` reads an expression inside a text."""

    def __init__(self) -> None:
        super().__init__()
        self.source = Source("", "")
        self.line_offset = 0
        self.column_offset = 0
        self.parse_placeholder: Callable[[str, int, int], tree.Expr] | None = None

    # ------------------------------------------------------------------------------------------------- positions

    def _at(self, line: int | None, column: int | None) -> tuple[int, int]:
        assert line is not None and column is not None
        return line + self.line_offset, column + self.column_offset

    def _span(self, c: Children) -> Span:
        first, last = c[0], c[-1]
        if type(first) is list:
            first = first[0]
        while type(last) is list or (type(last) is Token and last.type in ("_NL", "_DEDENT", "_INDENT")):
            if type(last) is list:
                c = last
            else:
                c = c[:-1]
            last = c[-1]
        if type(last) is tuple:
            last = last[1]
        if type(first) is Token:
            line, column = self._at(first.line, first.column)
        else:
            line, column = first.span.line, first.span.column
        if type(last) is Token:
            return Span(self.source, line, column, *self._at(last.end_line, last.end_column))
        return Span(self.source, line, column, last.span.end_line, last.span.end_column)

    def _word(self, token: Token) -> tree.Word:
        return tree.Word(self._span([token]), str(token))

    def _words(self, c: Children) -> tuple[tree.Word, ...]:
        return tuple(self._word(t) for t in c if t.type != "COMMA")

    def template(self, token: Token) -> tree.Template:
        """Splits a quoted text at its placeholders."""
        text = str(token)[1:-1]
        line, column = self._at(token.line, token.column)
        pieces: list[str | tree.Expr] = []
        depth = at = start = 0
        assert self.parse_placeholder is not None
        for here, character in enumerate(text):
            if character == "{":
                if depth == 0:
                    pieces.append(text[at:here])
                    start = here
                depth += 1
            elif character == "}":
                depth -= 1
                if depth < 0:
                    raise self._brace_error("this '}' has no '{'", line, column + 1 + here)
                if depth == 0:
                    pieces.append(self.parse_placeholder(text[start + 1 : here], line, column + start + 2))
                    at = here + 1
        if depth > 0:
            raise self._brace_error("this '{' has no '}'", line, column + 1 + start)
        pieces.append(text[at:])
        return tree.Template(self._span([token]), text, tuple(pieces))

    def _brace_error(self, message: str, line: int, column: int) -> BuildError:
        span = Span(self.source, line, column, line, column + 1)
        return BuildError(message, span, "in a text, braces hold what to show there: a name or an expression")

    # ----------------------------------------------------------------------------------------------- definitions

    def start(self, c: Children) -> tree.File:
        definitions = tuple(d for d in c if not isinstance(d, Token))
        return tree.File(Span(self.source, 1, 1, 1, 1), definitions)

    def expression(self, c: Children) -> tree.Expr:
        return c[0]  # type: ignore[no-any-return]

    def type_def(self, c: Children) -> tree.TypeDef:
        return tree.TypeDef(self._span(c), self._word(c[1]), c[3])

    def kind_def(self, c: Children) -> tree.KindDef:
        return tree.KindDef(self._span(c), self._word(c[1]), self._words(c[3:-1]))

    def state_block(self, c: Children) -> tree.StateBlock:
        return tree.StateBlock(self._span(c), tuple(c[4:-1]), c[0] == "tally")

    def state_var(self, c: Children) -> tree.StateVar:
        rest = c[1:-1]
        indices: tuple[tree.TypeExpr, ...] = ()
        if type(rest[0]) is tuple:
            indices = rest.pop(0)
        type_ = rest[1]
        initial: tree.Expr | None = None
        secret: Any = None
        hidden = False
        when: tree.Expr | None = None
        for part in rest[2:]:
            if part[0] == "initial":
                initial = part[1]
                continue
            when = part[3]
            if part[1] == "hidden":
                hidden = True
            else:
                secret = part[1]
        last = next((p[2] for p in reversed(rest[2:])), type_)
        return tree.StateVar(
            self._span([c[0], last]), self._word(c[0]), indices, type_, initial, secret, hidden, when
        )

    def indices(self, c: Children) -> tuple[tree.TypeExpr, ...]:
        return tuple(c[1:-1:2])

    def initial(self, c: Children) -> tuple[str, tree.Expr, Any]:
        return ("initial", c[1], c[1])

    def visibility(self, c: Children) -> tuple[str, Any, Any, tree.Expr | None]:
        when = c[-1] if len(c) > 2 and c[-2] == "when" else None
        if c[0].type == "SECRET_TO":
            return ("visibility", c[1], c[-1], when)
        return ("visibility", "hidden" if c[0] == "hidden" else "index", c[-1], when)

    def rule_def(self, c: Children) -> tree.Rule:
        params = c[2] if type(c[2]) is tuple else ()
        return tree.Rule(self._span(c), self._word(c[1]), params, tuple(c[-1]))

    def move_def(self, c: Children) -> tree.Move:
        params = c[2] if type(c[2]) is tuple else ()
        texts: dict[str, tree.Template] = {}
        guards: list[tree.Needs] = []
        body: list[tree.Statement] = []
        for part in c[(4 if params else 3) :]:
            kind = type(part)
            if kind is tree.Needs:
                guards.append(part)
            elif kind is tuple:
                if part[0] in texts:
                    raise BuildError(f"this move has two '{part[0]}'", part[1].span, "leave one of them out")
                texts[part[0]] = part[1]
            elif kind is list:
                body += part
            elif kind is not Token:
                body.append(part)
        return tree.Move(
            self._span(c),
            self._word(c[1]),
            params,
            texts.get("says"),
            texts.get("shows"),
            texts.get("means"),
            tuple(guards),
            tuple(body),
        )

    def define_def(self, c: Children) -> tree.Define:
        span = self._span(c)
        is_open = c[0].type == "OPEN_TO_ALL"
        if is_open:
            c = c[1:]
        params = c[2] if type(c[2]) is tuple else ()
        return tree.Define(span, self._word(c[1]), params, c[-3], c[-1], is_open)

    def params(self, c: Children) -> tuple[tree.Param, ...]:
        return tuple(c[1:-1:2])

    def param(self, c: Children) -> tree.Param:
        secret = c[0].type == "SECRET"
        return tree.Param(self._span(c), self._word(c[-3]), c[-1], secret)

    def says(self, c: Children) -> tuple[str, tree.Template]:
        return (str(c[0]), self.template(c[1]))

    def offered(self, c: Children) -> tree.Needs:
        return tree.Needs(self._span(c), c[1], None, True)

    def needs(self, c: Children) -> tree.Needs:
        reason = self.template(c[3]) if len(c) > 3 else None
        return tree.Needs(self._span(c), c[1], reason)

    def result_line(self, c: Children) -> tree.Value:
        return tree.Value(c[0].span, c[0])

    def result_indented(self, c: Children) -> tree.Result:
        return c[2]  # type: ignore[no-any-return]

    def result_let(self, c: Children) -> tree.ResultLet:
        return tree.ResultLet(self._span(c), self._word(c[1]), c[3], c[5])

    def result_if(self, c: Children) -> tree.ResultIf:
        return tree.ResultIf(self._span(c), c[1], c[3], c[4])

    def result_else(self, c: Children) -> tree.Result:
        return c[-1]  # type: ignore[no-any-return]

    def result_match(self, c: Children) -> tree.ResultMatch:
        return tree.ResultMatch(self._span(c), c[1], tuple(c[5:-1]))

    def result_case(self, c: Children) -> tree.ResultCase:
        return tree.ResultCase(self._span([c[0][0], c[2]]), c[0], c[2])

    def labels(self, c: Children) -> tuple[tree.Word, ...]:
        return self._words(c)

    def standing_def(self, c: Children) -> tree.Standing:
        when = c[2] if len(c) > 4 else None
        return tree.Standing(self._span([c[0], c[-2][-1]]), c[0].type == "STANDING_ALL", when, c[-2])

    def invariant_def(self, c: Children) -> tree.Invariant:
        return tree.Invariant(self._span(c), self.template(c[1]), c[3])

    def score_def(self, c: Children) -> tree.Score:
        return tree.Score(self._span(c), self._word(c[1]), c[3], c[0].type == "TIE_BREAK")

    def measure_def(self, c: Children) -> tree.Measure:
        per = self._word(c[3]) if len(c) > 5 else None
        return tree.Measure(self._span(c), self.template(c[1]), per, c[-1])

    def ends_def(self, c: Children) -> tree.EndsWhen:
        return tree.EndsWhen(self._span(c), c[1])

    def names(self, c: Children) -> tuple[tree.Word, ...]:
        return self._words(c)

    # -------------------------------------------------------------------------------------------------- overlays

    def replace_def(self, c: Children) -> tree.Replace:
        return tree.Replace(self._span(c), c[1])

    def insert_def(self, c: Children) -> tree.Insert:
        guards = tuple(p for p in c if type(p) is tree.Needs)
        body = tuple(_statements(p for p in c if type(p) is not tree.Needs and not isinstance(p, Token)))
        return tree.Insert(self._span(c), str(c[0]), str(c[1]), self._word(c[2]), guards, body)  # type: ignore[arg-type]

    def choice_def(self, c: Children) -> tree.ChangeChoice:
        return tree.ChangeChoice(
            self._span([c[0], c[3][-1]]), c[0].type == "ADD_TO_CHOICE", self._word(c[1]), c[3]
        )

    # ------------------------------------------------------------------------------------------------ statements

    def block(self, c: Children) -> list[tree.Statement]:
        return _statements(p for p in c if not isinstance(p, Token))

    def line(self, c: Children) -> list[tree.Statement]:
        return [p for p in c if not isinstance(p, Token)]

    def let(self, c: Children) -> tree.Let:
        return tree.Let(self._span(c), self._word(c[1]), c[3])

    def assign(self, c: Children) -> tree.Assign:
        return tree.Assign(self._span(c), c[0], c[2])

    def adjust(self, c: Children) -> tree.Adjust:
        return tree.Adjust(self._span(c), c[1], c[3], 1 if c[0] == "increase" else -1)

    def add(self, c: Children) -> tree.Add:
        return tree.Add(self._span(c), c[1], c[3])

    def remove(self, c: Children) -> tree.Remove:
        return tree.Remove(self._span(c), c[1], c[3])

    def put(self, c: Children) -> tree.Put:
        return tree.Put(self._span(c), c[1], c[3], "bottom" if c[2].type == "UNDER" else "top")

    def take(self, c: Children) -> tree.Take:
        which: Any = c[2] if c[1] == "item" else str(c[1])
        return tree.Take(self._span(c), c[-1], which)

    def transfer(self, c: Children) -> tree.Transfer:
        return tree.Transfer(self._span(c), c[1], c[3], c[5])

    def shuffle(self, c: Children) -> tree.Shuffle:
        return tree.Shuffle(self._span(c), c[1])

    def stop(self, c: Children) -> tree.Stop:
        return tree.Stop(self._span(c), c[2] if len(c) > 2 else None)

    def skip(self, c: Children) -> tree.Skip:
        return tree.Skip(self._span(c), c[2] if len(c) > 2 else None, len(c) > 2 and c[1] == "unless")

    def choose(self, c: Children) -> tree.Choose:
        first, mode, who, variable, domain, where = c[0]
        nobody = self._word(c[-1]) if isinstance(c[-1], Token) else None
        offers = not (isinstance(c[1], Token) and c[1].type == "NO_OFFERS")
        moves = c[-3] if nobody else c[-1]
        span = self._span([first, moves[-1] if nobody is None else nobody])
        return tree.Choose(span, mode, who, variable, domain, where, offers, moves, nobody)

    def choosers(self, c: Children) -> tuple[Any, ...]:
        if c[0].type == "CHOOSE":
            return (c[0], "one", c[1], None, None, None)
        mode = "each" if c[0].type == "CHOOSE_EACH" else "any"
        return (c[0], mode, None, self._word(c[1]), c[3], c[4][1] if len(c) > 4 else None)

    def roll(self, c: Children) -> tree.Roll:
        if len(c) == 2:
            return tree.Roll(self._span(c), c[1], None, None, None)
        where = c[6][1] if len(c) > 6 else None
        return tree.Roll(self._span([c[0], where or c[5]]), c[1], self._word(c[3]), c[5], where)

    def draw(self, c: Children) -> tree.Draw:
        where = weight = stream = None
        last: Any = c[3]
        rest = c[4:]
        while rest:
            part = rest.pop(0)
            if type(part) is tuple:
                where = last = part[1]
            elif part == "by":
                weight = last = rest.pop(0)
            else:
                last = rest.pop(0)
                stream = self._word(last)
        return tree.Draw(self._span([c[0], last]), self._word(c[1]), c[3], where, weight, stream)

    def tell(self, c: Children) -> tree.Tell:
        return tree.Tell(self._span(c), c[1] if len(c) > 2 else None, self.template(c[-1]))

    def call(self, c: Children) -> tree.Call:
        return tree.Call(self._span(c), self._word(c[0]), tuple(c[2:-1:2]))

    def end_game(self, c: Children) -> tree.EndGame:
        return tree.EndGame(self._span(c))

    def if_stmt(self, c: Children) -> tree.If:
        otherwise = tuple(c[4]) if len(c) > 4 else ()
        return tree.If(self._span([c[0], (c[4] if otherwise else c[3])[-1]]), c[1], tuple(c[3]), otherwise)

    def else_if(self, c: Children) -> list[tree.Statement]:
        return [c[1]]

    def else_block(self, c: Children) -> list[tree.Statement]:
        return c[2]  # type: ignore[no-any-return]

    def match_stmt(self, c: Children) -> tree.Match:
        return tree.Match(self._span(c), c[1], tuple(c[5:-1]))

    def case(self, c: Children) -> tree.Case:
        return tree.Case(self._span([c[0][0], c[2][-1]]), c[0], tuple(c[2]))

    def for_stmt(self, c: Children) -> tree.For:
        forever, where = False, None
        for part in c[4:-2]:
            if type(part) is tuple:
                where = part[1]
            else:
                forever = True
        return tree.For(self._span(c), self._word(c[1]), c[3], forever, where, tuple(c[-1]))

    def repeat_stmt(self, c: Children) -> tree.Repeat:
        times = condition = None
        if len(c) > 3:
            if c[1] == "while":
                condition = c[2]
            else:
                times = c[1]
        return tree.Repeat(self._span(c), times, condition, tuple(c[-1]))

    def where(self, c: Children) -> tuple[str, tree.Expr]:
        return ("where", c[1])

    def clockwise(self, c: Children) -> tree.Clockwise:
        return tree.Clockwise(self._span(c), c[1], c[0].type == "CLOCKWISE_AFTER")

    def range(self, c: Children) -> tree.Range:
        return tree.Range(self._span(c), c[0], c[2])

    def members(self, c: Children) -> tree.Members:
        return tree.Members(c[0].span, c[0])

    # ----------------------------------------------------------------------------------------------------- types

    def type(self, c: Children) -> tree.TypeExpr:
        if len(c) == 1:
            return c[0]  # type: ignore[no-any-return]
        if isinstance(c[0], tree.TypeExpr):
            return tree.OptionalType(self._span(c), c[0])
        if c[0].type == "SET_OF":
            return tree.SetType(self._span(c), c[1])
        return tree.PileType(self._span(c), c[1], c[3])

    def plain_type(self, c: Children) -> tree.TypeExpr:
        if len(c) == 3:
            return tree.RangeType(self._span(c), c[0], c[2])
        token = c[0]
        if token.type == "YES_OR_NO":
            return tree.FlagType(self._span(c))
        if token.type == "TEXT":
            return tree.TextType(self._span(c))
        if token == "text":
            return tree.TextType(self._span(c))
        return tree.NamedType(self._span(c), str(token))

    # ----------------------------------------------------------------------------------------------- expressions

    def number(self, c: Children) -> tree.Number:
        if len(c[0]) > _MOST_DIGITS:
            raise BuildError("this number is too large", self._span(c), f"{_MOST_DIGITS} digits are the most")
        return tree.Number(self._span(c), int(c[0]))

    def name(self, c: Children) -> tree.Name:
        return tree.Name(self._span(c), str(c[0]))

    def constant(self, c: Children) -> tree.Constant:
        return tree.Constant(self._span(c), str(c[0]))  # type: ignore[arg-type]

    def group(self, c: Children) -> tree.Group:
        return tree.Group(self._span(c), c[1])

    def function(self, c: Children) -> tree.Function:
        return tree.Function(self._span(c), self._word(c[0]), tuple(c[2:-1:2]))

    def collection(self, c: Children) -> tree.Collection:
        return tree.Collection(self._span(c), "set" if c[0] == "{" else "pile", tuple(c[1:-1:2]))

    def attribute(self, c: Children) -> tree.Attribute:
        return tree.Attribute(self._span(c), c[0], self._word(c[2]))

    def index(self, c: Children) -> tree.Index:
        return tree.Index(self._span(c), c[0], tuple(c[2:-1:2]))

    def unary(self, c: Children) -> tree.Unary:
        operator = " ".join(c[0].split())
        return tree.Unary(self._span(c), operator, c[1])  # type: ignore[arg-type]

    def binary(self, c: Children) -> tree.Binary:
        return tree.Binary(self._span(c), " ".join(c[1].split()), c[0], c[2])

    def divide(self, c: Children) -> tree.Divide:
        rounding: Any = c[3].split()[1] if len(c) > 3 else None
        return tree.Divide(self._span(c), c[0], c[2], rounding)

    def conditional(self, c: Children) -> tree.Conditional:
        return tree.Conditional(self._span(c), c[0], c[2], c[4])

    def otherwise(self, c: Children) -> tuple[str, tree.Expr]:
        return ("otherwise", c[1])

    def fold(self, c: Children) -> tree.Fold:
        kind: Any = c[0].split()[0] if c[0].type == "SUM_OF" else c[0].split()[1]
        where, otherwise = _tail(c[6:])
        return tree.Fold(self._span(_plain(c)), kind, c[1], self._word(c[3]), c[5], where, otherwise)

    def search(self, c: Children) -> tree.Search:
        kind: Any = "number" if c[0].type == "NUMBER_OF" else "first"
        where, otherwise = _tail(c[4:])
        return tree.Search(self._span(_plain(c)), kind, self._word(c[1]), c[3], where, otherwise)

    def quantify(self, c: Children) -> tree.Quantify:
        where, _ = _tail(c[4:-2])
        return tree.Quantify(self._span(c), str(c[0]), self._word(c[1]), c[3], where, c[-1])  # type: ignore[arg-type]


def _statements(parts: Any) -> list[tree.Statement]:
    out: list[tree.Statement] = []
    for part in parts:
        if type(part) is list:
            out += part
        else:
            out.append(part)
    return out


def _tail(parts: Children) -> tuple[tree.Expr | None, tree.Expr | None]:
    found = dict(parts)
    return found.get("where"), found.get("otherwise")


def _plain(c: Children) -> Children:
    return [part[1] if type(part) is tuple else part for part in c]
