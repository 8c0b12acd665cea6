/* The game of play.rules by hand, as the measure of what compiled rules reach.
   -DMASKS: options are bits of a word; else they are listed. -DOWN_DICE: dice from the generator of the picks, which is
   cheaper but another game; else from the addressed stream that all the others use, so that all play the same games.
   Usage: placement GAMES SEED; prints seconds, decisions, options offered, and each player's money over all games. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PLAYERS = 4, SPACES = 20, SHIPS = 3, VOYAGES = 5, ROUNDS = 3, STEPS = 11, FISH = SPACES, WAIT };

static const int8_t PRICE[SPACES] = {1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 5, 4, 3, 2, 4, 3, 2, 2, 1};
static const int8_t PROFIT[SHIPS] = {18, 24, 36}, PAYS[3] = {6, 8, 15};

static uint64_t x;
#ifndef OWN_DICE
static uint64_t key, row;
#endif
static int64_t decisions, offered;

typedef struct {
    int32_t cash[PLAYERS];
    int8_t holder[SPACES]; /* -1: nobody */
    int8_t sailed[SHIPS];
    uint32_t vacant;
} Game;

static inline uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static uint64_t hash_of(const char *name)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * UINT64_C(0x100000001B3);
    return h;
}

static inline int below(int n)
{
    x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((x >> 32) * (uint64_t)n >> 32);
}

static inline int die(int ordinal)
{
#ifdef OWN_DICE
    (void)ordinal;
    return 1 + below(6);
#else
    uint64_t at = key + (row + 1) * UINT64_C(0xD1342543DE82EF95) + (uint64_t)(ordinal + 1) * UINT64_C(0x2545F4914F6CDD1D);
    return 1 + (int)((unsigned __int128)mix(at) * 6 >> 64);
#endif
}

#ifdef MASKS
/* The spaces that cost at most so much: by the money, up to the dearest. */
static const uint32_t AFFORDABLE[6] = {
    0, 1 << 0 | 1 << 19, 1 << 0 | 1 << 19 | 1 << 1 | 1 << 4 | 1 << 14 | 1 << 17 | 1 << 18,
    1 << 0 | 1 << 19 | 1 << 1 | 1 << 4 | 1 << 14 | 1 << 17 | 1 << 18 | 1 << 2 | 1 << 5 | 1 << 8 | 1 << 13 | 1 << 16,
    0xFFFFF & ~(1 << 7 | 1 << 10 | 1 << 11), 0xFFFFF};

static inline int choose(const Game *g, int p)
{
    int32_t cash = g->cash[p];
    uint32_t options = g->vacant & AFFORDABLE[cash < 0 ? 0 : cash < 5 ? cash : 5];
    int n = __builtin_popcount(options) + 2, k = below(n);
    offered += n;
    if (k >= n - 2)
        return FISH + k - (n - 2);
    while (k--)
        options &= options - 1;
    return __builtin_ctz(options);
}
#else
static inline int choose(const Game *g, int p)
{
    int8_t option[SPACES + 2];
    int n = 0;
    for (int s = 0; s < SPACES; s++)
        if (g->holder[s] < 0 && PRICE[s] <= g->cash[p])
            option[n++] = (int8_t)s;
    option[n++] = FISH;
    option[n++] = WAIT;
    offered += n;
    return option[below(n)];
}
#endif

static void pay_out(Game *g)
{
    int arrived = 0;
    for (int h = 0; h < SHIPS; h++) {
        if (g->sailed[h] < STEPS)
            continue;
        arrived++;
        int crew = 0;
        for (int b = 4 * h; b < 4 * h + 4; b++)
            crew += g->holder[b] >= 0;
        if (crew == 0)
            continue;
        int share = PROFIT[h] / crew;
        for (int b = 4 * h; b < 4 * h + 4; b++)
            if (g->holder[b] >= 0)
                g->cash[g->holder[b]] += share;
    }
    for (int k = 0; k < arrived; k++)
        if (g->holder[12 + k] >= 0)
            g->cash[g->holder[12 + k]] += PAYS[k];
    for (int k = 0; k < SHIPS - arrived; k++)
        if (g->holder[15 + k] >= 0)
            g->cash[g->holder[15 + k]] += PAYS[k];
    if (g->holder[18] >= 0)
        g->cash[g->holder[18]] += 3;
    if (g->holder[19] >= 0)
        g->cash[g->holder[19]] += 10 - 6 * (SHIPS - arrived);
}

static void play(Game *g)
{
    int leader = 0;
    for (int p = 0; p < PLAYERS; p++)
        g->cash[p] = 30;
    for (int voyage = 0; voyage < VOYAGES; voyage++) {
        memset(g->holder, -1, sizeof g->holder);
        memset(g->sailed, 0, sizeof g->sailed);
        g->vacant = 0xFFFFF;
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < PLAYERS; i++) {
                int p = (leader + i) & 3, s = choose(g, p);
                decisions++;
                if (s < SPACES) {
                    g->cash[p] -= PRICE[s];
                    g->holder[s] = (int8_t)p;
                    g->vacant &= ~(1u << s);
                } else if (s == FISH)
                    g->cash[p] += 2;
            }
            for (int h = 0; h < SHIPS; h++)
                g->sailed[h] += die(h);
#ifndef OWN_DICE
            row++;
#endif
        }
        pay_out(g);
        leader = (leader + 1) & 3;
    }
}

int main(int argc, char **argv)
{
    int64_t games = argc > 1 ? atoll(argv[1]) : 100000, money[PLAYERS] = {0};
    uint64_t seed = argc > 2 ? strtoull(argv[2], 0, 10) : 5, policy = hash_of("policy"), dice = hash_of("die");
    const uint64_t golden = UINT64_C(0x9E3779B97F4A7C15);
    struct timespec a, b;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    for (int64_t i = 0; i < games; i++) {
        Game g;
        uint64_t own = mix(seed * golden + (uint64_t)i);
        x = mix(own * golden + policy);
#ifndef OWN_DICE
        key = mix(own * golden + dice);
        row = 0;
#else
        (void)dice;
#endif
        play(&g);
        for (int p = 0; p < PLAYERS; p++)
            money[p] += g.cash[p];
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    double seconds = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
    printf("%.9f %lld %lld %lld %lld %lld %lld\n", seconds, (long long)decisions, (long long)offered,
           (long long)money[0], (long long)money[1], (long long)money[2], (long long)money[3]);
    return 0;
}
