"""Goes through positions in compiled C (see `reach`): the same figures, many times as fast.

The program is written as the C backend does, with functions behind it that keep the positions: a table of 128-bit
prints of those met (open addressing), a ring of those whose options are still to be taken, and a stack of those in
which chance is still to decide. All three lie in memory that is given once and never grows; the system gives pages of
it only as they are touched.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import TYPE_CHECKING

from .. import program as ir
from ..c_backend import Backend
from ..native import NativeMachine, library_of
from .reach import Level

if TYPE_CHECKING:
    from ..game import State

_WALK = """\
/* ---- positions within reach ---- */

typedef struct {
    uint64_t a, b;
} Print;

typedef struct {
    Print *seen;     /* 0, 0: free */
    Position *ring;  /* those whose options are to be taken: `waiting` from `head` on */
    Position *stack; /* those in which chance is to decide */
    int64_t mask, room, ring_room, stack_room; /* room: how many prints may be kept */
    int64_t met, head, waiting, left, positions, over;
} Walk;

static Print print_of(const Position *S)
{
    uint64_t words[(COMPARED_BYTES + 7) / 8] = {0};
    char *at = (char *)words;
    pack(S, at);
    Print p = {GOLDEN, ~GOLDEN};
    for (unsigned i = 0; i < sizeof words / 8; i++) {
        p.a = mix(p.a ^ words[i]);
        p.b = mix(p.b + words[i] * UINT64_C(0xD1342543DE82EF95));
    }
    p.b |= p.a == 0;
    return p;
}

/* Notes a position: 1 if it is new, 0 if it was met before, -1 if there is no room. */
static int note(Walk *w, const Position *S)
{
    Print p = print_of(S);
    int64_t i = (int64_t)p.a & w->mask;
    for (; w->seen[i].a | w->seen[i].b; i = (i + 1) & w->mask)
        if (w->seen[i].a == p.a && w->seen[i].b == p.b)
            return 0;
    if (w->met >= w->room)
        return -1;
    w->met++;
    w->seen[i] = p;
    return 1;
}

/* Files the position on top of the stack, and all that chance makes of it: 0 if there is no room. */
static int file(Walk *w, int64_t n, action_t *o)
{
    int64_t top = 1, out[5];
    int64_t *stops = (int64_t *)(w->stack + w->stack_room);
    stops[0] = n;
    while (top > 0) {
        Position *S = &w->stack[--top];
        n = stops[top];
        int is_new = note(w, S);
        if (is_new < 0)
            return 0;
        if (!is_new)
            continue;
        if (n > STOP_CHANCE) {
            w->positions++;
            if (n == STOP_END) {
                w->over++;
                continue;
            }
            if (w->waiting == w->ring_room)
                return 0;
            int64_t to = w->head + w->waiting++;
            w->ring[to < w->ring_room ? to : to - w->ring_room] = *S;
            continue;
        }
        int64_t node = STOP_CHANCE - n;
        Position before = *S;
        describe_chance(&before, (int)node, out);
        for (int64_t k = out[4] - 1; k >= 0; k--) {
            if (is_weighted(node) && weight_of(&before, node, out[3] + k) == 0)
                continue;
            if (top == w->stack_room)
                return 0;
            w->stack[top] = before;
            stops[top] = step(&w->stack[top], 2, node, out[3] + k, o);
            top++;
        }
    }
    return 1;
}

/* Begins with a position. */
EXPORTED int64_t hm_walk_from(Walk *w, const int64_t *slots, int64_t *error)
{
    action_t o[MOST_OPTIONS + 1];
    if (!taken(&w->stack[0], slots) || setjmp(way_out) != 0)
        return told_of(error);
    return file(w, step(&w->stack[0], 0, w->stack[0].place, 0, o), o);
}

/* Takes every option of up to `most` positions: 1 done, 0 no room. */
EXPORTED int64_t hm_walk(Walk *w, int64_t most, int64_t *error)
{
    static _Thread_local action_t o[MOST_OPTIONS + 1], options[MOST_OPTIONS + 1];
    if (setjmp(way_out) != 0)
        return told_of(error);
    for (; most > 0 && w->left > 0; most--) {
        Position position = w->ring[w->head];
        w->head = w->head + 1 < w->ring_room ? w->head + 1 : 0;
        w->waiting--;
        w->left--;
        int64_t n = step(&position, 0, position.place, 0, options);
        for (int64_t i = 0; i < n; i++) {
            w->stack[0] = position;
            if (!file(w, step(&w->stack[0], 1, 0, (int64_t)options[i], o), o))
                return 0;
        }
    }
    return 1;
}
"""


class WalkingBackend(Backend):
    """Writes a program with the functions that go through positions."""

    plays = False

    def source(self) -> str:
        """Writes everything."""
        text = super().source()
        self.lines = []
        self.weights()
        compared = self.program.compared
        kept = [(m, min(m.count, compared - m.first)) for m in self.layout.members if m.first < compared]
        self.line(f"#define COMPARED_BYTES {sum(m.bytes * count for m, count in kept)}")
        self.open("static void pack(const Position *S, char *to)")
        for m, count in kept:
            self.line(f"memcpy(to, &S->{m.name}, {m.bytes * count}); to += {m.bytes * count};")
        self.line("(void)to;")
        self.close()
        return text + "\n".join(self.lines) + "\n" + _WALK


class _Walk(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("seen", "ring", "stack")),
        *((name, ctypes.c_int64) for name in ("mask", "room", "ring_room", "stack_room")),
        *((name, ctypes.c_int64) for name in ("met", "head", "waiting", "left", "positions", "over")),
    )


def write_walking(program: ir.Program, fingerprint: str) -> str:
    """Writes a program as C that goes through positions. Raises `Unwritable`."""
    return WalkingBackend(program, fingerprint).source()


class NativeWalker:
    """Goes through positions in C, in `memory` bytes. Raises `NativeUnavailable`."""

    backend = "c"

    def __init__(self, state: State, memory: int) -> None:
        game = state.game
        self.library = library_of(game.program, write=write_walking)
        for name, arguments in (
            ("hm_walk_from", [ctypes.c_void_p] * 3),
            ("hm_walk", [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p]),
        ):
            function = getattr(self.library, name)
            function.argtypes, function.restype = arguments, ctypes.c_int64
        self.machine = NativeMachine(game.program, self.library, hooks=game._hooks())
        size = self.machine.position_bytes
        prints = 1 << 10
        while prints * 2 * 16 <= memory // 2:
            prints *= 2
        rest = max(memory - prints * 16, 64 * (size + 8))
        stack_room = max(32, rest // 16 // (size + 8))
        stack_room += -stack_room % 8  # so that the stops behind it are in line
        ring_room = max(1, (rest - stack_room * (size + 8)) // size)
        self.kept = [mmap.mmap(-1, n) for n in (prints * 16, ring_room * size, stack_room * (size + 8))]
        self.walk = _Walk(
            *(ctypes.addressof(ctypes.c_char.from_buffer(m)) for m in self.kept),
            mask=prints - 1,
            room=prints * 7 // 8,
            ring_room=ring_room,
            stack_room=stack_room,
        )
        self.error = (ctypes.c_int64 * 6)()
        self.start = (ctypes.c_int64 * game.program.size)(*state.position)

    @property
    def waiting(self) -> int:
        """How many positions wait."""
        return int(self.walk.waiting)

    def begin(self) -> None:
        """Turns to the next level."""
        self.walk.left = self.walk.waiting
        self.walk.positions = self.walk.over = 0

    def fill(self, level: Level) -> bool:
        """Takes in the position to start from."""
        return self.told(self.library.hm_walk_from(ctypes.byref(self.walk), self.start, self.error), level)

    def go(self, level: Level, most: int) -> bool | None:
        """Goes through some positions."""
        done = self.told(self.library.hm_walk(ctypes.byref(self.walk), most, self.error), level)
        return None if done and self.walk.left else done

    def told(self, result: int, level: Level) -> bool:
        """Notes what C counted."""
        level.positions, level.over = int(self.walk.positions), int(self.walk.over)
        if result < 0:
            self.machine.fail(self.error)
        return bool(result)
