"""Tests what a scenario expects of the position it has come to.

Takes one `Check` and the table as it stands; gives the failures, expected and found side by side with the
values involved. Raises `RulesError`, at the place in the file, for expressions and names that mean nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from ..grammar import tree
from ..grammar.diagnostics import Report, RulesError
from ..grammar.parser import parse_expression
from ..grammar.span import Source, Span
from ..grammar.walk import walk
from .errors import IllegalMove, PlayError, UnclearMove
from .figures import Figure
from .game import Event, Game, State, elements
from .gamefiles import items_of, mapping_of, number_of, text_of
from .literals import Literals, NoLiteral
from .perft import divide, perft
from .plain import element_name, element_value, find_move, move_words, told_text
from .scenario_files import Check
from .types import FlagType, SetType
from .yamlfile import Node, Scalar
from .yamlfile import Sequence as YamlSequence

_COMPARISONS = {"=", "is", "is not", "<", "<=", ">", ">=", "in", "not in"}
_MOST_VALUES = 8
_MOST_LISTED = 30


class Failure(Struct, frozen=True):
    """What did not come out as expected."""

    span: Span
    expected: str
    found: str
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Writes it, a fact a line."""
        return [
            f"  {self.span}:",
            f"    expected  {self.expected}",
            f"    found     {self.found}",
            *(f"      {note}" for note in self.notes),
        ]


class Table(Struct):
    """A case in play: the state, which speaks in the rules' own words, and the game in other words."""

    state: State
    literals: Literals
    others: tuple[Game, ...] = ()
    events: list[Event] = field(default_factory=list)
    """What has happened since the last expectations."""

    @property
    def names(self) -> tuple[str, ...]:
        """The players' names at this table."""
        return self.state.game.player_names

    def seat(self, node: Node) -> int:
        """Finds a player by his name. Raises `RulesError`."""
        try:
            return self.literals.word(text_of(node), self.state.game.checked().player, node.span)
        except NoLiteral as error:
            raise _told(error) from error

    def figure(self, text: str, span: Span) -> _Valued:
        """Compiles an expression in which players go by their names here. Raises `RulesError`."""
        own = self.state.game.checked().player.entries
        new = {n: seat for seat, n in enumerate(self.names) if seat >= len(own) or own[seat] != n}
        figure = self.state.game.expression(text, dict.fromkeys(new, "player"), span=span)
        return _Valued(figure, self.state, tuple(new.values()))


class _Valued(Struct, frozen=True):
    """A figure with what it is worked out on."""

    figure: Figure
    state: State
    arguments: tuple[int, ...]

    def value(self) -> int | list[int]:
        if self.figure.many:
            return self.figure.members(self.state, *self.arguments)
        return self.figure.value(self.state, *self.arguments)

    def show(self, value: int | list[int] | None = None) -> str:
        value = self.value() if value is None else value
        labels = self.state.game.labels("en")
        if isinstance(value, list):
            return f"[{', '.join(labels.value(v, self.figure.type) for v in value)}]"
        return labels.value(value, self.figure.type)


def _told(error: NoLiteral) -> RulesError:
    report = Report()
    error.tell(report)
    return RulesError(report.diagnostics)


def check(expected: Check, table: Table, refused: list[Span]) -> list[Failure]:
    """Tests one expectation; guards that refused a move as expected are added to `refused`."""
    match expected.kind:
        case "offered":
            return [f for word in _texts(expected.value) for f in _offered(*word, table)]
        case "not offered":
            because = text_of(expected.because) if expected.because is not None else ""
            return [
                f for word in _texts(expected.value) for f in _not_offered(*word, because, table, refused)
            ]
        case "options":
            return _options(expected, table)
        case "decides":
            return _decides(expected, table)
        case "over":
            wanted = isinstance(expected.value, Scalar) and expected.value.value is True
            return _compare(
                expected.span, "the game is over", "the game goes on", wanted, table.state.is_terminal()
            )
        case "winner" | "winners":
            return _winners(expected, table)
        case "returns":
            return _returns(expected, table)
        case "told":
            return [f for word in _texts(expected.value) for f in _was_told(*word, table)]
        case "perft":
            return list(_perft(expected, table))
        case "that":
            return [f for word in _texts(expected.value) for f in _holds(*word, table)]
        case _:
            return _equals(expected, table)


def _texts(node: Node) -> list[tuple[str, Span]]:
    return [(text_of(n), n.span) for n in (items_of(node) or (node,))]


def _compare(span: Span, yes: str, no: str, wanted: bool, found: bool) -> list[Failure]:
    return [] if wanted == found else [Failure(span, yes if wanted else no, yes if found else no)]


# ---------------------------------------------------------------------------------------------------- options


def _offered(words: str, span: Span, table: Table) -> list[Failure]:
    try:
        find_move(table.state, words, table.others)
    except IllegalMove as error:
        return [Failure(span, f"offered: {words}", f"not offered: {error.message}", _rule(error))]
    except UnclearMove as error:
        return [Failure(span, f"offered: {words}", error.message)]
    return []


def _not_offered(words: str, span: Span, because: str, table: Table, refused: list[Span]) -> list[Failure]:
    expected = f"not offered: {words}" + (f", because {because}" if because else "")
    try:
        find_move(table.state, words, table.others)
    except IllegalMove as error:
        reasons = [error.message, *_reasons(words, table)] if because else [error.message]
        if because and not any(_folded(because) in _folded(reason) for reason in reasons):
            return [Failure(span, expected, f"not offered because {error.message}", _rule(error))]
        if error.span is not None:
            refused.append(error.span)
        return []
    except UnclearMove as error:
        if because and _folded(because) in _folded(error.message):
            return []
        return [Failure(span, expected, error.message)]
    return [Failure(span, expected, "it is offered")]


def _reasons(words: str, table: Table) -> Iterator[str]:
    """Gets the reason as the game words it otherwise."""
    state = table.state.clone()
    for game in table.others:
        state.game = game
        try:
            find_move(state, words, (table.state.game,))
        except PlayError as error:
            yield error.message


def _rule(error: PlayError) -> tuple[str, ...]:
    return (f"the rule: {error.span}",) if error.span is not None else ()


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _options(expected: Check, table: Table) -> list[Failure]:
    state = table.state
    legal = state.legal_actions() if state.decision is not None else []
    words = [move_words(state, a) for a in legal]
    listed = (_shortened(words),) if words else ()
    if not isinstance(expected.value, YamlSequence):
        wanted = number_of(expected.value, -1)
        if wanted == len(legal):
            return []
        return [Failure(expected.span, f"{wanted} options", f"{len(legal)} options", listed)]
    named: set[int] = set()
    unknown: list[str] = []
    for text, _ in _texts(expected.value) if expected.value.items else ():
        try:
            action, _ = find_move(state, text, table.others)
        except (IllegalMove, UnclearMove) as error:
            unknown.append(f"{text} ({error.message})")
            continue
        if action in legal:
            named.add(action)
        else:
            unknown.append(f"{text} (legal, but another of equal moves is listed)")
    missing = [w for a, w in zip(legal, words, strict=True) if a not in named]
    if not missing and not unknown:
        return []
    notes = [f"not expected: {_shortened(missing)}"] if missing else []
    notes += [f"not offered: {u}" for u in unknown]
    wanted_text = _shortened(
        [text for text, _ in _texts(expected.value)] if expected.value.items else ["none"]
    )
    return [Failure(expected.span, f"options: {wanted_text}", f"options: {_shortened(words)}", tuple(notes))]


def _shortened(words: Sequence[str]) -> str:
    rest = len(words) - _MOST_LISTED
    return ", ".join(words[:_MOST_LISTED]) + (f" … and {rest} more" if rest > 0 else "") or "none"


def _decides(expected: Check, table: Table) -> list[Failure]:
    wanted = [table.seat(n) for n in items_of(expected.value) or (expected.value,)]
    found = table.state.players_to_act()
    if sorted(wanted) == sorted(found):
        return []
    names = table.names
    decision = table.state.decision
    at = (f"the decision: {table.state.game.program.sites[decision.site]}",) if decision is not None else ()
    nobody = "the game is over" if table.state.is_terminal() else "nobody decides"
    shown = ", ".join(names[p] for p in found)
    return [
        Failure(
            expected.span,
            f"{', '.join(names[p] for p in wanted)} decides",
            f"{shown} decides" if found else nobody,
            at,
        )
    ]


# ---------------------------------------------------------------------------------------------------- the end


def _winners(expected: Check, table: Table) -> list[Failure]:
    wanted = sorted(table.seat(n) for n in items_of(expected.value) or (expected.value,))
    shown = f"winner: {', '.join(table.names[p] for p in wanted)}"
    if not table.state.is_terminal():
        return [Failure(expected.span, shown, "the game goes on")]
    found = table.state.winners()
    if found == wanted:
        return []
    scores = ", ".join(f"{n} {s}" for n, s in zip(table.names, table.state.scores(), strict=True))
    return [
        Failure(
            expected.span,
            shown,
            f"winner: {', '.join(table.names[p] for p in found)}",
            (f"scores: {scores}",),
        )
    ]


def _returns(expected: Check, table: Table) -> list[Failure]:
    scores = [int(r) for r in table.state.returns()]
    found = dict(zip(table.names, scores, strict=True))
    if isinstance(expected.value, YamlSequence):
        values = [number_of(n, 0) for n in expected.value.items]
        wanted = dict(zip(table.names, values, strict=False))
        wrong = values != scores
    else:
        wanted = {}
        for key, node in mapping_of(expected.value):
            wanted[table.names[table.seat(Scalar(key, node.span))]] = number_of(node, 0)
        wrong = any(found[n] != v for n, v in wanted.items())
    shown = "returns: " + ", ".join(f"{n} {v}" for n, v in wanted.items())
    if not table.state.is_terminal():
        return [Failure(expected.span, shown, "the game goes on")]
    return (
        [Failure(expected.span, shown, "returns: " + ", ".join(f"{n} {v}" for n, v in found.items()))]
        if wrong
        else []
    )


def _was_told(words: str, span: Span, table: Table) -> list[Failure]:
    told = [e for e in table.events if e.kind == "told"]
    for game in (table.state.game, *table.others):
        if any(_folded(words) in _folded(told_text(game, e)) for e in told):
            return []
    found = "; ".join(told_text(table.state.game, e) for e in told) or "nothing was told"
    return [Failure(span, f"told: {words}", found)]


def _perft(expected: Check, table: Table) -> Iterator[Failure]:
    for key, node in mapping_of(expected.value):
        depth, wanted = int(key), number_of(node, -1)
        found = perft(table.state, depth)
        if found != wanted:
            under = tuple(f"{words}: {count}" for words, count in divide(table.state, depth))
            yield Failure(node.span, f"{wanted} sequences of {depth}", f"{found} sequences of {depth}", under)
            return


# ------------------------------------------------------------------------------------------------ expressions


def _holds(text: str, span: Span, table: Table) -> list[Failure]:
    figure = table.figure(text, span)
    if not isinstance(figure.figure.type, FlagType) or figure.figure.many:
        report = Report()
        message = f"this is {figure.figure.type}, want a condition"
        report.error("scenario-condition", message, span, help="to expect a value, write 'EXPRESSION: VALUE'")
        report.raise_errors()
    if figure.value():
        return []
    return [Failure(span, text, "it does not hold", tuple(_values(text, table)))]


def _equals(expected: Check, table: Table) -> list[Failure]:
    text, node = expected.text, expected.value
    figure = table.figure(text, expected.span)
    type_ = figure.figure.type
    found = figure.value()
    wanted: int | list[int]
    try:
        if figure.figure.many:
            wanted = table.literals.members(node, type_)
        else:
            wanted = table.literals.read(node, type_)
    except NoLiteral as error:
        computed = _computed(node, figure, table)
        if computed is None:
            raise _told(error) from error
        wanted = computed
    if _same(wanted, found, text, table.state.game):
        return []
    notes = _values(text, table, aside=text)
    return [
        Failure(
            expected.span, f"{text} = {figure.show(wanted)}", f"{text} = {figure.show(found)}", tuple(notes)
        )
    ]


def _computed(node: Node, figure: _Valued, table: Table) -> int | list[int] | None:
    """Works out a value that is written as an expression; None if it cannot be one."""
    if not isinstance(node, Scalar) or not isinstance(node.value, str) or not node.value.strip():
        return None
    try:
        other = table.figure(node.value, node.span)
    except RulesError as error:
        if node.value.replace("_", "").isalnum():
            return None
        raise error
    return other.value() if other.figure.many == figure.figure.many else None


def _same(wanted: int | list[int], found: int | list[int], text: str, game: Game) -> bool:
    v = game.program.variables.get(text.split("[")[0].strip())
    if isinstance(wanted, list) and isinstance(found, list) and v is not None and isinstance(v.type, SetType):
        return sorted(set(wanted)) == sorted(found)
    return wanted == found


def _values(text: str, table: Table, aside: str = "") -> Iterator[str]:
    """Gets the values that an expression speaks of, to be told when it fails."""
    parsed = parse_expression(Source("", text), Report())
    if parsed is None:
        return
    known = {aside}
    parts = (
        [parsed.left, parsed.right]
        if isinstance(parsed, tree.Binary) and parsed.operator in _COMPARISONS
        else []
    )
    parts += [n for n in walk(parsed) if isinstance(n, tree.Index | tree.Function | tree.Name)]
    variables = table.state.game.program.variables
    for node in parts:
        if len(known) > _MOST_VALUES:
            return
        shown = node.span.text
        if shown in known or isinstance(node, tree.Number | tree.Constant):
            continue
        known.add(shown)
        if isinstance(node, tree.Name) and node.text not in variables:
            continue
        try:
            figure = table.figure(shown, node.span)
            yield f"{shown} = {figure.show()}"
        except RulesError:  # a part that speaks of what a loop runs over, or a whole array
            name = shown.split("[")[0].strip()
            if name in variables and name not in known:
                known.add(name)
                yield _array(name, table)
        except PlayError as error:
            yield f"{shown}: {error.message}"


def _array(name: str, table: Table) -> str:
    game = table.state.game
    v = game.program.variables[name]
    shown = []
    for offset, indices in elements(v):
        where = element_name(game, name, (*indices, 0) if v.width > 1 else indices)
        shown.append(f"{where} = {element_value(game, v, table.state.position[v.slot + offset])}")
    return _shortened(shown)
