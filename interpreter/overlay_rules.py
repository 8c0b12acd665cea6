"""Applies the rules of overlays: replaces, inserts, changes choices, adds definitions.

Takes the parsed rule files of a game and of its overlays, from the lowest to the highest; gives the
definitions as they stand. First all new definitions and replacements, then all insertions and changes of
choices, each in the order of the stack: so an insertion holds whichever overlay has replaced the rule,
and in which order two independent overlays are named makes no difference to whether they go together.
Nodes that are taken over keep their spans.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from ..grammar import tree
from ..grammar.diagnostics import Label, Report, suggestion
from ..grammar.span import Span
from .overlay import Overlay, may_override
from .ruleset import Definition

Key = tuple[str, str]
"""The kind and the name of what can be replaced."""


def apply_rules(
    game: str, files: list[tree.File], overlays: list[Overlay], report: Report
) -> list[Definition]:
    """Makes the definitions of a rule set."""
    rules = _Rules(game, report)
    for file in files:
        for node in file.definitions:
            if isinstance(node, tree.Replace | tree.Insert | tree.ChangeChoice):
                message = "a game's own rules cannot change themselves"
                report.error("overlay-only", message, _head(node), help="write this in a variant's rules")
            else:
                rules.add(node, "")
    for overlay in overlays:
        rules.define(overlay)
    for overlay in overlays:
        rules.change(overlay)
    return rules.definitions


class _Rules(Struct):
    game: str
    report: Report
    definitions: list[Definition] = field(default_factory=list)
    places: dict[Key, int] = field(default_factory=dict)
    """Where among the definitions what can be replaced stands; of standing offers, the first of a kind."""
    standings: dict[Key, int] = field(default_factory=dict)
    replaced: dict[Key, tuple[Overlay, Span]] = field(default_factory=dict)

    def add(self, node: tree.Definition, layer: str) -> None:
        """Adds a new definition."""
        key = _key(node)
        if key is not None:
            self.places.setdefault(key, len(self.definitions))
            if key[0] == "standing":
                self.standings[key] = self.standings.get(key, 0) + 1
        self.definitions.append(Definition(node, layer))

    def define(self, overlay: Overlay) -> None:
        """Adds and replaces what an overlay adds and replaces."""
        for file in overlay.rules:
            for node in file.definitions:
                if isinstance(node, tree.Replace):
                    self._replace(node, overlay)
                elif not isinstance(node, tree.Insert | tree.ChangeChoice):
                    self.add(node, overlay.name)

    def change(self, overlay: Overlay) -> None:
        """Applies an overlay's insertions and changes of choices."""
        for file in overlay.rules:
            for node in file.definitions:
                if isinstance(node, tree.Insert):
                    self._insert(node, overlay)
                elif isinstance(node, tree.ChangeChoice):
                    self._change_choice(node, overlay)

    # Finding

    def _find(self, kind: str, name: tree.Word, help: str = "") -> int | None:
        """Finds a rule, move or define by its name; reports when there is none.

        `help` says how to mend it when something of another kind has the name.
        """
        place = self.places.get((kind, name.text))
        if place is not None:
            return place
        other = next((k for k, n in self.places if n == name.text and k in _NAMED), None)
        if other is not None:
            node = self.definitions[self.places[other, name.text]].node
            self.report.error(
                "overlay-wrong-kind",
                f"'{name.text}' is a {other}, not a {kind}",
                name.span,
                notes=[Label(f"the {other} is here", _head(node))],
                help=help or f"write '{other}' in place of '{kind}'",
            )
            return None
        known = [n for k, n in self.places if k == kind]
        help = suggestion(name.text, known, what=f"its {kind}s are")
        message = f"{self.game} has no {kind} '{name.text}'"
        self.report.error(f"overlay-unknown-{kind}", message, name.span, help=help)
        return None

    def _put(self, place: int, node: tree.Definition, overlay: Overlay) -> None:
        old = self.definitions[place]
        changed_by = old.changed_by if overlay.name in old.changed_by else (*old.changed_by, overlay.name)
        self.definitions[place] = Definition(node, old.layer, changed_by)

    # Replacing

    def _replace(self, change: tree.Replace, overlay: Overlay) -> None:
        node = change.definition
        key = _key(node)
        assert key is not None
        if isinstance(node, tree.Rule | tree.Move | tree.Define):
            place = self._find(key[0], node.name)
        else:
            place = self._find_unnamed(key, change)
        if place is None:
            return
        earlier = self.replaced.get(key)
        if earlier is not None and (earlier[0] is overlay or not may_override(overlay, earlier[0])):
            self._replaced_twice(key, change, overlay, earlier)
            return
        self.replaced[key] = (overlay, _head(change))
        self.definitions[place] = Definition(node, overlay.name)

    def _find_unnamed(self, key: Key, change: tree.Replace) -> int | None:
        what = _describe(key)
        if self.standings.get(key, 0) > 1:
            places = [d.node.span for d in self.definitions if _key(d.node) == key]
            notes = [Label("one is here", span) for span in places]
            message = f"{self.game} has several {what}, and it is not clear which is meant"
            self.report.error("overlay-ambiguous", message, _head(change), notes=notes)
            return None
        place = self.places.get(key)
        if place is None:
            word = key[0] if key[0] != "standing" else key[1]
            help = f"to add one, leave out 'replace': '{word} …'"
            self.report.error("overlay-unknown-rule", f"{self.game} has no {what}", _head(change), help=help)
        return place

    def _replaced_twice(
        self, key: Key, change: tree.Replace, overlay: Overlay, earlier: tuple[Overlay, Span]
    ) -> None:
        by, span = earlier
        if by is overlay:
            message = f"'{overlay.name}' replaces {_describe(key)} twice"
            help = "keep one of them"
        else:
            message = f"'{by.name}' and '{overlay.name}' both replace {_describe(key)}"
            help = f"leave out one of them; or '{overlay.name}' may require '{by.name}' and build on it"
        notes = [Label(f"'{by.name}' replaces it here", span)]
        self.report.error("overlay-replaced-twice", message, _head(change), notes=notes, help=help)

    # Inserting

    def _insert(self, change: tree.Insert, overlay: Overlay) -> None:
        place = self._find(change.kind, change.name)
        if place is None:
            return
        old = self.definitions[place].node
        before = change.where == "before"
        if isinstance(old, tree.Rule):
            for guard in change.guards:
                message = "'needs' stands in moves, not in rules"
                self.report.error(
                    "overlay-guard-in-rule", message, guard.span, help="write 'if … :' or 'stop when …'"
                )
            if not change.guards:
                body = change.body + old.body if before else old.body + change.body
                self._put(place, replace(old, body=body), overlay)
        elif isinstance(old, tree.Move):
            body = change.body + old.body if before else old.body + change.body
            guards = change.guards + old.guards if before else old.guards + change.guards
            self._put(place, replace(old, body=body, guards=guards), overlay)

    # Choices

    def _change_choice(self, change: tree.ChangeChoice, overlay: Overlay) -> None:
        place = self._find("rule", change.choice, "a choice goes by the name of the rule that holds it")
        if place is None:
            return
        rule = self.definitions[place].node
        assert isinstance(rule, tree.Rule)
        choices = list(_choices(rule.body))
        if len(choices) != 1:
            self._no_single_choice(change, rule, choices)
            return
        changed = self._changed(change, choices[0])
        if changed is not None:
            body = _with_choice(rule.body, choices[0], changed)
            self._put(place, replace(rule, body=body), overlay)

    def _no_single_choice(
        self, change: tree.ChangeChoice, rule: tree.Rule, choices: list[tree.Choose]
    ) -> None:
        name = rule.name.text
        if not choices:
            holders = [
                d.node.name.text
                for d in self.definitions
                if isinstance(d.node, tree.Rule) and len(list(_choices(d.node.body))) == 1
            ]
            self.report.error(
                "overlay-no-choice",
                f"rule '{name}' holds no choice",
                change.choice.span,
                notes=[Label("the rule is here", _head(rule))],
                help=suggestion(name, holders, what="the rules with one choice are"),
            )
            return
        self.report.error(
            "overlay-several-choices",
            f"rule '{name}' holds {len(choices)} choices, and it is not clear which is meant",
            change.choice.span,
            notes=[Label("a choice is here", choice.span) for choice in choices],
            help=f"write 'replace rule {name}: …'",
        )

    def _changed(self, change: tree.ChangeChoice, choice: tree.Choose) -> tree.Choose | None:
        """Makes the choice with moves added or removed; None after a complaint."""
        offered = {move.text: move for move in choice.moves}
        sound = True
        for word in change.moves:
            if change.add and word.text in offered:
                notes = [Label("it is offered here", offered[word.text].span)]
                message = f"choice '{change.choice.text}' offers '{word.text}' already"
                self.report.error("overlay-already-offered", message, word.span, notes=notes)
                sound = False
            elif not change.add and word.text not in offered:
                self.report.error(
                    "overlay-not-offered",
                    f"choice '{change.choice.text}' does not offer '{word.text}'",
                    word.span,
                    notes=[Label("the choice is here", choice.span)],
                    help=suggestion(word.text, offered, what="it offers"),
                )
                sound = False
            elif change.add:
                offered[word.text] = word
            else:
                del offered[word.text]
        if sound and not offered:
            message = f"nothing would be left in choice '{change.choice.text}'"
            notes = [Label("the choice is here", choice.span)]
            self.report.error("overlay-empty-choice", message, change.choice.span, notes=notes)
            return None
        return replace(choice, moves=tuple(offered.values())) if sound else None


# ------------------------------------------------------------------------------------------------------ nodes

_NAMED = ("rule", "move", "define")


def _key(node: tree.Definition) -> Key | None:
    match node:
        case tree.Rule(_, name):
            return "rule", name.text
        case tree.Move(_, name):
            return "move", name.text
        case tree.Define(_, name):
            return "define", name.text
        case tree.Standing(_, everyone):
            return "standing", "standing at all decisions" if everyone else "standing at own decisions"
        case tree.Score(_, _, _, tie_break):
            return ("tie break", "") if tie_break else ("score", "")
        case _:
            return None


def _describe(key: Key) -> str:
    if key[0] == "standing":
        return f"offers '{key[1]}'"
    return f"{key[0]} '{key[1]}'" if key[1] else key[0]


def _head(node: tree.Node) -> Span:
    """Gets the first line of a definition, or its name: what a diagnostic marks of it."""
    match node:
        case tree.Rule() | tree.Move() | tree.Define() | tree.Insert():
            return node.name.span
        case tree.Replace(_, definition):
            return _head(definition)
        case tree.ChangeChoice():
            return node.choice.span
        case _:
            span = node.span
            if span.end_line == span.line:
                return span
            return Span(span.source, span.line, span.column, span.line, len(span.source.line(span.line)) + 1)


def _blocks(statement: tree.Statement) -> tuple[tuple[tree.Statement, ...], ...]:
    match statement:
        case tree.If(_, _, then, otherwise):
            return then, otherwise
        case tree.Match(_, _, cases):
            return tuple(case.body for case in cases)
        case tree.For() | tree.Repeat():
            return (statement.body,)
        case _:
            return ()


def _choices(body: tuple[tree.Statement, ...]) -> Iterator[tree.Choose]:
    """Yields the choices in statements, those in blocks too."""
    for statement in body:
        if isinstance(statement, tree.Choose):
            yield statement
        for block in _blocks(statement):
            yield from _choices(block)


def _with_choice(
    body: tuple[tree.Statement, ...], old: tree.Choose, new: tree.Choose
) -> tuple[tree.Statement, ...]:
    """Makes the statements with one choice changed; all others are the same nodes."""
    return tuple(_changed_statement(statement, old, new) for statement in body)


def _changed_statement(statement: tree.Statement, old: tree.Choose, new: tree.Choose) -> tree.Statement:
    if statement is old:
        return new
    if not any(choice is old for block in _blocks(statement) for choice in _choices(block)):
        return statement
    match statement:
        case tree.If(_, _, then, otherwise):
            return replace(
                statement, then=_with_choice(then, old, new), otherwise=_with_choice(otherwise, old, new)
            )
        case tree.Match(_, _, cases):
            return replace(
                statement, cases=tuple(replace(c, body=_with_choice(c.body, old, new)) for c in cases)
            )
        case tree.For() | tree.Repeat():
            return replace(statement, body=_with_choice(statement.body, old, new))
        case _:
            return statement
