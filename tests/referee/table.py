"""The table of Manila: everything that lies on it, who holds what, and how money and shares change hands.

It knows no order of play; that is manila.py.  All attributes are plain numbers, words, lists and
dictionaries, so that `clone` is a copy of each and a test may set up any position by assignment.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from .board import (
    BERTHS,
    LANE,
    LEAST_SHARE_PRICE,
    LETTERS,
    LOAN,
    PIRATE_SEATS,
    REDEEMING,
    SHARES_A_WARE,
    SHARES_EACH,
    START_CASH,
    TRACK,
    TRACK_BY_FIVES,
    WARES,
)
from .readings import checked_variants, settled


class Table:
    """Holds a position: purses, shares, prices, punts, spaces and accomplices."""

    def __init__(
        self,
        players: int,
        hands: Sequence[Sequence[str]] | Sequence[str] | None = None,
        readings: dict[str, str] | None = None,
        variants: tuple[str, ...] = (),
        seed: int = 0,
    ) -> None:
        if not 3 <= players <= 5:
            raise ValueError(f"got {players} players, want 3 to 5")
        self.players = players
        self.reading = settled(readings)
        self.variants = checked_variants(variants)
        self.track = TRACK_BY_FIVES if "price-by-fives" in self.variants else TRACK
        self.accomplices_each = 4 if players == 3 else 3

        self.cash = [START_CASH] * players
        self.free = [dict.fromkeys(WARES, 0) for _ in range(players)]
        self.pledged = [dict.fromkeys(WARES, 0) for _ in range(players)]
        self.shown = [dict.fromkeys(WARES, 0) for _ in range(players)]  # free shares lying face up
        self.supply = dict.fromkeys(WARES, SHARES_A_WARE)
        self.prices = dict.fromkeys(WARES, self.track[0])
        self.master: int | None = None
        self.voyage = 0
        self._deal(hands, seed)
        self.clear_board()

    def clear_board(self) -> None:
        """Takes punts and accomplices off the board, as before every voyage."""
        self.accomplices = [self.accomplices_each] * self.players
        self.refrained = [False] * self.players
        self.lanes: list[str] = []  # the loaded wares in lane order
        self.afloat: list[str] = []  # those neither in port nor in the shipyard, in lane order
        self.at: dict[str, int] = {}  # the space of each punt afloat
        self.harbour: list[str | None] = [None] * 3  # the punts in port
        self.shipyard: list[str | None] = [None] * 3
        self.berths: dict[str, list[int | None]] = {}
        self.harbour_men: list[int | None] = [None] * 3
        self.shipyard_men: list[int | None] = [None] * 3
        self.pirates: list[int] = []  # captain first
        self.boat_seats = PIRATE_SEATS
        self.boarders: list[tuple[int, str, int]] = []  # seat, ware, berth: who came from the pirate boat
        self.captain_berth: tuple[str, int] | None = None  # where the captain has just boarded
        self.small_pilot: int | None = None
        self.large_pilot: int | None = None
        self.insurer: int | None = None
        self.captured: set[str] = set()
        self.loot = [0] * self.players  # plundered, not yet paid

    def _deal(self, hands: Sequence[Sequence[str]] | Sequence[str] | None, seed: int) -> None:
        """Gives every seat its two shares: the given ones, or random ones."""
        three = self.reading["deal-pool"] == "three-of-each"
        pool = [ware for ware in WARES for _ in range(3 if three else SHARES_A_WARE)]
        different = self.reading["starting-shares"] == "two-different"
        if hands is None:
            rng = random.Random(seed)
            while True:
                rng.shuffle(pool)
                dealt = pool[: SHARES_EACH * self.players]
                if not different or all(dealt[i] != dealt[i + 1] for i in range(0, len(dealt), 2)):
                    break
        else:
            dealt = [share for hand in hands for share in ([hand] if isinstance(hand, str) else hand)]
            if len(dealt) != SHARES_EACH * self.players:
                raise ValueError(f"got {len(dealt)} shares, want {SHARES_EACH * self.players}")
            if any(dealt.count(ware) > pool.count(ware) for ware in dealt):
                raise ValueError("more shares of a ware than are dealt from")
            if different and any(dealt[i] == dealt[i + 1] for i in range(0, len(dealt), 2)):
                raise ValueError("under two-different a seat may not start with two shares of one ware")
        for i, ware in enumerate(dealt):
            self.free[i // SHARES_EACH][ware] += 1
            self.supply[ware] -= 1

    def copy_to(self, other: Table) -> None:
        """Copies the whole position into a table whose __init__ was not run."""
        other.__dict__.update(self.__dict__)
        other.cash = self.cash[:]
        other.free = [hand.copy() for hand in self.free]
        other.pledged = [hand.copy() for hand in self.pledged]
        other.shown = [hand.copy() for hand in self.shown]
        other.supply = self.supply.copy()
        other.prices = self.prices.copy()
        other.accomplices = self.accomplices[:]
        other.refrained = self.refrained[:]
        other.lanes = self.lanes[:]
        other.afloat = self.afloat[:]
        other.at = self.at.copy()
        other.harbour = self.harbour[:]
        other.shipyard = self.shipyard[:]
        other.berths = {ware: men[:] for ware, men in self.berths.items()}
        other.harbour_men = self.harbour_men[:]
        other.shipyard_men = self.shipyard_men[:]
        other.pirates = self.pirates[:]
        other.boarders = self.boarders[:]
        other.captured = self.captured.copy()
        other.loot = self.loot[:]

    # Money and shares

    def credit(self, seat: int) -> int:
        """Gets what a seat can raise: its cash, and a loan on every free share."""
        if self.reading["loans"] == "none":
            return self.cash[seat]
        return self.cash[seat] + LOAN * sum(self.free[seat].values())

    def ceiling(self, seat: int) -> int:
        """Gets the highest bid a seat may make."""
        match self.reading["bid-ceiling"]:
            case "cash":
                return self.cash[seat]
            case "cash-and-market-value":
                return self.cash[seat] + sum(n * self.prices[ware] for ware, n in self.free[seat].items())
            case _:
                return self.credit(seat)

    def share_price(self, ware: str) -> int:
        """Gets what a share costs to buy."""
        return max(LEAST_SHARE_PRICE, self.prices[ware])

    def pledge(self, seat: int, ware: str) -> None:
        """Pledges one free share for a loan, one that lies face up first."""
        self.free[seat][ware] -= 1
        self.shown[seat][ware] = max(0, self.shown[seat][ware] - 1)
        self.pledged[seat][ware] += 1
        self.cash[seat] += LOAN

    def redeem(self, seat: int, ware: str) -> None:
        """Redeems one pledged share."""
        self.cash[seat] -= REDEEMING
        self.pledged[seat][ware] -= 1
        self.free[seat][ware] += 1
        if self.reading["redeemed-share-lies"] == "face-up":
            self.shown[seat][ware] += 1

    def seen(self, seat: int) -> dict[str, int]:
        """Gets the shares of a seat that lie face up for all to see, ware by ware."""
        face_up = self.reading["pledged-share-lies"] == "face-up"
        return {ware: self.shown[seat][ware] + (self.pledged[seat][ware] if face_up else 0) for ware in WARES}

    def fortunes(self) -> list[int]:
        """Gets what every seat is worth at the present prices."""
        return [self._fortune(seat) for seat in range(self.players)]

    def _fortune(self, seat: int) -> int:
        value = self.cash[seat] + sum(n * self.prices[ware] for ware, n in self.free[seat].items())
        if self.reading["pledged-at-end"] == "minus-fifteen":
            return value + sum(n * (self.prices[ware] - REDEEMING) for ware, n in self.pledged[seat].items())
        purse = self.cash[seat]
        pledged = [self.prices[ware] for ware, n in self.pledged[seat].items() for _ in range(n)]
        for price in sorted(pledged, reverse=True):
            if purse >= REDEEMING:
                purse -= REDEEMING
                value += price - REDEEMING
        return value

    def winners(self) -> list[int]:
        """Gets the seats that win, or would win if the game ended now."""
        fortunes = self.fortunes()
        best = [seat for seat in range(self.players) if fortunes[seat] == max(fortunes)]
        match self.reading["tie"]:
            case "most-cash":
                most = max(self.cash[seat] for seat in best)
                return [seat for seat in best if self.cash[seat] == most]
            case "later-seat":
                return best[-1:]
            case _:
                return best

    # Punts and accomplices

    def arrive(self, ware: str) -> None:
        """Moves a punt to the next harbour space."""
        self.harbour[self.harbour.index(None)] = ware
        self.afloat.remove(ware)
        del self.at[ware]

    def wreck(self, ware: str) -> None:
        """Moves a punt to the next shipyard space."""
        self.shipyard[self.shipyard.index(None)] = ware
        self.afloat.remove(ware)
        del self.at[ware]

    def on_last_space(self) -> list[str]:
        """Gets the punts that stand on the last space of the lane, in lane order."""
        return [ware for ware in self.afloat if self.at[ware] == LANE]

    def vacant_berths(self, ware: str, any_berth: bool) -> list[int]:
        """Gets the berths of a punt that may be taken: the cheapest vacant one, or any."""
        vacant = [i for i, man in enumerate(self.berths[ware]) if man is None]
        return vacant if any_berth else vacant[:1]

    def punts(self) -> dict[str, int | str]:
        """Gets where each loaded punt is: its space, or `harbour A`, or `shipyard A`."""
        places: dict[str, int | str] = dict.fromkeys(self.lanes, 0)
        places.update(self.at)
        for i, letter in enumerate(LETTERS):
            for name, row in (("harbour", self.harbour), ("shipyard", self.shipyard)):
                ware = row[i]
                if ware is not None:
                    places[ware] = f"{name} {letter}"
        return places

    def occupied(self) -> dict[str, int]:
        """Gets the seat on every occupied space: `jade berth 1`, `harbour A`, `pirate boat 1` …"""
        everything: dict[str, int | None] = {}
        for ware in self.lanes:
            for i, man in enumerate(self.berths[ware]):
                everything[f"{ware} berth {i + 1}"] = man
        for i, letter in enumerate(LETTERS):
            everything[f"harbour {letter}"] = self.harbour_men[i]
            everything[f"shipyard {letter}"] = self.shipyard_men[i]
        for i, pirate in enumerate(self.pirates):
            everything[f"pirate boat {i + 1}"] = pirate
        everything["small pilot"] = self.small_pilot
        everything["large pilot"] = self.large_pilot
        everything["insurance"] = self.insurer
        return {space: man for space, man in everything.items() if man is not None}

    def new_berths(self) -> None:
        """Puts empty berths on the loaded punts."""
        self.berths = {ware: [None] * len(BERTHS[ware]) for ware in self.lanes}
