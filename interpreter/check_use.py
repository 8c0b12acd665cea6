"""Who calls whom: no recursion, which rules may stop and wait, and what nobody uses."""

from __future__ import annotations

from ..grammar import tree
from ..grammar.diagnostics import Label, Report
from ..grammar.span import Span
from ..grammar.walk import walk
from .symbols import AliasRef, AllRef, Callable, Checked, EntryRef, Variable


def _standing(checked: Checked) -> list[Callable]:
    found = []
    for definition in checked.rules.definitions:
        if isinstance(definition.node, tree.Standing):
            found += [s for w in definition.node.moves if isinstance(s := checked.refs.get(w), Callable)]
    return found


def calls(checked: Checked, symbol: Callable) -> list[tuple[Callable, tree.Node]]:
    """Gets what a rule, move or define calls or offers, with the places."""
    found: list[tuple[Callable, tree.Node]] = []
    for node in walk(symbol.node):
        ref = checked.refs.get(node)
        if (isinstance(ref, Callable) and ref is not symbol) or (
            isinstance(ref, Callable) and node is not symbol.node
        ):
            found.append((ref, node))
        if isinstance(node, tree.Choose) and node.offers:
            found += [(s, node) for s in _standing(checked)]
    return found


def check_recursion(checked: Checked, report: Report) -> None:
    """Refuses rules, moves and defines that come back to themselves, showing the circle."""
    graph = {c: calls(checked, c) for c in checked.callables.values()}
    done: set[Callable] = set()
    reported: set[frozenset[Callable]] = set()

    def visit(symbol: Callable, path: list[tuple[Callable, tree.Node]]) -> None:
        if symbol in done:
            return
        for callee, place in graph[symbol]:
            on_path = [c for c, _ in path] + [symbol]
            if callee in on_path:
                start = on_path.index(callee)
                circle = [*path, (symbol, place)][start:]
                members = frozenset(c for c, _ in circle)
                if members not in reported:
                    reported.add(members)
                    names = [c.name for c, _ in circle]
                    report.error(
                        "recursion",
                        f"'{callee.name}' comes back to itself: {' → '.join([*names, callee.name])}",
                        place.span,
                        notes=[Label(f"'{c.name}' is here", c.node.name.span) for c, _ in circle],
                        help="write it as a loop: 'repeat', or 'for'",
                    )
                continue
            visit(callee, [*path, (symbol, place)])
        done.add(symbol)

    for symbol in checked.callables.values():
        visit(symbol, [])


_STOPPING = (tree.Choose, tree.Roll, tree.Draw, tree.Shuffle, tree.EndGame)


def find_asking(checked: Checked, report: Report) -> None:
    """Finds the rules and moves in which the game may stop and wait; a simultaneous choice may offer none of them."""
    graph: dict[str, list[str]] = {}
    for symbol in checked.callables.values():
        if any(isinstance(n, _STOPPING) for n in walk(symbol.node)):
            checked.asks.add(symbol.name)
        graph[symbol.name] = [
            c.name for c, node in calls(checked, symbol) if isinstance(node, tree.Call) and c.kind == "rule"
        ]
    changed = True
    while changed:
        changed = False
        for name, callees in graph.items():
            if name not in checked.asks and any(c in checked.asks for c in callees):
                checked.asks.add(name)
                changed = True
    for symbol in checked.callables.values():
        for node in walk(symbol.node):
            if isinstance(node, tree.Choose) and node.mode == "each":
                for word in node.moves:
                    if word.text in checked.asks:
                        report.error(
                            "each-asks",
                            f"'{word.text}' may ask or roll, but is chosen by several at once",
                            word.span,
                            notes=[Label("the move is here", checked.callables[word.text].node.name.span)],
                            help="note the choice in the move, and ask after all have chosen",
                        )


def check_unused(checked: Checked, report: Report) -> None:
    """Warns of definitions that nothing reaches: of the top layer alone, as overlays may leave those below idle.

    What only another idle definition speaks of is not told too: it goes with that one.
    """
    rules = checked.rules

    def warn(what: str, span: Span) -> None:
        if not rules.layers or rules.layer_of(span) == rules.layers[-1].name:
            report.warning("unused", f"nothing uses {what}", span)

    used: set[object] = set()
    roots: list[tree.Node] = []
    for definition in checked.rules.definitions:
        kept = definition.node
        if not isinstance(kept, tree.Rule | tree.Move | tree.Define | tree.TypeDef | tree.KindDef):
            roots.append(kept)
    start = checked.callables.get(checked.rules.start)
    if start is not None:
        used.add(start)
        roots.append(start.node)
    names: set[str] = set()
    while roots:
        for node in walk(roots.pop()):
            if isinstance(node, tree.NamedType):
                names.add(node.name)
                if node.name in checked.aliases and ("alias", node.name) not in used:
                    used.add(("alias", node.name))
                    roots.append(checked.aliases[node.name])
            ref = checked.refs.get(node)
            if isinstance(ref, Callable) and ref not in used:
                used.add(ref)
                roots.append(ref.node)
            elif isinstance(ref, AliasRef):
                used.add(ref.type)
            elif isinstance(ref, Variable):
                used.add(ref)
            elif isinstance(ref, EntryRef | AllRef):
                names.add(ref.enum.name)
    idle = [c for c in checked.callables.values() if c not in used]
    for symbol in idle:
        for node in walk(symbol.node):
            if isinstance(node, tree.NamedType):
                names.add(node.name)
                used.add(("alias", node.name))
            ref = checked.refs.get(node)
            if isinstance(ref, Callable | Variable) and ref is not symbol:
                used.add(ref)
            elif isinstance(ref, AliasRef):
                used.add(ref.type)
            elif isinstance(ref, EntryRef | AllRef):
                names.add(ref.enum.name)
    for name, alias in checked.aliases.items():
        if ("alias", name) not in used and alias.type not in used:
            warn(f"type '{name}'", alias.name.span)
    for symbol in checked.callables.values():
        is_open = isinstance(symbol.node, tree.Define) and symbol.node.open  # for views and scenarios
        if symbol not in used and not is_open:
            warn(f"{symbol.kind} '{symbol.name}'", symbol.node.name.span)
    for definition in checked.rules.definitions:
        if isinstance(definition.node, tree.KindDef) and definition.node.name.text not in names:
            warn(f"kind '{definition.node.name.text}'", definition.node.name.span)
    for variable in checked.variables.values():
        if variable not in used:
            warn(f"state variable '{variable.name}'", variable.node.name.span)
