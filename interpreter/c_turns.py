"""Makes less of loops over constant numbers: turns that do nothing are left out, few short ones are written one by one.

`for s in space where s.kind is berth` goes over every space and tests a constant. With a number for the loop's variable
most of such a test folds away: where a turn is empty then, it need not be taken, and where few turns remain they are
written without a loop, so that tables and places are constants in them. The meaning stays, errors and their order too.
"""

from __future__ import annotations

from collections.abc import Callable

from . import program as ir
from .c_layout import descend
from .c_substitute import Filling

MOST_TURNS = 64
"""Loops of more turns are left as they are."""
LARGEST = 160
"""Up to so many nodes of expressions and statements, all turns together, are written without a loop."""

Body = tuple[ir.Stmt, ...]
Simplify = Callable[[Body], Body]


def turned(loop: ir.For, simplify: Simplify, fresh: Callable[[], str], *, frozen: bool) -> Body | None:
    """Gets statements that do what a loop does, or None where it is best left alone.

    `simplify` simplifies a turn; `fresh` makes endings for the names of what a turn works out once. `frozen`: the
    position does not change meanwhile.
    """
    low, high = loop.low, loop.high
    if not isinstance(low, ir.Const) or not isinstance(high, ir.Const):
        return None
    if not 0 < high.value - low.value + 1 <= MOST_TURNS or not _plain(loop):
        return None
    names = _copies(loop)
    turns = {
        k: simplify(_turn(loop, names, ir.const(k), fresh(), frozen))
        for k in range(low.value, high.value + 1)
    }
    busy = [k for k, turn in turns.items() if any(not _names(s, names) for s in turn)]
    if not busy:
        return ()
    if not any(_leaves(s) for s in loop.body) and sum(_nodes(turns[k]) for k in busy) <= LARGEST:
        return tuple(s for k in busy for s in turns[k])
    first, last = busy[0], busy[-1]
    if (first, last) == (low.value, high.value):
        return None
    inside = simplify(_turn(loop, names, ir.Temp(first, last, loop.name), fresh(), frozen))
    return (ir.For(loop.name, ir.const(first), ir.const(last), inside),)


def _plain(loop: ir.For) -> bool:
    """Tests if nothing in a loop changes its variable."""
    inside = list(descend(*loop.body))
    return not any(isinstance(n, ir.SetTemp | ir.For) and n.name == loop.name for n in inside)


def _copies(loop: ir.For) -> set[str]:
    """Gets the locals that do nothing but name the number of the turn: at its start, and nowhere else set."""
    sets = [n.name for n in descend(*loop.body) if isinstance(n, ir.SetTemp)]
    names: set[str] = set()
    for s in loop.body:
        if not (isinstance(s, ir.SetTemp) and isinstance(s.value, ir.Temp) and s.value.name == loop.name):
            break
        if sets.count(s.name) == 1:
            names.add(s.name)
    return names


def _turn(loop: ir.For, copies: set[str], value: ir.Expr, ending: str, frozen: bool) -> Body:
    """Gets the body of a loop with a value for its variable."""
    changing = {n.name for n in descend(*loop.body) if isinstance(n, ir.SetTemp | ir.For)} | {loop.name}
    filling = Filling(dict.fromkeys((loop.name, *copies), value), ending, changing if frozen else None)
    return tuple(filling.statement(s) for s in loop.body)


def _names(s: ir.Stmt, copies: set[str]) -> bool:
    """Tests if a statement only names the number of the turn."""
    return isinstance(s, ir.SetTemp) and s.name in copies


def _leaves(s: ir.Stmt) -> bool:
    """Tests if a statement leaves the loop around it, or goes on to its next turn."""
    match s:
        case ir.Break() | ir.Continue():
            return True
        case ir.If():
            return any(map(_leaves, (*s.then, *s.otherwise)))
        case _:
            return False


def _nodes(body: Body) -> int:
    return sum(1 for _ in descend(*body))
