"""Lays a position out for C: which members the struct has, and each slot's place in one of them.

Slots that are reached by a computed index lie together in one array; every member has the smallest integer type that
holds the bounds of all its slots. Members are ordered by size, so that no padding lies between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from . import program as ir

INT32 = (-(1 << 31), (1 << 31) - 1)
INT64 = (-(1 << 63), (1 << 63) - 1)

_TYPES = (
    ("uint8_t", 1, 0, 255),
    ("int8_t", 1, -128, 127),
    ("uint16_t", 2, 0, 65535),
    ("int16_t", 2, -32768, 32767),
    ("int32_t", 4, *INT32),
    ("int64_t", 8, *INT64),
)

_KEYWORDS = """\
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm typeof main
bool true false nullptr constexpr thread_local alignas alignof static_assert
"""
_RESERVED = frozenset(_KEYWORDS.split())


class Unwritable(Exception):
    """Says why a program cannot be written as C; the Python backend runs it all the same."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the struct: slots `first` … `first` + `count` - 1."""

    name: str
    type: str
    bytes: int
    first: int
    count: int
    scalar: bool
    low: int
    high: int


def identifier(name: str) -> str:
    """Makes a C identifier of a name."""
    plain = re.sub(r"[^A-Za-z0-9_]", lambda m: f"_{ord(m[0]):x}_", name)
    return f"{plain}_" if plain in _RESERVED or plain[:1].isdigit() else plain


class Layout:
    """The members of a position's struct, and where each slot lies."""

    def __init__(self, program: ir.Program) -> None:
        names: dict[int, str] = {0: "place"}
        spans: list[tuple[int, int]] = []
        for v in program.variables.values():
            total = v.width
            for _, _, count in v.dims:
                total *= count
            names[v.slot] = identifier(v.name)
            spans.append((v.slot, total))
        spans += [(base, size) for base, size in _reached_by_index(program) if size > 1]
        spans += [(d.pending, program.players) for d in program.decisions if d.pending >= 0]
        for b in program.blocks:
            if isinstance(b.end, ir.Back):
                names.setdefault(b.end.slot, f"back_{b.end.slot}")
        for c in program.chances:
            names.setdefault(c.row, f"row_{identifier(program.streams[c.stream])}")
        first_of = list(range(program.size))
        for base, size in spans:
            # all slots of a span belong to one member
            start = min(first_of[base : base + size])
            stop = max(n for n in range(program.size) if first_of[n] in first_of[base : base + size])
            for n in range(start, stop + 1):
                first_of[n] = start
        self.members: list[Member] = []
        self.member_of: list[Member] = []
        taken: set[str] = set()
        n = 0
        while n < program.size:
            count = 1
            while n + count < program.size and first_of[n + count] == first_of[n]:
                count += 1
            low = min(lo for lo, _ in program.bounds[n : n + count])
            high = max(hi for _, hi in program.bounds[n : n + count])
            name = names.get(n, f"q{n}")
            while name in taken:
                name += "_"
            taken.add(name)
            type_, size = c_type(low, high)
            member = Member(name, type_, size, n, count, count == 1, low, high)
            self.members.append(member)
            self.member_of += [member] * count
            n += count

    @property
    def bytes(self) -> int:
        """The size of the struct."""
        used = sum(m.bytes * m.count for m in self.members)
        widest = max(m.bytes for m in self.members)
        return -(-used // widest) * widest

    def in_order(self) -> Iterator[Member]:
        """Gets the members as they stand in the struct, the widest first."""
        yield from sorted(self.members, key=lambda m: -m.bytes)

    def slot(self, n: int) -> str:
        """Writes the place of slot n."""
        m = self.member_of[n]
        return f"S->{m.name}" if m.scalar else f"S->{m.name}[{n - m.first}]"


def c_type(low: int, high: int) -> tuple[str, int]:
    """Gets the smallest C type that holds low … high, and its size. Raises `Unwritable`."""
    for name, size, least, most in _TYPES:
        if least <= low and high <= most:
            return name, size
    raise Unwritable(f"numbers from {low} to {high} do not fit into 64 bits")


def is_wide(low: int, high: int) -> bool:
    """Tests if numbers need 64 bits. Raises `Unwritable` if those do not do either."""
    if INT32[0] <= low and high <= INT32[1]:
        return False
    if INT64[0] <= low and high <= INT64[1]:
        return True
    raise Unwritable(f"numbers from {low} to {high} do not fit into 64 bits")


def children(node: ir.Expr | ir.Stmt) -> tuple[ir.Expr | ir.Stmt, ...]:
    """Gets what stands directly inside an expression or statement, in the order it is worked out."""
    match node:
        case ir.LoadAt() | ir.Lookup():
            return (node.index,)
        case ir.Op() | ir.Call() | ir.Do():
            return node.arguments
        case ir.Cond():
            return (node.condition, node.then, node.otherwise)
        case ir.Checked() | ir.Memo() | ir.SetTemp() | ir.Store() | ir.Return():
            return (node.value,)
        case ir.StoreAt():
            return (node.value, node.index)
        case ir.If():
            return (node.condition, *node.then, *node.otherwise)
        case ir.For():
            return (node.low, node.high, *node.body)
        case ir.Loop():
            return node.body
        case ir.Emit():
            return (node.action,)
        case ir.EmitRange():
            return (node.low, node.high)
        case _:
            return ()


def descend(*nodes: ir.Expr | ir.Stmt) -> Iterator[ir.Expr | ir.Stmt]:
    """Gets nodes and all that stands inside them, at any depth; texts that are told are left out."""
    todo = list(nodes)
    while todo:
        n = todo.pop()
        yield n
        todo += children(n)


def roots(program: ir.Program) -> Iterator[ir.Expr | ir.Stmt]:
    """Gets every statement and expression that stands at the top of a function, block, decision or chance node."""
    for f in program.functions.values():
        yield from f.body
    for b in program.blocks:
        yield from b.body
        if isinstance(b.end, ir.Branch):
            yield b.end.condition
    for d in program.decisions:
        yield d.actor
        yield d.who
    for c in program.chances:
        yield c.ordinal
        yield c.count
        yield c.index


def _reached_by_index(program: ir.Program) -> Iterator[tuple[int, int]]:
    for n in descend(*roots(program)):
        if isinstance(n, ir.LoadAt | ir.StoreAt):
            yield n.base, n.size
    for c in program.chances:
        yield c.base, c.size
