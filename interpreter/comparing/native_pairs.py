"""Plays coupled games (see `pairs`) in compiled C: the same games as in Python, many times as fast.

Writes the C of the program as the C backend does and adds one function that plays whole games stop by stop,
choosing among the options by their numbers. What has no C (no compiler, texts as parameters, too long lists)
is played in Python; so is again any game in which a rule broke, for the words of the error.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from .. import program as ir
from ..c_backend import Backend, figure_count
from ..chance import name_hash
from ..native import NativeUnavailable, library_of
from .pairs import COUNT, SEAT, SPREAD, Names, Outcome, PairedPlayer

if TYPE_CHECKING:
    from ..game import Game

MOST_ACTIONS = 1 << 20

_COUPLED = """\
/* ---- games that share the numbers of their choices ---- */

#define NAMED (3 + PLAYERS + FIGURES)
#define TOTALS (4 + PLAYERS * (2 + PLAYERS) + 2 * FIGURES)

static int64_t drawn(Position *S, int64_t stop, const Luck *luck)
{
    int64_t out[5], node = STOP_CHANCE - stop;
    describe_chance(S, (int)node, out);
    uint64_t bits = number_at(luck->keys[out[0]], (uint64_t)out[1], (uint64_t)out[2]);
    if (!is_weighted(node))
        return out[3] + share_of(bits, (uint64_t)out[4]);
    int64_t sum = 0, i;
    for (i = 0; i < out[4]; i++)
        sum += weight_of(S, node, out[3] + i);
    int64_t left = share_of(bits, (uint64_t)sum);
    for (i = 0; i < out[4] && (left -= weight_of(S, node, out[3] + i)) >= 0; i++) {}
    return out[3] + i;
}

static int64_t coupled(Position *S, const Luck *luck, uint64_t key, const uint64_t *names,
                       const uint64_t *decisions_named, uint64_t *course_out)
{
    static _Thread_local action_t o[MOST_OPTIONS];
    uint64_t counts[DECISIONS][PLAYERS + 1];
    uint64_t course = 0;
    int64_t decisions = 0;
    memset(counts, 0, sizeof counts);
    int64_t n = step(S, 0, START, 0, o);
    for (;;) {
        while (n <= STOP_CHANCE)
            n = step(S, 2, STOP_CHANCE - n, drawn(S, n, luck), o);
        if (n < 0) {
            *course_out = course;
            return decisions;
        }
        if (++decisions > BUDGET)
            return STOP_ENDLESS;
        int seat, decision = decision_at(S, &seat);
        uint64_t count = counts[decision][seat + 1]++;
        uint64_t with = mix(key + decisions_named[decision] + (uint64_t)(seat + 1) * SEAT + count * COUNT);
        uint64_t best = 0, offered = 0, chosen = 0;
        int64_t action = -1;
        for (int64_t i = 0; i < n; i++) {
            uint64_t a = (uint64_t)o[i], name = names[a % ACTIONS] + a / ACTIONS * SEAT;
            offered += name;
            uint64_t value = (name ^ with) * SPREAD;
            value = (value ^ value >> 32) * SPREAD;
            if (action < 0 || value < best) {
                best = value;
                action = (int64_t)a;
                chosen = name;
            }
        }
        course = (course ^ offered ^ chosen * 3 ^ (uint64_t)(int64_t)seat) * SPREAD + 1;
        course ^= course >> 29;
        n = step(S, 1, 0, action, o);
    }
}

EXPORTED int64_t hm_coupled(uint64_t seed, int64_t first, int64_t games, const uint64_t *names,
                            const uint64_t *decisions_named, int64_t *rows)
{
    for (volatile int64_t game = first; game < first + games; game++) {
        Position position = INITIAL;
        Luck luck;
        uint64_t own = mix(seed * GOLDEN + (uint64_t)game), course = 0;
        int64_t *row = rows + (game - first) * NAMED, totals[TOTALS];
        memset(totals, 0, sizeof totals);
        luck_of(&luck, own);
        if (setjmp(way_out) != 0) {
            rows[(game - first) * NAMED] = STOP_TROUBLE;
            continue;
        }
        int64_t decisions = coupled(&position, &luck, mix(own * GOLDEN + CHOICES), names, decisions_named, &course);
        if (decisions < 0) {
            row[0] = decisions;
            continue;
        }
        add_up(&position, decisions, totals, row + 1);
        row[0] = (int64_t)course;
        row[1] = decisions;
    }
    return 0;
}
"""


class CoupledBackend(Backend):
    """Writes a program with the function that plays coupled games."""

    plays = False

    def source(self) -> str:
        """Writes everything."""
        text = super().source()
        p = self.program
        self.lines = []
        self.line(f"#define DECISIONS {max(1, len(p.decisions))}")
        self.line(f"#define START {p.start}")
        self.line(f"#define BUDGET {p.decision_budget}")
        self.line(f"#define ACTIONS {p.actions}u")
        for name, value in (
            ("SPREAD", SPREAD),
            ("SEAT", SEAT),
            ("COUNT", COUNT),
            ("CHOICES", name_hash("choices")),
        ):
            self.line(f"#define {name} UINT64_C({value})")
        self.open("static int decision_at(Position *S, int *seat)")
        self.line("int p = 0;")
        self.line("(void)p;")
        self.open("switch (S->place)")
        for d in p.decisions:
            self.open(f"case {d.block}:")
            self.seat(d)
            self.line(f"return {d.number};")
            self.close()
        self.line("default: lost(S->place);")
        self.close()
        self.close()
        self.weights()
        return text + "\n".join(self.lines) + "\n" + _COUPLED

    def seat(self, d: ir.Decision) -> None:
        """Writes who decides."""
        match d.mode:
            case "each":
                self.line(f"for (p = 0; p < PLAYERS - 1 && {self.pending(d)} != 0; p++) {{}}")
                self.line("*seat = p;")
            case "any":
                self.line("*seat = -1;")
            case _:
                self.line(f"*seat = {self.expr(d.actor)};")


def coupled_library(game: Game) -> ctypes.CDLL:
    """Gets the compiled library of a game, compiling it if it is not in the cache. Raises
    `NativeUnavailable`.
    """
    if game.program.actions > MOST_ACTIONS:
        raise NativeUnavailable(f"there are {game.program.actions:,} actions")
    return library_of(game.program, write=write_coupled)


def write_coupled(program: ir.Program, fingerprint: str) -> str:
    """Writes a program as C that plays coupled games. Raises `Unwritable`."""
    return CoupledBackend(program, fingerprint).source()


class NativePlayer:
    """Plays one of two games by coupled chance, blocks of games at a time."""

    def __init__(self, game: Game, names: Names) -> None:
        self.game = game
        self.program = program = game.program
        self.python = PairedPlayer(game, names)
        self.library = coupled_library(game)
        self.library.hm_coupled.restype = ctypes.c_int64
        self.library.hm_coupled.argtypes = [
            ctypes.c_uint64,
            ctypes.c_int64,
            ctypes.c_int64,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ]
        self.options = (ctypes.c_uint64 * max(1, program.actions))(
            *map(names.options, range(program.actions))
        )
        self.decisions = (ctypes.c_uint64 * max(1, len(names.decisions)))(*names.decisions)
        self.width = 3 + program.players + figure_count(program)

    def play_many(self, seed: int, first: int, games: int) -> list[Outcome | None]:
        """Plays games number `first` … of a run; None where a rule broke or the game did not end."""
        rows = (ctypes.c_int64 * (self.width * games))()
        self.library.hm_coupled(seed & (1 << 64) - 1, first, games, self.options, self.decisions, rows)
        n, width = self.program.players, self.width
        out: list[Outcome | None] = []
        for k in range(games):
            row = rows[k * width : (k + 1) * width]
            if row[1] == 0 and row[0] < 0 and not any(row[1:]):
                out.append(None)
                continue
            out.append(
                Outcome(row[1], row[2], tuple(row[3 : 3 + n]), tuple(row[3 + n :]), row[0] & (1 << 64) - 1)
            )
        return out

    def play(self, seed: int) -> Outcome:
        """Plays one game in Python, for the words of an error."""
        return self.python.play(seed)
