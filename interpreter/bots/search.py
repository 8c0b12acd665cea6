"""Which option looks best, by rollouts: all options alike, or by sequential halving.

Sequential halving (Karnin, Koren and Somekh, ICML 2013) splits the budget into about log2(options) rounds. In each, all
options that are left are tried alike, in the same positions and with the same chance; then the worse half is dropped.
Where there are more options than can be tried a few times each, as of bids or free numbers, some of them, taken by
chance, stand for all.
"""

from __future__ import annotations

from math import ceil, log2

from ..playout import Random
from .particles import in_any_order
from .thinker import Choice, Thinker

_MOST_AT_ONCE = 16
_LEAST, _TRIALS = 8, 4
"""How many options are tried at least, and how many rollouts there should be for each of more."""
_TURNS_A_ROUND = 6
"""Into how many turns through all options a round is split, at least, where there is time for it."""


def one_ply(thinker: Thinker, choices: list[Choice], each: int) -> Choice:
    """Tries every option with as many rollouts, and gets the best."""
    turns = max(1, min(8, each // 4))
    done = 0
    for turn in range(turns):
        games = (each * (turn + 1)) // turns - done
        done += games
        position = thinker.position(turn)
        for choice in choices:
            if turn and thinker.meter.stop():
                break
            thinker.try_out(choice, position, turn, games)
        thinker.settle_scale(choices)
    return best_of(choices)


def halving(thinker: Thinker, choices: list[Choice], numbers: Random) -> Choice:
    """Gets the best option by sequential halving."""
    return best_of(narrow(thinker, choices, numbers, to=1, share=1.0))


def narrow(
    thinker: Thinker, choices: list[Choice], numbers: Random, *, to: int, share: float
) -> list[Choice]:
    """Halves the options down to so many with a share of the budget; gets those that are left."""
    meter = thinker.meter
    left = [choices[i] for i in in_any_order(len(choices), numbers)]
    rounds = max(1, ceil(log2(len(left) / to)))
    turn, games = 0, 1
    for number in range(rounds):
        limit = share * (number + 1) / rounds
        while True:
            before = meter.share()
            games = min(games, max(1, meter.left() // len(left)))
            done = _turn(thinker, left, turn, games, share)
            if not done:
                return left
            turn += 1
            spent = meter.share()
            if spent >= limit:
                break
            cost = max((spent - before) / games, 1e-9)
            games = max(1, min(_MOST_AT_ONCE, int((limit - spent) / cost / _TURNS_A_ROUND)))
        thinker.settle_scale(choices)
        left = sorted(left, key=lambda c: -c.mean)[: max(to, ceil(len(left) / 2))]
    return left


def _turn(thinker: Thinker, choices: list[Choice], turn: int, games: int, share: float) -> bool:
    """Tries every option in one position; False when the budget ended in the middle.

    In the first turn the options are dropped for which there would be too few rollouts.
    """
    position = thinker.position(turn)
    before = thinker.meter.share()  # dealing the first position may have taken long
    for n, choice in enumerate(choices):
        spent = thinker.meter.share()
        if (turn or n) and spent >= 1:
            thinker.settle_scale(choices)
            return False
        if turn == 0 and n >= _LEAST and (spent - before) * _TRIALS >= share - before:
            del choices[n:]
            break
        thinker.try_out(choice, position, turn, games)
    if turn >= 1:
        thinker.settle_scale(choices)
    return True


def best_of(choices: list[Choice]) -> Choice:
    """Gets the option with the best mean; the first of equals."""
    return max(choices, key=lambda c: c.mean)
