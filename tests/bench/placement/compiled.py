"""The game of play.rules compiled by numba."""
# mypy: disable-error-code="no-untyped-def,misc,no-untyped-call"

from __future__ import annotations

import numba
import numpy as np
from harbourmaster.interpreter.chance import name_hash

from .plain import PAYS, PRICE, PROFIT

_PRICE = np.array(PRICE, dtype=np.int8)
_PROFIT = np.array(PROFIT, dtype=np.int64)
_PAYS = np.array(PAYS, dtype=np.int64)
_POLICY, _DIE = np.uint64(name_hash("policy")), np.uint64(name_hash("die"))
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_A, _B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_ROW, _PLACE = np.uint64(0xD1342543DE82EF95), np.uint64(0x2545F4914F6CDD1D)
_MULTIPLIER, _INCREMENT = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
_1, _6, _27, _30, _31, _32 = (np.uint64(n) for n in (1, 6, 27, 30, 31, 32))
_LOW = np.uint64(0xFFFFFFFF)


@numba.njit(inline="always")
def _mix(x):
    x = (x ^ (x >> _30)) * _A
    x = (x ^ (x >> _27)) * _B
    return x ^ (x >> _31)


@numba.njit(inline="always")
def _die(at):
    """Gets bits * 6 >> 64 without 128-bit numbers."""
    bits = _mix(at)
    return np.int64(((bits >> _32) * _6 + ((bits & _LOW) * _6 >> _32)) >> _32) + 1


@numba.njit
def _pay_out(cash, holder, sailed):
    arrived = 0
    for h in range(3):
        if sailed[h] < 11:
            continue
        arrived += 1
        crew = 0
        for b in range(4 * h, 4 * h + 4):
            crew += holder[b] >= 0
        if crew == 0:
            continue
        share = _PROFIT[h] // crew
        for b in range(4 * h, 4 * h + 4):
            if holder[b] >= 0:
                cash[holder[b]] += share
    for k in range(arrived):
        if holder[12 + k] >= 0:
            cash[holder[12 + k]] += _PAYS[k]
    for k in range(3 - arrived):
        if holder[15 + k] >= 0:
            cash[holder[15 + k]] += _PAYS[k]
    if holder[18] >= 0:
        cash[holder[18]] += 3
    if holder[19] >= 0:
        cash[holder[19]] += 10 - 6 * (3 - arrived)


@numba.njit
def play_many(games, seed):
    """Plays games: decisions, options offered, each player's money over all."""
    money = np.zeros(4, np.int64)
    cash = np.zeros(4, np.int64)
    holder = np.zeros(20, np.int8)
    sailed = np.zeros(3, np.int64)
    options = np.zeros(22, np.int8)
    decisions = offered = 0
    for number in range(games):
        own = _mix(np.uint64(seed) * _GOLDEN + np.uint64(number))
        x, key, row = _mix(own * _GOLDEN + _POLICY), _mix(own * _GOLDEN + _DIE), np.uint64(1)
        cash[:] = 30
        leader = 0
        for _ in range(5):
            holder[:] = -1
            sailed[:] = 0
            for _ in range(3):
                for i in range(4):
                    p = (leader + i) & 3
                    n = 0
                    for s in range(20):
                        if holder[s] < 0 and _PRICE[s] <= cash[p]:
                            options[n] = s
                            n += 1
                    options[n] = 20
                    options[n + 1] = 21
                    n += 2
                    x = x * _MULTIPLIER + _INCREMENT
                    s = options[np.int64((x >> _32) * np.uint64(n) >> _32)]
                    decisions += 1
                    offered += n
                    if s < 20:
                        cash[p] -= _PRICE[s]
                        holder[s] = p
                    elif s == 20:
                        cash[p] += 2
                for h in range(3):
                    sailed[h] += _die(key + row * _ROW + np.uint64(h + 1) * _PLACE)
                row += _1
            _pay_out(cash, holder, sailed)
            leader = (leader + 1) & 3
        money += cash
    return decisions, offered, money
