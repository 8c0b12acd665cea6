"""The game of play.rules in plain Python, as one would write it for speed."""

from __future__ import annotations

from harbourmaster.interpreter.chance import MASK, mix, stream_key
from harbourmaster.interpreter.playout import policy_start, seed_of_game

PRICE = (1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 5, 4, 3, 2, 4, 3, 2, 2, 1)
PROFIT = (18, 24, 36)
PAYS = (6, 8, 15)
SPACES, FISH = 20, 20


def play(seed: int) -> tuple[list[int], int, int]:
    """Plays one game: gets each player's money, decisions, options offered."""
    x, key, row = policy_start(seed), stream_key(seed, "die"), 0
    cash = [30] * 4
    leader = decisions = offered = 0
    for _ in range(5):
        holder = [-1] * SPACES
        sailed = [0, 0, 0]
        for _ in range(3):
            for i in range(4):
                p = (leader + i) & 3
                money = cash[p]
                options = [s for s in range(SPACES) if holder[s] < 0 and PRICE[s] <= money]
                n = len(options) + 2
                x = (x * 6364136223846793005 + 1442695040888963407) & MASK
                k = (x >> 32) * n >> 32
                decisions += 1
                offered += n
                if k < n - 2:
                    s = options[k]
                    cash[p] -= PRICE[s]
                    holder[s] = p
                elif k == n - 2:
                    cash[p] += 2
            for h in range(3):
                at = key + (row + 1) * 0xD1342543DE82EF95 + (h + 1) * 0x2545F4914F6CDD1D
                sailed[h] += 1 + (mix(at & MASK) * 6 >> 64)
            row += 1
        pay_out(cash, holder, sailed)
        leader = (leader + 1) & 3
    return cash, decisions, offered


def pay_out(cash: list[int], holder: list[int], sailed: list[int]) -> None:
    """Pays all who stand where something is paid."""
    arrived = 0
    for h in range(3):
        if sailed[h] < 11:
            continue
        arrived += 1
        crew = [p for p in holder[4 * h : 4 * h + 4] if p >= 0]
        for p in crew:
            cash[p] += PROFIT[h] // len(crew)
    for first, many in ((12, arrived), (15, 3 - arrived)):
        for k in range(many):
            if holder[first + k] >= 0:
                cash[holder[first + k]] += PAYS[k]
    if holder[18] >= 0:
        cash[holder[18]] += 3
    if holder[19] >= 0:
        cash[holder[19]] += 10 - 6 * (3 - arrived)


def play_many(games: int, seed: int) -> tuple[int, int, list[int]]:
    """Plays games: decisions, options offered, each player's money over all."""
    money, decisions, offered = [0] * 4, 0, 0
    for number in range(games):
        cash, d, o = play(seed_of_game(seed, number))
        decisions += d
        offered += o
        for p in range(4):
            money[p] += cash[p]
    return decisions, offered, money
