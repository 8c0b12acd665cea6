"""Counts decision sequences and prints them beside the expected counts of manila.md section 2.

python -m tests.referee.perft [--divide]
"""

from __future__ import annotations

import sys

from .manila import Referee

HANDS = ("nutmeg", "silk", "silk", "jade", "ginseng", "ginseng", "jade", "nutmeg")
ROLLS = ((3, 4, 2), (5, 1, 6), (2, 2, 4))
OPENING = "bid 3, pass, pass, buy jade, load nutmeg silk jade, start 5 3 1"
OPENING_OF_FOUR = "bid 3, pass, pass, pass, no share, load nutmeg ginseng jade, start 4 0 5"
B = (
    OPENING
    + ", pirate boat, pirate boat, small pilot, nutmeg berth, large pilot, nutmeg berth"
    + ", harbour A, shipyard A, insurance"
)
PILOTS = B + ", stay, stay, refrain, refrain, refrain"

COUNTS: tuple[tuple[str, int, str, bool, tuple[int, ...]], ...] = (
    ("start", 3, "", True, (57, 1763, 37624)),
    ("start", 3, "", False, (55, 1541, 29321)),
    ("opening", 3, OPENING, True, (17, 266, 3798, 56120)),
    ("opening", 3, OPENING, False, (14, 187, 2383, 29019)),
    ("opening of four", 4, OPENING_OF_FOUR, False, (14, 187, 2383, 28974)),
    ("B", 3, B, False, (2, 10, 75)),
    ("B", 3, B, True, (5, 30, 228)),
    ("pilots", 3, PILOTS, False, (7, 163, 7366)),
    ("pilots", 3, PILOTS, True, (8, 186, 8402)),
)


def position(players: int, moves: str, offers: bool) -> Referee:
    """Gets the position after some options, given in words with commas between."""
    referee = Referee(players, HANDS[: 2 * players], ROLLS, None, (), offers)
    for move in filter(None, moves.split(", ")):
        referee.apply(move)
    return referee


def perft(referee: Referee, depth: int) -> int:
    """Counts the sequences of so many decisions."""
    if depth == 1:
        return len(referee.options())
    total = 0
    for option in referee.options():
        after = referee.clone()
        after.apply(option)
        total += perft(after, depth - 1)
    return total


def divide(referee: Referee, depth: int) -> dict[str, int]:
    """Counts the sequences under each option."""
    counts = {}
    for option in referee.options():
        after = referee.clone()
        after.apply(option)
        counts[option] = perft(after, depth - 1) if depth > 1 else 1
    return counts


def main() -> int:
    """Prints the table; fails when a count differs."""
    wrong = 0
    print(f"{'position':<16} {'players':>7} {'offers':>6} {'depth':>5} {'count':>8} {'expected':>8}")
    for name, players, moves, offers, expected in COUNTS:
        for depth, want in enumerate(expected, 1):
            referee = position(players, moves, offers)
            got = perft(referee, depth)
            wrong += got != want
            mark = "" if got == want else "  <-- differs"
            loans = "yes" if offers else "no"
            print(f"{name:<16} {players:>7} {loans:>6} {depth:>5} {got:>8} {want:>8}{mark}")
            if got != want and "--divide" in sys.argv:
                print(divide(referee, depth))
    print("all counts match" if not wrong else f"{wrong} counts differ")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
