"""Writes lists of options as bits of one number, for whole games: counted and picked without a list.

A list in which every option stands written out, each an action known beforehand, has a bit for each of them. How many
are offered is then the number of bits, and the k-th is found by halving; nothing is stored and, where guards are cheap,
nothing branches. The order of the bits is that of the list.
"""

from __future__ import annotations

from . import program as ir
from .c_layout import descend, identifier
from .c_text import known
from .c_writer import Writer

LEAST, MOST = 16, 64
"""Lists of fewer options are quicker as lists (measured: with 15 an eighth slower as bits, with 22 a third quicker)."""


class MaskWriter(Writer):
    """Writes functions that give options as bits."""

    def __init__(self, program: ir.Program) -> None:
        super().__init__(program)
        lists = [f for f in self.program.functions.values() if f.kind == "options"]
        self.masked = {f.name: _actions(f.body) for f in lists if _fits(f.body)}
        """The actions of lists that are written as bits, in their order."""
        self.bit = -1
        """The number of the next bit, while such a list is written."""

    def mask_of(self, f: ir.Function) -> None:
        """Writes a list of options as bits, and what finds the action of the k-th of them."""
        actions, name = self.masked[f.name], identifier(f.name)
        parameters = "".join(f", int {known(g)}" for g in self.given[f.name])
        self.judge.enter(f.body, [(f.parameters[0], (0, self.program.players - 1))])
        self.parameters = frozenset(f.parameters)
        self.available = {g: known(g) for g in self.given.get(f.name, ())}
        self.open(
            f"static uint64_t mask_{name}(const Position *S, int {identifier(f.parameters[0])}{parameters})"
        )

        def write() -> None:
            self.bit = 0
            self.locals_of(f.body, f.parameters)
            self.line("uint64_t m = 0;")
            self.body(f.body)
            self.line("return m;")

        self.scope(write, hoists=True)
        self.bit = -1
        self.available = {}
        self.close()
        width = 32 if len(actions) <= 32 else 64
        place = f"nth{width}((uint{width}_t)m, (unsigned)k)"
        if actions == list(range(actions[0], actions[0] + len(actions))):
            found = f"{place} + {actions[0]}" if actions[0] else place
        else:
            self.line(f"static const action_t M_{name}[{len(actions)}] = {{{', '.join(map(str, actions))}}};")
            found = f"M_{name}[{place}]"
        self.line(f"LOCAL int64_t nth_{name}(uint64_t m, int64_t k) {{ return (int64_t)({found}); }}")
        self.line(f"LOCAL int count_{name}(uint64_t m) {{ return count{width}((uint{width}_t)m); }}")
        self.line("")

    def emit(self, action: str) -> None:
        """Lists an option."""
        if self.bit < 0:
            super().emit(action)
            return
        self.line(f"m |= UINT64_C(1) << {self.bit};")
        self.bit += 1

    def listed_without_branch(self, s: ir.If, outer: str | None) -> bool:
        """Writes a guard with few options behind it; where that will not do, no bit is taken."""
        bit = self.bit
        done = super().listed_without_branch(s, outer)
        if not done:
            self.bit = bit
        return done

    def put_if(self, action: str, holds: str) -> None:
        """Lists an option that counts only if a guard holds."""
        if self.bit < 0:
            super().put_if(action, holds)
            return
        self.line(f"m |= (uint64_t)({holds}) << {self.bit};")
        self.bit += 1


def _actions(body: tuple[ir.Stmt, ...]) -> list[int]:
    """Gets the actions that statements list, in the order in which they are written."""
    found: list[int] = []
    for s in body:
        match s:
            case ir.Emit(action=ir.Const(value=value)):
                found.append(value)
            case ir.If():
                found += _actions(s.then) + _actions(s.otherwise)
            case _:
                pass
    return found


def _fits(body: tuple[ir.Stmt, ...]) -> bool:
    """Tests if every option of a list stands written out, once and outside of loops, and they are as many as pay."""
    listed = [n for n in descend(*body) if isinstance(n, ir.Emit | ir.EmitRange)]
    if not any(isinstance(s, ir.If) for s in body):
        return False  # always the same
    return LEAST <= len(listed) <= MOST and len(_actions(body)) == len(listed)
