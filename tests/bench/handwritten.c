/* Manila, base rules, four players, no voluntary loans, random play: written by hand in plain C, as the measure of what
   the compiled rules reach. Written from tests/referee/manila.py. Usage: handwritten GAMES SEED */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PLAYERS = 4, WARES = 4, LANE = 13, TOP = 5, LOAN = 12, REDEEM = 15, NOBODY = -1 };
enum { ASHORE, AFLOAT, IN_PORT, IN_YARD };

static const int8_t BERTHS[WARES] = {3, 3, 3, 4};
static const int8_t FARE[WARES][4] = {{1, 2, 3, 0}, {2, 3, 4, 0}, {3, 4, 5, 0}, {3, 4, 5, 5}};
static const int8_t PROFIT[WARES] = {18, 24, 30, 36};
static const int8_t SPACE_PRICE[3] = {4, 3, 2}, SPACE_PAYS[3] = {6, 8, 15};
static const int8_t PILOT_PRICE[2] = {2, 5};
static const int8_t TRACK[6] = {0, 0, 5, 10, 20, 30};
static const int8_t LOADS[4][3] = {{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}};

typedef struct {
    int cash[PLAYERS];
    int8_t hand[PLAYERS][WARES], shown[PLAYERS][WARES], pledged[PLAYERS][WARES], free_shares[PLAYERS];
    int8_t accomplices[PLAYERS], refrained[PLAYERS];
    int8_t supply[WARES], step[WARES], lies[WARES], space[WARES], plundered[WARES];
    int8_t aboard[WARES][4], seated[WARES];
    int8_t fleet[3], in_harbour[3], in_yard[3], at_harbour[3], at_yard[3];
    int8_t crew[2], pirates, pilot[2], insurer, master;
    int voyages;
} Game;

static uint64_t x, decisions;
static int8_t starts[25][3];

static inline int below(int n)
{
    x = x * 6364136223846793005u + 1442695040888963407u;
    return (int)((x >> 32) * (uint64_t)n >> 32);
}

/* Picks one of n options; a single one is no decision. */
static inline int pick(int n)
{
    if (n == 1)
        return 0;
    decisions++;
    return below(n);
}

static inline int credit(const Game *g, int p) { return g->cash[p] + LOAN * g->free_shares[p]; }

static void pledge(Game *g, int p)
{
    int option[WARES], n = 0;
    for (int w = 0; w < WARES; w++)
        if (g->hand[p][w] + g->shown[p][w] > 0)
            option[n++] = w;
    int w = option[pick(n)];
    if (g->shown[p][w] > 0)
        g->shown[p][w]--;
    else
        g->hand[p][w]--;
    g->pledged[p][w]++;
    g->free_shares[p]--;
    g->cash[p] += LOAN;
}

static void pay(Game *g, int p, int amount)
{
    while (g->cash[p] < amount)
        pledge(g, p);
    g->cash[p] -= amount;
}

static void deal(Game *g)
{
    int8_t box[12], left = 12;
    memset(g, 0, sizeof *g);
    for (int i = 0; i < 12; i++)
        box[i] = (int8_t)(i / 3);
    for (int w = 0; w < WARES; w++) {
        g->supply[w] = 5;
        g->step[w] = 1;
    }
    for (int p = 0; p < PLAYERS; p++) {
        g->cash[p] = 30;
        g->free_shares[p] = 2;
        for (int k = 0; k < 2; k++) {
            int i = below(left);
            g->hand[p][box[i]]++;
            g->supply[box[i]]--;
            box[i] = box[--left];
        }
    }
    g->master = NOBODY;
}

static void auction(Game *g)
{
    int opener = g->master == NOBODY ? 0 : g->master, high = 0, leader = NOBODY, bidding = 15;
    for (int p = opener; bidding && bidding != (leader == NOBODY ? 0 : 1 << leader); p = (p + 1) % PLAYERS) {
        if (!(bidding >> p & 1))
            continue;
        int most = credit(g, p), bids = most > high ? most - high : 0;
        int choice = pick(bids + 1);
        if (choice == bids) {
            bidding &= ~(1 << p);
        } else {
            high += 1 + choice;
            leader = p;
        }
    }
    if (leader == NOBODY) {
        g->master = (int8_t)opener;
        return;
    }
    pay(g, leader, high);
    g->master = (int8_t)leader;
}

static void office(Game *g)
{
    int p = g->master, option[WARES], n = 0, can = credit(g, p);
    for (int w = 0; w < WARES; w++) {
        int price = TRACK[g->step[w]] > 5 ? TRACK[g->step[w]] : 5;
        if (g->supply[w] > 0 && price <= can)
            option[n++] = w;
    }
    int choice = pick(n + 1);
    if (choice < n) {
        int w = option[choice];
        pay(g, p, TRACK[g->step[w]] > 5 ? TRACK[g->step[w]] : 5);
        g->supply[w]--;
        g->shown[p][w]++;
        g->free_shares[p]++;
    }
    const int8_t *load = LOADS[pick(4)], *start = starts[pick(25)];
    for (int i = 0; i < 3; i++) {
        int w = load[i];
        g->fleet[i] = (int8_t)w;
        g->lies[w] = AFLOAT;
        g->space[w] = start[i];
    }
}

enum { BERTH = 0, HARBOUR = 4, YARD = 7, PILOT = 10, BOAT = 12, INSURANCE = 13, REFRAIN = 14 };

static void place(Game *g, int p)
{
    int spaces[16], prices[16], n = 0, cheapest = 99, can = credit(g, p);
#define SPACE(number, price) (spaces[n] = (number), prices[n] = (price), cheapest = prices[n] < cheapest ? prices[n] : cheapest, n++)
    for (int w = 0; w < WARES; w++)
        if (g->lies[w] == AFLOAT && g->seated[w] < BERTHS[w])
            SPACE(BERTH + w, FARE[w][g->seated[w]]);
    for (int i = 0; i < 3; i++)
        if (g->at_harbour[i] == NOBODY)
            SPACE(HARBOUR + i, SPACE_PRICE[i]);
    for (int i = 0; i < 3; i++)
        if (g->at_yard[i] == NOBODY)
            SPACE(YARD + i, SPACE_PRICE[i]);
    if (g->pirates < 2)
        SPACE(BOAT, 5);
    for (int i = 0; i < 2; i++)
        if (g->pilot[i] == NOBODY)
            SPACE(PILOT + i, PILOT_PRICE[i]);
    int broke = n > 0 && can < cheapest, options = n;
    if (!broke) {
        options = 0;
        for (int i = 0; i < n; i++) {
            spaces[options] = spaces[i];
            prices[options] = prices[i];
            options += prices[i] <= can;
        }
    }
    if (g->insurer == NOBODY && !broke)
        spaces[options++] = INSURANCE;
    spaces[options++] = REFRAIN;
    int k = pick(options), s = spaces[k];
    if (s == REFRAIN) {
        g->refrained[p] = 1;
        return;
    }
    g->accomplices[p]--;
    if (s == INSURANCE) {
        g->insurer = (int8_t)p;
        g->cash[p] += 10;
        return;
    }
    pay(g, p, broke ? g->cash[p] : prices[k]);
    if (s < HARBOUR)
        g->aboard[s][g->seated[s]++] = (int8_t)p;
    else if (s < YARD)
        g->at_harbour[s - HARBOUR] = (int8_t)p;
    else if (s < PILOT)
        g->at_yard[s - YARD] = (int8_t)p;
    else if (s < BOAT)
        g->pilot[s - PILOT] = (int8_t)p;
    else
        g->crew[g->pirates++] = (int8_t)p;
}

static void placing_round(Game *g)
{
    for (int i = 0, p = g->master; i < PLAYERS; i++, p = (p + 1) % PLAYERS)
        if (g->accomplices[p] && !g->refrained[p])
            place(g, p);
}

static void arrive(Game *g, int w)
{
    int i = 0;
    while (g->in_harbour[i] != NOBODY)
        i++;
    g->in_harbour[i] = (int8_t)w;
    g->lies[w] = IN_PORT;
}

static void wreck(Game *g, int w)
{
    int i = 0;
    while (g->in_yard[i] != NOBODY)
        i++;
    g->in_yard[i] = (int8_t)w;
    g->lies[w] = IN_YARD;
}

static void advance(Game *g, int w, int spaces)
{
    if (g->space[w] + spaces > LANE)
        arrive(g, w);
    else
        g->space[w] = (int8_t)(g->space[w] + spaces);
}

/* Lists the pushes of each punt by 1 or 2 spaces, then none; a push is ware * 8 + spaces + 2, a second one above. */
static void pilots(Game *g)
{
    int option[64], n = 0;
    if (g->pilot[0] != NOBODY) {
        for (int w = 0; w < WARES; w++)
            if (g->lies[w] == AFLOAT) {
                option[n++] = w * 8 + 3;
                if (g->space[w] >= 1)
                    option[n++] = w * 8 + 1;
            }
        option[n++] = -1;
        int push = option[pick(n)];
        if (push >= 0)
            advance(g, push / 8, push % 8 - 2);
    }
    if (g->pilot[1] != NOBODY) {
        n = 0;
        for (int w = 0; w < WARES; w++)
            if (g->lies[w] == AFLOAT) {
                for (int far = 1; far <= 2; far++) {
                    option[n++] = w * 8 + 2 + far;
                    if (g->space[w] >= far)
                        option[n++] = w * 8 + 2 - far;
                }
            }
        for (int i = 0; i < 3; i++)
            for (int j = i + 1; j < 3; j++) {
                int v = g->fleet[i], w = g->fleet[j];
                if (g->lies[v] == AFLOAT && g->lies[w] == AFLOAT)
                    for (int d = 1; d >= (g->space[v] >= 1 ? -1 : 1); d -= 2)
                        for (int e = 1; e >= (g->space[w] >= 1 ? -1 : 1); e -= 2)
                            option[n++] = v * 8 + d + 2 + (w * 8 + e + 2 + 1) * 64;
            }
        option[n++] = -1;
        int push = option[pick(n)];
        if (push >= 0) {
            advance(g, push % 64 / 8, push % 8 - 2);
            if (push >= 64) {
                push = push / 64 - 1;
                advance(g, push / 8, push % 8 - 2);
            }
        }
    }
}

static void roll(Game *g)
{
    int die[3];
    for (int i = 0; i < 3; i++)
        if (g->lies[g->fleet[i]] == AFLOAT)
            die[i] = 1 + below(6);
    for (int i = 0; i < 3; i++)
        if (g->lies[g->fleet[i]] == AFLOAT)
            advance(g, g->fleet[i], die[i]);
}

static void board(Game *g)
{
    int8_t stayed = 0, crew[2], all = g->pirates;
    memcpy(crew, g->crew, sizeof crew);
    for (int i = 0; i < all; i++) {
        int option[WARES], n = 0;
        for (int w = 0; w < WARES; w++)
            if (g->lies[w] == AFLOAT && g->space[w] == LANE && g->seated[w] < BERTHS[w])
                option[n++] = w;
        int k = pick(n + 1);
        if (k < n)
            g->aboard[option[k]][g->seated[option[k]]++] = crew[i];
        else
            g->crew[stayed++] = crew[i];
    }
    g->pirates = stayed;
}

static void end_of_sailing(Game *g)
{
    for (int i = 0; i < 3; i++) {
        int w = g->fleet[i];
        if (g->lies[w] != AFLOAT || g->space[w] != LANE)
            continue;
        if (!g->pirates) {
            arrive(g, w);
            continue;
        }
        g->plundered[w] = 1;
        g->seated[w] = 0;
        if (pick(2) == 0)
            arrive(g, w);
        else
            wreck(g, w);
    }
    for (int i = 0; i < 3; i++)
        if (g->lies[g->fleet[i]] == AFLOAT)
            wreck(g, g->fleet[i]);
}

static void profits(Game *g)
{
    for (int i = 0; i < 3; i++) {
        int w = g->fleet[i];
        if (g->plundered[w]) {
            for (int k = 0; k < g->pirates; k++)
                g->cash[g->crew[k]] += PROFIT[w] / g->pirates;
        } else if (g->lies[w] == IN_PORT) {
            for (int k = 0; k < g->seated[w]; k++)
                g->cash[g->aboard[w][k]] += PROFIT[w] / g->seated[w];
        }
    }
    int due = 0;
    for (int i = 0; i < 3; i++) {
        if (g->in_harbour[i] != NOBODY && g->at_harbour[i] != NOBODY)
            g->cash[g->at_harbour[i]] += SPACE_PAYS[i];
        if (g->in_yard[i] != NOBODY && g->at_yard[i] != NOBODY)
            g->cash[g->at_yard[i]] += SPACE_PAYS[i];
        if (g->in_yard[i] != NOBODY)
            due += SPACE_PAYS[i];
    }
    int p = g->insurer;
    if (p != NOBODY) {
        while (g->cash[p] < due && g->free_shares[p] > 0)
            pledge(g, p);
        g->cash[p] -= due < g->cash[p] ? due : g->cash[p];
    }
}

static void voyage(Game *g)
{
    g->voyages++;
    memset(g->plundered, 0, sizeof g->plundered);
    memset(g->seated, 0, sizeof g->seated);
    memset(g->lies, ASHORE, sizeof g->lies);
    memset(g->in_harbour, NOBODY, sizeof g->in_harbour);
    memset(g->in_yard, NOBODY, sizeof g->in_yard);
    memset(g->at_harbour, NOBODY, sizeof g->at_harbour);
    memset(g->at_yard, NOBODY, sizeof g->at_yard);
    memset(g->accomplices, 3, sizeof g->accomplices);
    memset(g->refrained, 0, sizeof g->refrained);
    g->pilot[0] = g->pilot[1] = g->insurer = NOBODY;
    g->pirates = 0;
    auction(g);
    office(g);
    for (int turn = 1; turn <= 3; turn++) {
        placing_round(g);
        if (turn == 3)
            pilots(g);
        roll(g);
        if (turn == 2)
            board(g);
    }
    end_of_sailing(g);
    profits(g);
    for (int i = 0; i < 3; i++)
        if (g->in_harbour[i] != NOBODY && g->step[g->in_harbour[i]] < TOP)
            g->step[g->in_harbour[i]]++;
}

int main(int argc, char **argv)
{
    int games = argc > 1 ? atoi(argv[1]) : 100000;
    x = argc > 2 ? (uint64_t)atoll(argv[2]) * 0x9E3779B97F4A7C15u : 1;
    for (int a = 0, n = 0; a <= 5; a++)
        for (int b = 0; b <= 5; b++)
            if (9 - a - b >= 0 && 9 - a - b <= 5) {
                starts[n][0] = (int8_t)a;
                starts[n][1] = (int8_t)b;
                starts[n++][2] = (int8_t)(9 - a - b);
            }
    long long scores = 0, voyages = 0;
    struct timespec t0, t1;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
    for (int k = 0; k < games; k++) {
        Game g;
        deal(&g);
        do
            voyage(&g);
        while (g.step[0] < TOP && g.step[1] < TOP && g.step[2] < TOP && g.step[3] < TOP);
        voyages += g.voyages;
        for (int p = 0; p < PLAYERS; p++) {
            scores += g.cash[p];
            for (int w = 0; w < WARES; w++)
                scores += (g.hand[p][w] + g.shown[p][w] + g.pledged[p][w]) * TRACK[g.step[w]] - g.pledged[p][w] * REDEEM;
        }
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
    double seconds = (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) / 1e9;
    printf("%.0f %.3f %.4f %.4f\n", games / seconds, (double)decisions / games, (double)scores / games / PLAYERS,
           (double)voyages / games);
    return 0;
}
