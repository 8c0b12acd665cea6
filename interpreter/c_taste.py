"""The part of the C text by which whole games pick their options by taste (`taste.py` tells what that is)."""

from __future__ import annotations

from .taste import CELLS, FULL, LOGGED

TASTE = f"""\
/* ---- picks by taste: of a few options drawn by chance the one that has done best so far ---- */

#define CELLS {CELLS}
#define LOGGED {LOGGED}
#define FULL {FULL}

typedef struct {{
    int64_t tries, spread, middle, logged;
    int64_t total[CELLS];
    int32_t value[CELLS], count[CELLS];
    int32_t cell[LOGGED], seat[LOGGED];
}} Taste;

static unsigned cell_of(int64_t seat, int64_t action)
{{
    return (unsigned)(mix((uint64_t)(action * (PLAYERS + 1) + seat + 1) * GOLDEN) % CELLS);
}}

/* Picks one of n options: a list of actions, or of spans; `who` acts where the action does not tell. */
static __attribute__((noinline, unused)) int64_t tasted(Taste *t, const action_t *o, const Span *s, uint64_t n,
                                                        int64_t who, uint64_t *x)
{{
    int64_t best = -1, actor = -1;
    int32_t promise = -1;
    unsigned where = 0;
    for (int64_t k = 0; k < t->tries; k++) {{
        *x = next_pick(*x);
        int64_t at = (int64_t)((*x >> 32) * n >> 32);
        int64_t a = s ? span_at(s, at) : (int64_t)o[at];
        int64_t seat = a >= ACTIONS ? a / ACTIONS - 1 : who;
        unsigned cell = cell_of(seat, a % ACTIONS);
        if (t->value[cell] > promise) {{
            promise = t->value[cell];
            best = a;
            actor = seat;
            where = cell;
        }}
    }}
    if (actor >= 0 && t->logged < LOGGED) {{
        t->cell[t->logged] = (int32_t)where;
        t->seat[t->logged++] = (int32_t)actor;
    }}
    return best;
}}
"""

LEARNING = """\
/* Learns from a game that is over: its winners as a set, and each player's score. */
static void learn(Taste *t, const int64_t *row)
{
    int64_t worth[PLAYERS];
    for (int p = 0; p < PLAYERS; p++) {
        int64_t other = INT64_MIN;
        for (int q = 0; q < PLAYERS; q++)
            if (q != p)
                other = most64(other, row[1 + q]);
        int64_t lead = row[1 + p] - (PLAYERS > 1 ? other : t->middle);
        lead = most64(0, least64(4 * t->spread, lead + 2 * t->spread));
        if (PLAYERS == 1)
            worth[p] = lead * FULL / (4 * t->spread);
        else
            worth[p] = lead * (FULL / 2) / (4 * t->spread)
                       + (row[0] >> p & 1 ? FULL / 2 / __builtin_popcountll((uint64_t)row[0]) : 0);
    }
    for (int64_t i = 0; i < t->logged; i++) {
        int32_t c = t->cell[i];
        t->total[c] += worth[t->seat[i]];
        t->count[c]++;
        t->value[c] = (int32_t)((t->total[c] + FULL) / (t->count[c] + 1));
    }
}

EXPORTED int64_t hm_taste_bytes(void) { return (int64_t)sizeof(Taste); }

EXPORTED int64_t hm_taste_values(void) { return (int64_t)offsetof(Taste, value); }

EXPORTED void hm_taste_begin(Taste *t, int64_t tries, int64_t spread, int64_t middle)
{
    memset(t, 0, sizeof *t);
    t->tries = tries;
    t->spread = spread;
    t->middle = middle;
    for (int i = 0; i < CELLS; i++)
        t->value[i] = FULL;
}
"""
