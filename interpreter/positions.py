"""Positions and actions as numbers: elements of variables, actions and their arguments, expressions without locals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from . import program as ir
from .python_backend import Position


def elements(v: ir.Variable) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Gets each element of a variable: its offset in slots and its indices."""
    count = 1
    for _, _, n in v.dims:
        count *= n
    for i in range(count):
        rest = i
        indices: list[int] = []
        for _, low, n in reversed(v.dims):
            indices.insert(0, low + rest % n)
            rest //= n
        yield i * v.width, tuple(indices)


def decode(program: ir.Program, action: int) -> tuple[ir.MoveInfo, tuple[int, ...]]:
    """Gets the move and arguments of an action number, whoever takes it."""
    action %= program.actions
    for move in reversed(program.moves):
        if action >= move.first:
            break
    rest = action - move.first
    arguments: list[int] = []
    for low, count in zip(reversed(move.lows), reversed(move.counts), strict=True):
        arguments.insert(0, low + rest % count)
        rest //= count
    return move, tuple(arguments)


def encode(move: ir.MoveInfo, arguments: Sequence[int]) -> int:
    """Gets the action number of a move with arguments (values, each within its parameter's bounds)."""
    number = 0
    for value, low, count in zip(arguments, move.lows, move.counts, strict=True):
        if not low <= value < low + count:
            raise ValueError(f"{value} is not a value of {move.name}")
        number = number * count + (value - low)
    return move.first + number


def evaluate(e: ir.Expr, position: Position, program: ir.Program) -> int:
    """Works out an expression without locals, e.g. who decides."""
    match e:
        case ir.Const(_, _, value):
            return value
        case ir.Load(_, _, slot):
            return position[slot]
        case ir.LoadAt(_, _, base, _, index):
            return position[base + evaluate(index, position, program)]
        case ir.Checked(_, _, value):
            return evaluate(value, position, program)
        case ir.Cond(_, _, c, t, o):
            return evaluate(t if evaluate(c, position, program) else o, position, program)
        case ir.Op(_, _, operator, arguments):
            values = [evaluate(a, position, program) for a in arguments]
            if operator in ("and", "or"):
                return int(all(values) if operator == "and" else any(values))
            if operator == "not":
                return int(not values[0])
            return ir.fold(operator, values)
        case ir.Lookup(_, _, table, index):
            return program.tables[table][evaluate(index, position, program)]
        case _:
            raise AssertionError(e)
