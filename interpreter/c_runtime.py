"""The parts of the C text that are the same for every program."""

from __future__ import annotations

HEAD = """\
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RARE(test) __builtin_expect(!!(test), 0)
#define LOCAL static inline __attribute__((unused))
#define PURE __attribute__((pure))
#define COLD __attribute__((noreturn, noinline, cold, unused))
#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif
#define ABSENT (-2147483647 - 1)

/* ---- errors: play stops where the rules did what they must not, and the caller is told ---- */

typedef struct {
    int64_t site, why, value, low, high, game;
} Trouble;

static _Thread_local Trouble trouble;
static _Thread_local jmp_buf way_out;

static COLD void bad(int64_t site, int why, int64_t value, int64_t low, int64_t high)
{
    trouble = (Trouble){site, why, value, low, high, -1};
    longjmp(way_out, 1);
}

static COLD void circle(int64_t site) { bad(site, WHY_LOOP, 0, 0, 0); }
static COLD void stuck(int64_t site, int player) { bad(site, WHY_STUCK, player, 0, 0); }
static COLD void lost(int64_t place) { bad(-1, WHY_LOST, place, 0, 0); }
static COLD void weightless(int64_t site) { bad(site, WHY_WEIGHT, 0, 0, 0); }

/* ---- numbers ---- */

LOCAL int least(int a, int b) { return a < b ? a : b; }
LOCAL int most(int a, int b) { return a > b ? a : b; }
LOCAL int64_t least64(int64_t a, int64_t b) { return a < b ? a : b; }
LOCAL int64_t most64(int64_t a, int64_t b) { return a > b ? a : b; }

/* One of two values by a conditional move: the empty instruction keeps the compiler from making a branch of it, which
   the processor would have to foresee. */
LOCAL int pick(int flag, int a, int b)
{
    __asm__("" : "+r"(a), "+r"(b));
    return flag ? a : b;
}

LOCAL int64_t pick64(int flag, int64_t a, int64_t b)
{
    __asm__("" : "+r"(a), "+r"(b));
    return flag ? a : b;
}

LOCAL int64_t floored(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

LOCAL int64_t modulo(int64_t a, int64_t b)
{
    int64_t r = a % b;
    return r + (r != 0 && (r < 0) != (b < 0) ? b : 0);
}

/* ---- chance: the streams of chance.py, the picks of playout.py ---- */

#define GOLDEN UINT64_C(0x9E3779B97F4A7C15)

LOCAL uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

LOCAL uint64_t number_at(uint64_t key, uint64_t row, uint64_t ordinal)
{
    return mix(key + (row + 1) * UINT64_C(0xD1342543DE82EF95) + (ordinal + 1) * UINT64_C(0x2545F4914F6CDD1D));
}

LOCAL int64_t share_of(uint64_t bits, uint64_t n) { return (int64_t)((unsigned __int128)bits * n >> 64); }

/* Options that follow one another. */
typedef struct {
    int64_t first, count;
} Span;

LOCAL Span span(int64_t first, int64_t last) { return (Span){first, last < first ? 0 : last - first + 1}; }

LOCAL int64_t span_at(const Span *s, int64_t k)
{
    for (; k >= s->count; s++)
        k -= s->count;
    return s->first + k;
}

/* How many bits are set, and the place of the k-th: sums over 2, 4, 8 … bits, which tell in which half it lies. */
#define SUMS(m) \\
    uint32_t by2 = m - ((m >> 1) & 0x55555555u), by4 = (by2 & 0x33333333u) + ((by2 >> 2) & 0x33333333u); \\
    uint32_t by8 = (by4 + (by4 >> 4)) & 0x0F0F0F0Fu, by16 = by8 + (by8 >> 8)

LOCAL int count32(uint32_t m)
{
    SUMS(m);
    return (int)((by16 + (by16 >> 16)) & 0x3F);
}

LOCAL int nth32(uint32_t m, unsigned k)
{
    SUMS(m);
    unsigned at = 0, low, upper;
    low = by16 & 0x1F, upper = k >= low, at += upper << 4, k -= low & -upper;
    low = by8 >> at & 0xF, upper = k >= low, at += upper << 3, k -= low & -upper;
    low = by4 >> at & 0x7, upper = k >= low, at += upper << 2, k -= low & -upper;
    low = by2 >> at & 0x3, upper = k >= low, at += upper << 1, k -= low & -upper;
    return (int)(at + (k >= (m >> at & 1)));
}

LOCAL int count64(uint64_t m) { return count32((uint32_t)m) + count32((uint32_t)(m >> 32)); }

LOCAL int nth64(uint64_t m, unsigned k)
{
    unsigned low = (unsigned)count32((uint32_t)m);
    return k < low ? nth32((uint32_t)m, k) : 32 + nth32((uint32_t)(m >> 32), k - low);
}

LOCAL uint64_t next_pick(uint64_t x)
{
    return x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}
"""

INTERFACE = """\
/* ---- what is called from outside; a position comes and goes as one 64-bit number a slot ---- */

EXPORTED const char *hm_fingerprint(void) { return FINGERPRINT; }
EXPORTED int64_t hm_position_bytes(void) { return (int64_t)sizeof(Position); }
EXPORTED int64_t hm_most_options(void) { return MOST_OPTIONS; }

static int64_t told_of(int64_t *error)
{
    memcpy(error, &trouble, sizeof trouble);
    return STOP_TROUBLE;
}

/* Reads a position; 0 if it is none. */
static int taken(Position *S, const int64_t *slots)
{
    int64_t slot = read_slots(S, slots);
    if (slot >= 0)
        trouble = (Trouble){-1, WHY_SLOT, slots[slot], slot, 0, -1};
    return slot < 0;
}

static int64_t given_back(const action_t *o, int64_t n, int64_t *options)
{
    for (int64_t i = 0; i < n; i++)
        options[i] = (int64_t)o[i];
    return n;
}

/* Runs on to the next stop: gives how many options there are, or a STOP_ number. */
EXPORTED int64_t hm_run(int64_t *slots, int64_t how, int64_t what, int64_t value, int64_t *options, int64_t *error)
{
    Position position;
    action_t o[MOST_OPTIONS + 1];
    volatile int64_t n = STOP_TROUBLE;
    if (!taken(&position, slots))
        return told_of(error);
    if (setjmp(way_out) == 0)
        n = step(&position, (int)how, what, value, o);
    write_slots(&position, slots);
    return n == STOP_TROUBLE ? told_of(error) : given_back(o, n, options);
}

/* Calls a function of the rules. */
EXPORTED int64_t hm_call(const int64_t *slots, int64_t function, const int64_t *a, int64_t *result, int64_t *error)
{
    Position position;
    if (!taken(&position, slots) || setjmp(way_out) != 0)
        return told_of(error);
    *result = call(&position, (int)function, a);
    return 0;
}

/* Lists the options of one function: gives how many there are. */
EXPORTED int64_t hm_list(const int64_t *slots, int64_t function, int64_t actor, int64_t *options, int64_t *error)
{
    Position position;
    action_t o[MOST_OPTIONS + 1];
    if (!taken(&position, slots) || setjmp(way_out) != 0)
        return told_of(error);
    return given_back(o, list(&position, (int)function, (int)actor, o), options);
}

/* Tells of a chance node: stream, row, ordinal, lowest outcome, how many. */
EXPORTED int64_t hm_chance(const int64_t *slots, int64_t node, int64_t *out, int64_t *error)
{
    Position position;
    if (!taken(&position, slots) || setjmp(way_out) != 0)
        return told_of(error);
    describe_chance(&position, (int)node, out);
    return 0;
}

/* Plays one position to its end by chance; changes the position and the generator of picks. */
EXPORTED int64_t hm_finish(int64_t *slots, int64_t place, const uint64_t *keys, uint64_t *x, int64_t *error)
{
    Position position;
    Luck luck;
    volatile int64_t decisions = STOP_TROUBLE;
    if (!taken(&position, slots))
        return told_of(error);
    memcpy(luck.keys, keys, sizeof(uint64_t) * STREAMS);
    luck.x = *x;
    luck.decisions = 0;
    luck.taste = 0;
    if (setjmp(way_out) == 0)
        decisions = play_on(&position, place, -1, &luck) ? luck.decisions : STOP_ENDLESS;
    write_slots(&position, slots);
    *x = luck.x;
    return decisions == STOP_TROUBLE ? told_of(error) : decisions;
}

static void add_up(const Position *S, int64_t decisions, int64_t *totals, int64_t *row)
{
    int64_t scores[PLAYERS], ties[PLAYERS], figures[FIGURES + 1];
    int best = 0, winners = 0;
    for (int p = 0; p < PLAYERS; p++) {
        scores[p] = score_of(S, p);
        ties[p] = tie_break_of(S, p);
        if (scores[p] > scores[best] || (scores[p] == scores[best] && ties[p] > ties[best]))
            best = p;
    }
    for (int p = 0; p < PLAYERS; p++)
        winners += scores[p] == scores[best] && ties[p] == ties[best];
    measure(S, figures);
    totals[0] += 1;
    totals[2] += decisions;
    totals[3] += decisions * decisions;
    totals += 4;
    uint64_t who = 0;
    for (int p = 0; p < PLAYERS; p++) {
        int wins = scores[p] == scores[best] && ties[p] == ties[best];
        totals[p] += scores[p];
        totals[PLAYERS + p] += scores[p] * scores[p];
        totals[2 * PLAYERS + p * PLAYERS + winners - 1] += wins;
        who |= (uint64_t)wins << p;
    }
    totals += PLAYERS * (2 + PLAYERS);
    for (int i = 0; i < FIGURES; i++) {
        totals[i] += figures[i];
        totals[FIGURES + i] += figures[i] * figures[i];
    }
    if (row) {
        row[0] = decisions;
        row[1] = (int64_t)who;
        memcpy(row + 2, scores, sizeof scores);
        memcpy(row + 2 + PLAYERS, figures, sizeof(int64_t) * FIGURES);
    }
}

/* Plays games by chance or by taste, from the start or from a position (at `place`, or after an action there), and
   adds up. */
static int64_t play_games(uint64_t seed, int64_t first, int64_t games, const int64_t *from, int64_t place,
                          int64_t action, int check, int64_t *totals, int64_t *rows, int64_t *error, Taste *taste)
{
    Position start = INITIAL, position;
    Luck luck;
    volatile int64_t at = first;
    if (from && !taken(&start, from))
        return told_of(error);
    if (setjmp(way_out) != 0) {
        trouble.game = at;
        return told_of(error);
    }
    for (int64_t game = first; game < first + games; game++) {
        at = game;
        luck_of(&luck, mix(seed * GOLDEN + (uint64_t)game));
        luck.taste = taste;
        if (taste)
            taste->logged = 0;
        position = start;
        int over = play_on(&position, place, action, &luck);
        int64_t *row = rows ? rows + (game - first) * ROW : 0;
        if (!over) {
            totals[1] += 1;
            if (row)
                row[0] = STOP_ENDLESS;
            continue;
        }
        if (check)
            test_invariants(&position);
        add_up(&position, luck.decisions, totals, row);
        if (taste)
            learn(taste, row + 1);
    }
    return 0;
}

EXPORTED int64_t hm_play(uint64_t seed, int64_t first, int64_t games, const int64_t *from, int64_t place,
                         int64_t action, int64_t *totals, int64_t *rows, int64_t *error)
{
    return play_games(seed, first, games, from, place, action, 0, totals, rows, error, 0);
}

/* The same, and the invariants are tested at the end of each game. */
EXPORTED int64_t hm_play_checked(uint64_t seed, int64_t first, int64_t games, const int64_t *from, int64_t place,
                                 int64_t action, int64_t *totals, int64_t *rows, int64_t *error)
{
    return play_games(seed, first, games, from, place, action, 1, totals, rows, error, 0);
}

/* The same by taste, which learns from each game; rows are needed. */
EXPORTED int64_t hm_play_tasted(uint64_t seed, int64_t first, int64_t games, const int64_t *from, int64_t place,
                                int64_t action, int64_t *totals, int64_t *rows, int64_t *error, Taste *taste)
{
    return play_games(seed, first, games, from, place, action, 0, totals, rows, error, taste);
}
"""
