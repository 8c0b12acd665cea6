"""The order of play of Manila, as manila.md section 2 tells it, every reading and variant of section 3.

What is still to happen lies on an agenda, a stack of tasks `(kind, seat, number)`.  `_run` takes the
topmost: an automatic one is done, a decision stops the run and waits for `apply`.  A decision with a
single option of its own (standing offers not counted) is taken without asking.

Decisions of one seat: `who()` is that seat.  Open outcry is open to anybody: `who()` is OPEN and each
option names its seat, `seat 2: bid 7`, beside `silence`.  Sealed bids are asked seat by seat, clockwise
from the opener, and stay in `sealed` until the last is in.  Under loans=any-time the standing offers
of the other seats stand in every decision as `seat 2: pledge silk`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import ClassVar

from .board import (
    BERTHS,
    INSURANCE_PAYS,
    LANE,
    LARGE_PILOT_PRICE,
    LETTERS,
    LOAN,
    PIRATE_PRICE,
    PROFIT,
    REDEEMING,
    SMALL_PILOT_PRICE,
    SPACE_PAYS,
    SPACE_PRICES,
    START_SUM,
    START_UP_TO,
    WARES,
)
from .table import Table

Task = tuple[str, int, int]
DiceSource = Callable[[int, int, int], int] | Sequence[Sequence[int]]

OPEN = -1
ROLLS = 3


class Referee(Table):
    """Plays one game of Manila: tells who decides between which options, and applies the choice."""

    def __init__(
        self,
        players: int,
        hands: Sequence[Sequence[str]] | Sequence[str] | None = None,
        dice: DiceSource = ((3, 4, 2), (5, 1, 6), (2, 2, 4)),
        readings: dict[str, str] | None = None,
        variants: tuple[str, ...] = (),
        offers: bool = True,
        seed: int = 0,
    ) -> None:
        """Deals and runs to the first decision.

        `hands` are the dealt shares, seat 1's first and second, then seat 2's …, flat or a list a
        seat; None deals at random from `seed`.  `dice(voyage, roll, die)` counts all three from 1;
        the dice of a roll go to the punts afloat in lane order, so that with the first punt in port
        the second takes die 1.  A list holds the three rolls of every voyage.  `offers` False leaves
        out the standing offers to pledge and to redeem (forced pledges remain).
        """
        super().__init__(players, hands, readings, variants, seed)
        self.dice = dice
        self.offers = offers and self.reading["loans"] != "none"
        self.finished = False
        self.high = 0
        self.leader: int | None = None
        self.bidding = [True] * players
        self.sealed = [0] * players
        self.agenda: list[Task] = [("voyage", 0, 0)]
        self.task: Task = ("over", OPEN, 0)
        self._own: list[str] = []
        self._all: list[str] | None = None
        self._run()

    # The interface

    def over(self) -> bool:
        """Tests if the game has ended."""
        return self.finished

    def who(self) -> int:
        """Gets the seat that decides, from 0; OPEN when anybody may act or the game is over."""
        return self.task[1]

    def options(self) -> list[str]:
        """Gets the options of the present decision in words; none when the game is over."""
        if self._all is None:
            self._all = self._own + self._standing()
        return self._all

    def apply(self, option: str) -> None:
        """Applies one of the options and runs to the next decision; raises ValueError for any other.

        `load` takes its three wares in any order: that order is the lane order.
        """
        if option not in self.options() and not self._reordered_load(option):
            raise ValueError(f"got {option!r}, want one of {self.options()}")
        task, seat, words = self.task, self.task[1], option.split()
        if words[0] == "seat":
            seat, words = int(words[1].rstrip(":")) - 1, words[2:]
        if words[0] in ("pledge", "redeem") and task[0] != "forced":
            if words[0] == "pledge":
                self.pledge(seat, words[1])
            else:
                self.redeem(seat, words[1])
            self.agenda.append(task)  # the same decision is asked again
        else:
            self._take((task[0], seat, task[2]), words)
        self._run()

    def clone(self) -> Referee:
        """Gets an independent copy, with the same source of dice."""
        other = Referee.__new__(Referee)
        self.copy_to(other)
        other.bidding = self.bidding[:]
        other.sealed = self.sealed[:]
        other.agenda = self.agenda[:]
        return other

    # The agenda

    def _plan(self, *tasks: Task) -> None:
        """Puts tasks before all others, to be done in the order given."""
        self.agenda.extend(reversed(tasks))

    def _run(self) -> None:
        """Does automatic tasks and single-option decisions until a real decision or the end."""
        self._all = None
        while self.agenda:
            task = self.agenda.pop()
            if task[0] in self._AUTOMATIC:
                self._AUTOMATIC[task[0]](self, task[1], task[2])
                continue
            own = self._OPTIONS[task[0]](self, task[1], task[2])
            if len(own) == 1:
                words = own[0].split()
                self._take(task, words)
            elif own:
                self.task, self._own = task, own
                return
        self.finished = True
        self.task, self._own = ("over", OPEN, 0), []

    def _take(self, task: Task, words: list[str]) -> None:
        """Carries out one option of a decision."""
        self._MOVES[task[0]](self, task[1], task[2], words)

    def _standing(self) -> list[str]:
        """Gets the standing offers that join the present decision."""
        kind, decider, _ = self.task
        if not self.offers or kind in ("forced", "over"):
            return []
        offers = []
        for seat in range(self.players):
            if seat != decider and decider != OPEN and self.reading["loans"] != "any-time":
                continue
            prefix = "" if seat == decider else f"seat {seat + 1}: "
            if self.reading["loans"] != "forced-only":
                offers += [f"{prefix}pledge {ware}" for ware in WARES if self.free[seat][ware]]
            if self.cash[seat] >= REDEEMING and self._may_redeem(seat):
                offers += [f"{prefix}redeem {ware}" for ware in WARES if self.pledged[seat][ware]]
        return offers

    def _may_redeem(self, seat: int) -> bool:
        """Tests if redeeming leaves enough for a bid that stands in the present auction."""
        if self.task[0] not in ("bid", "outcry", "sealed"):
            return True
        standing = max(self.high if seat == self.leader else 0, self.sealed[seat])
        return self.credit(seat) - (REDEEMING - LOAN) >= standing

    def _clockwise(self, first: int) -> list[int]:
        return [(first + i) % self.players for i in range(self.players)]

    def _pay(self, seat: int, amount: int) -> None:
        """Pays the bank, after asking which shares to pledge; what cannot be raised the bank bears."""
        if self.cash[seat] < amount and self.credit(seat) > self.cash[seat]:
            self._plan(("forced", seat, amount))
        else:
            self.cash[seat] -= min(amount, self.cash[seat])

    def _forced_options(self, seat: int, _: int) -> list[str]:
        return [f"pledge {ware}" for ware in WARES if self.free[seat][ware]]

    def _forced_move(self, seat: int, amount: int, words: list[str]) -> None:
        self.pledge(seat, words[1])
        self._pay(seat, amount)

    # Steps 1 and 2: a voyage begins with the auction

    def _voyage(self, *_: int) -> None:
        self.voyage += 1
        self.clear_board()
        self.high, self.leader = 0, None
        self.bidding = [True] * self.players
        self.sealed = [0] * self.players
        opener = self.opener
        if "open-outcry" in self.variants:
            auction: list[Task] = [("outcry", OPEN, 0)]
        elif "sealed-bids" in self.variants:
            auction = [("sealed", seat, 0) for seat in self._clockwise(opener)] + [("unseal", 0, 0)]
        else:
            auction = [("auction", opener, 0)]
        rounds: list[Task] = [("round", 0, 0), ("roll", 0, 1)]
        late = self.reading["extra-placing-of-three"] == "before-roll-2"
        if self.players == 3:
            rounds.insert(2 if late else 0, ("round", 0, 0))
        rounds += [("round", 0, 0), ("roll", 0, 2)]
        last: list[Task] = [("round", 0, 0), ("pilots", 0, 0)]
        if self.reading["pilot-time"] == "before-last-placing":
            last.reverse()
        self._plan(
            *auction,
            ("office", 0, 0),
            *rounds,
            *last,
            ("roll", 0, 3),
            ("thirteens", 0, 0),
            ("wrecks", 0, 0),
            ("profits", 0, 0),
            ("rises", 0, 0),
        )

    @property
    def opener(self) -> int:
        """Gets who opens the bidding: the last harbour master, or seat 1 at first."""
        return 0 if self.master is None else self.master

    def _auction(self, seat: int, _: int) -> None:
        """Asks the next bidder, or ends the auction."""
        bidders = self.bidding.count(True)
        if bidders == 0 or (bidders == 1 and self.leader is not None):
            self._settle_auction()
        elif bidders == 1 and self.reading["last-silent-bidder"] == "wins-free":
            self.master = self.bidding.index(True)
        else:
            while not self.bidding[seat]:
                seat = (seat + 1) % self.players
            self._plan(("bid", seat, 0), ("auction", (seat + 1) % self.players, 0))

    def _settle_auction(self) -> None:
        """Gives the office to the highest bidder, or to the opener when nobody has bid."""
        if self.leader is not None:
            self.master = self.leader
            self._pay(self.leader, self.high)
            return
        first = self.master is None
        self.master = self.opener
        if first and self.reading["first-all-pass"] == "opener-must-bid-one":
            self._pay(self.master, 1)

    def _bid_options(self, seat: int, _: int) -> list[str]:
        return ["pass"] + [f"bid {n}" for n in range(self.high + 1, self.ceiling(seat) + 1)]

    def _bid_move(self, seat: int, _: int, words: list[str]) -> None:
        if words[0] == "pass":
            self.bidding[seat] = False
        else:
            self.high, self.leader = int(words[1]), seat

    def _outcry_options(self, *_: int) -> list[str]:
        return ["silence"] + [
            f"seat {seat + 1}: bid {n}"
            for seat in range(self.players)
            if seat != self.leader
            for n in range(self.high + 1, self.ceiling(seat) + 1)
        ]

    def _outcry_move(self, seat: int, _: int, words: list[str]) -> None:
        if words[0] == "silence":
            self._settle_auction()
        else:
            self.high, self.leader = int(words[1]), seat
            self._plan(("outcry", OPEN, 0))

    def _sealed_options(self, seat: int, _: int) -> list[str]:
        return ["pass"] + [f"bid {n}" for n in range(1, self.ceiling(seat) + 1)]

    def _sealed_move(self, seat: int, _: int, words: list[str]) -> None:
        self.sealed[seat] = int(words[1]) if words[0] == "bid" else 0

    def _unseal(self, *_: int) -> None:
        """Opens all bids: the highest wins, a tie goes clockwise from the last harbour master."""
        self.high = max(self.sealed)
        if self.high:
            self.leader = next(s for s in self._clockwise(self.opener) if self.sealed[s] == self.high)
        self._settle_auction()

    # Step 3: the office

    def _office(self, *_: int) -> None:
        seat = self._harbour_master()
        self._plan(("buy", seat, 0), ("load", seat, 0), ("start", seat, 0))

    def _harbour_master(self) -> int:
        assert self.master is not None
        return self.master

    def _buy_options(self, seat: int, _: int) -> list[str]:
        credit = self.credit(seat)
        wares = [ware for ware in WARES if self.supply[ware] and self.share_price(ware) <= credit]
        return [f"buy {ware}" for ware in wares] + ["no share"]

    def _buy_move(self, seat: int, _: int, words: list[str]) -> None:
        if words[0] == "no":
            return
        ware = words[1]
        price = self.share_price(ware)
        if self.cash[seat] < price:  # the share comes only when it is paid: it cannot pay for itself
            self._plan(("receive", seat, WARES.index(ware)))
            self._pay(seat, price)
        else:
            self.cash[seat] -= price
            self._receive(seat, WARES.index(ware))

    def _receive(self, seat: int, index: int) -> None:
        self.supply[WARES[index]] -= 1
        self.free[seat][WARES[index]] += 1

    def _load_options(self, *_: int) -> list[str]:
        return LOADS

    def _reordered_load(self, option: str) -> bool:
        """Tests if the option is one of the loads with its wares in another order."""
        words = option.split()
        known = len(words) == 4 and words[0] == "load" and set(words[1:]) <= set(WARES)
        return known and self.task[0] == "load" and len(set(words)) == 4

    def _load_move(self, _: int, __: int, words: list[str]) -> None:
        self.lanes = words[1:]
        self.afloat = words[1:]
        self.new_berths()

    def _start_options(self, *_: int) -> list[str]:
        return STARTS if self.reading["start-spaces"] == "up-to-five" else FREE_STARTS

    def _start_move(self, _: int, __: int, words: list[str]) -> None:
        self.at = {ware: int(space) for ware, space in zip(self.lanes, words[1:], strict=True)}

    # Step 4: placing

    def _round(self, *_: int) -> None:
        self._plan(*(("place", seat, 0) for seat in self._clockwise(self._harbour_master())))

    def _vacant_spaces(self) -> dict[str, int]:
        """Gets the vacant priced spaces with their prices, in the words of the options."""
        spaces: dict[str, int] = {}
        any_berth = self.reading["berth-choice"] == "any"
        punts = self.afloat
        if self.reading["berth-after-arrival"] == "open":
            in_port = {ware for ware in self.harbour if ware is not None} - self.captured
            punts = [ware for ware in self.lanes if ware in self.afloat or ware in in_port]
        for ware in punts:
            for i in self.vacant_berths(ware, any_berth):
                spaces[f"{ware} berth {i + 1}" if any_berth else f"{ware} berth"] = BERTHS[ware][i]
        closed = self.reading["harbour-space-after-arrival"] == "closed"
        for i, letter in enumerate(LETTERS):
            if self.harbour_men[i] is None and not (closed and self.harbour[i]):
                spaces[f"harbour {letter}"] = SPACE_PRICES[i]
        for i, letter in enumerate(LETTERS):
            if self.shipyard_men[i] is None:
                spaces[f"shipyard {letter}"] = SPACE_PRICES[i]
        if len(self.pirates) < self.boat_seats:
            spaces["pirate boat"] = PIRATE_PRICE
        if self.small_pilot is None:
            spaces["small pilot"] = SMALL_PILOT_PRICE
        if self.large_pilot is None:
            spaces["large pilot"] = LARGE_PILOT_PRICE
        return spaces

    def _broke(self, seat: int, spaces: dict[str, int]) -> bool:
        """Tests if a seat cannot pay for the cheapest vacant priced space; never when there is none."""
        money = self.cash[seat] if self.reading["stowaway-when"] == "no-cash" else self.credit(seat)
        return bool(spaces) and money < min(spaces.values())

    def _place_options(self, seat: int, _: int) -> list[str]:
        if self.refrained[seat] or not self.accomplices[seat]:
            return []
        spaces = self._vacant_spaces()
        broke = self._broke(seat, spaces)
        where = self.reading["stowaway-where"]
        if broke and where != "never":
            punts_only = where == "punts-only"
            options = [space for space in spaces if not punts_only or " berth" in space]
        else:
            credit = self.credit(seat)
            options = [space for space, price in spaces.items() if price <= credit]
        if self.insurer is None and (not broke or self.reading["broke-may-insure"] == "yes"):
            options.append("insurance")
        options.append("refrain")
        return options

    def _place_move(self, seat: int, _: int, words: list[str]) -> None:
        space = " ".join(words)
        if space == "refrain":
            self.refrained[seat] = self.reading["refrain-lasts"] == "voyage"
            return
        self.accomplices[seat] -= 1
        if space == "insurance":
            self.insurer = seat
            self.cash[seat] += INSURANCE_PAYS
            return
        spaces = self._vacant_spaces()
        price = spaces[space]
        if self.reading["stowaway-where"] != "never" and self._broke(seat, spaces):
            price = 0 if self.reading["stowaway-pays"] == "nothing" else self.cash[seat]
        self._sit(seat, space, words)
        self._pay(seat, price)

    def _sit(self, seat: int, space: str, words: list[str]) -> None:
        """Puts an accomplice on a priced space."""
        if space == "pirate boat":
            self.pirates.append(seat)
        elif space == "small pilot":
            self.small_pilot = seat
        elif space == "large pilot":
            self.large_pilot = seat
        elif words[0] == "harbour":
            self.harbour_men[LETTERS.index(words[1])] = seat
        elif words[0] == "shipyard":
            self.shipyard_men[LETTERS.index(words[1])] = seat
        else:
            berths = self.berths[words[0]]
            berths[int(words[2]) - 1 if len(words) > 2 else berths.index(None)] = seat

    # Step 5: the rolls

    def _roll(self, _: int, number: int) -> None:
        past: list[str] = []
        for die, ware in enumerate(self.afloat):
            if callable(self.dice):
                self.at[ware] += self.dice(self.voyage, number, die + 1)
            else:
                self.at[ware] += self.dice[number - 1][die]
            if self.at[ware] > LANE:
                past.append(ware)
        self._plan(("boarding", 0, number))
        if self.reading["arrival-order"] == "lane":
            for ware in past:
                self.arrive(ware)
        else:
            self._plan(*(("arrive", self._harbour_master(), 0) for _ in past))

    def _arrive_options(self, *_: int) -> list[str]:
        return [f"arrive {ware}" for ware in self.afloat if self.at[ware] > LANE]

    def _arrive_move(self, _: int, __: int, words: list[str]) -> None:
        self.arrive(words[1])

    # Step 6: pirates board

    def _boarding(self, _: int, roll: int) -> None:
        early = self.reading["rolls-that-board"] == "first-and-second"
        if roll == 2 or (roll == 1 and early):
            self.captain_berth = None
            self._plan(*(("board", seat, rank) for rank, seat in enumerate(self.pirates)))

    def _board_options(self, seat: int, rank: int) -> list[str]:
        targets = self.on_last_space()
        if not targets:
            return []
        any_berth = self.reading["boarder-berth"] == "any"
        vacant = {ware: self.vacant_berths(ware, any_berth) for ware in targets}
        options = []
        for ware in targets:
            options += [f"board {ware} {i + 1}" if any_berth else f"board {ware}" for i in vacant[ware]]
        if "enhanced-pirates" in self.variants:
            per_punt = self.reading["vacancies-first"] == "per-punt"
            if per_punt or not any(vacant.values()):
                for ware in targets:
                    if not vacant[ware]:
                        options += self._evictions(seat, ware)
        return [*options, "stay"]

    def _evictions(self, seat: int, ware: str) -> list[str]:
        """Gets whom a pirate may send home from a full punt."""
        own_only = self.reading["who-may-be-evicted"] == "own-accomplice"
        protected = self.captain_berth if self.reading["captain-protected"] == "yes" else None
        return [
            f"evict {ware} {i + 1}"
            for i, man in enumerate(self.berths[ware])
            if (man == seat or not own_only) and (ware, i) != protected
        ]

    def _board_move(self, seat: int, rank: int, words: list[str]) -> None:
        if words[0] == "stay":
            return
        ware = words[1]
        berths = self.berths[ware]
        berth = int(words[2]) - 1 if len(words) > 2 else berths.index(None)
        evicted = berths[berth]
        if evicted is not None:
            self.accomplices[evicted] += 1
            self.boarders = [b for b in self.boarders if b[1:] != (ware, berth)]
        berths[berth] = seat
        self.boarders.append((seat, ware, berth))
        self.pirates.remove(seat)
        if self.reading["vacated-seat"] == "spent":
            self.boat_seats -= 1
        if rank == 0:
            self.captain_berth = (ware, berth)

    # Step 7: the pilots

    def _pilots(self, *_: int) -> None:
        if self.small_pilot is not None:
            self._plan(("small", self.small_pilot, 0), ("large pilot", 0, 0))
        else:
            self._plan(("large pilot", 0, 0))

    def _large_pilot(self, *_: int) -> None:
        if self.large_pilot is not None:
            kind = "push" if self.reading["large-pilot"] == "two-pushes" else "large"
            self._plan((kind, self.large_pilot, 2))

    def _pushes(self, ware: str, spaces: int) -> list[str]:
        """Gets the ways to push one punt exactly so many spaces: forward always, back if allowed."""
        pushes = [f"{ware} forward {spaces}"]
        if self.at[ware] >= spaces or self.reading["pilot-behind-zero"] == "stops-at-zero":
            pushes.append(f"{ware} back {spaces}")
        return pushes

    def _small_options(self, *_: int) -> list[str]:
        return [push for ware in self.afloat for push in self._pushes(ware, 1)] + ["none"]

    def _large_options(self, *_: int) -> list[str]:
        options = []
        singly = self.reading["large-pilot"] == "up-to-two"
        for ware in self.afloat:
            options += self._pushes(ware, 2)
            if singly:
                options += self._pushes(ware, 1)
        for first, second in itertools.combinations(self.afloat, 2):
            for one in self._pushes(first, 1):
                options += [f"{one} and {other}" for other in self._pushes(second, 1)]
        return [*options, "none"]

    def _pilot_move(self, seat: int, left: int, words: list[str]) -> None:
        """Carries out `WARE forward N`, two of them joined by `and`, or `none`."""
        if words[0] == "none":
            return
        landed = []
        for i in range(0, len(words), 4):
            ware, way, spaces = words[i], words[i + 1], int(words[i + 2])
            self.at[ware] = max(0, self.at[ware] + (spaces if way == "forward" else -spaces))
            if self.at[ware] > LANE:
                self.arrive(ware)
            elif self.at[ware] == LANE:
                landed.append(ware)
        if self.reading["large-pilot"] == "two-pushes" and left == 2:
            self._plan(("push", seat, 1))
        if landed and self.reading["pilot-onto-13"] == "plundered-at-once" and self._plunderers():
            self._plan(*(("plunder", 0, self.lanes.index(ware)) for ware in landed))

    # Step 8: plunder and wrecks

    def _plunderers(self) -> list[int]:
        """Gets the pirates who share a plunder, captain first."""
        if self.reading["boarder-still-plunders"] == "yes":
            return self.pirates + [seat for seat, _, _ in self.boarders]
        return self.pirates

    def _thirteens(self, *_: int) -> None:
        """Deals with the punts on the last space after the last roll."""
        punts = self.on_last_space()
        if self._plunderers():
            self._plan(*(("plunder", 0, self.lanes.index(ware)) for ware in punts))
        elif self.reading["thirteen-without-pirates"] == "arrives":
            for ware in punts:
                self.arrive(ware)

    def _plunder(self, _: int, lane: int) -> None:
        ware = self.lanes[lane]
        pirates = self._plunderers()
        shares = self._split(PROFIT[ware], len(pirates))
        for seat, share in zip(pirates, shares, strict=True):
            if self.reading["plunder-paid"] == "at-once":
                self.cash[seat] += share
            else:
                self.loot[seat] += share
        for man in self.berths[ware]:
            if man is not None:
                self.accomplices[man] += 1
        self.berths[ware] = [None] * len(BERTHS[ware])
        self.captured.add(ware)
        self._plan(("captain", pirates[0], lane))

    def _split(self, profit: int, pirates: int) -> list[int]:
        """Gets the share of each pirate, captain first; the bank keeps a remainder."""
        if self.reading["plunder-split"] == "equal" or pirates == 1:
            return [profit // pirates] * pirates
        captain = profit * 2 // 3
        return [captain] + [(profit - captain) // (pirates - 1)] * (pirates - 1)

    def _captain_options(self, _: int, lane: int) -> list[str]:
        return [f"{self.lanes[lane]} to port", f"{self.lanes[lane]} to shipyard"]

    def _captain_move(self, _: int, __: int, words: list[str]) -> None:
        if words[2] == "port":
            self.arrive(words[0])
        else:
            self.wreck(words[0])

    def _wrecks(self, *_: int) -> None:
        for ware in self.afloat[:]:
            self.wreck(ware)

    # Step 9: profits

    def _profits(self, *_: int) -> None:
        for seat, loot in enumerate(self.loot):
            self.cash[seat] += loot
        for punt in self.harbour:
            if punt is not None:
                aboard = [man for man in self.berths[punt] if man is not None]
                for man in aboard:
                    self.cash[man] += PROFIT[punt] // len(aboard)
        unpaid = self._exempt("captured-to-port-pays-space")
        paying_harbour = [punt if punt not in unpaid else None for punt in self.harbour]
        for punts, men in ((paying_harbour, self.harbour_men), (self.shipyard, self.shipyard_men)):
            for punt, occupant, pays in zip(punts, men, SPACE_PAYS, strict=True):
                if punt is not None and occupant is not None:
                    self.cash[occupant] += pays
        if self.insurer is not None:
            self._insure(self.insurer)

    def _exempt(self, question: str) -> set[str]:
        """Gets the captured punts, when a question answered `no` leaves them out; else none."""
        return self.captured if self.reading[question] == "no" else set()

    def _insure(self, insurer: int) -> None:
        """Lets the insurer pay; everybody, himself too, has been paid already."""
        not_wrecks = self._exempt("captured-to-shipyard-insured")
        wrecks = [punt for punt in self.shipyard if punt is not None and punt not in not_wrecks]
        if not wrecks and self.reading["insurance-without-wreck"] == "ten-more":
            self.cash[insurer] += INSURANCE_PAYS
        punts, men, exempt = self.shipyard, self.shipyard_men, not_wrecks
        if self.reading["insurance-trigger"] == "arrivals":
            exempt = self._exempt("captured-to-port-pays-space")
            punts, men = self.harbour, self.harbour_men
        occupied = 2 if self.reading["repair"] == "to-bank-and-accomplice" else 1
        empty = 0 if self.reading["empty-shipyard-space"] == "costs-nothing" else 1
        owed = 0
        for punt, man, pays in zip(punts, men, SPACE_PAYS, strict=True):
            if punt is not None and punt not in exempt:
                owed += pays * (empty if man is None else occupied)
        self._pay(insurer, owed)

    # Step 10: prices rise

    def _rises(self, *_: int) -> None:
        top = self.track[-1]
        for ware in self.harbour:
            if ware is not None and self.prices[ware] < top:
                self.prices[ware] = self.track[self.track.index(self.prices[ware]) + 1]
                if self.prices[ware] == top and self.reading["end-comes"] == "mid-rise":
                    break
        if max(self.prices.values()) < top:
            self._plan(("voyage", 0, 0))

    _AUTOMATIC: ClassVar[dict[str, Callable[[Referee, int, int], None]]] = {
        "voyage": _voyage,
        "auction": _auction,
        "unseal": _unseal,
        "office": _office,
        "receive": _receive,
        "round": _round,
        "roll": _roll,
        "boarding": _boarding,
        "pilots": _pilots,
        "large pilot": _large_pilot,
        "thirteens": _thirteens,
        "plunder": _plunder,
        "wrecks": _wrecks,
        "profits": _profits,
        "rises": _rises,
    }
    _OPTIONS: ClassVar[dict[str, Callable[[Referee, int, int], list[str]]]] = {
        "forced": _forced_options,
        "bid": _bid_options,
        "outcry": _outcry_options,
        "sealed": _sealed_options,
        "buy": _buy_options,
        "load": _load_options,
        "start": _start_options,
        "place": _place_options,
        "arrive": _arrive_options,
        "board": _board_options,
        "small": _small_options,
        "large": _large_options,
        "push": _small_options,
        "captain": _captain_options,
    }
    _MOVES: ClassVar[dict[str, Callable[[Referee, int, int, list[str]], None]]] = {
        "forced": _forced_move,
        "bid": _bid_move,
        "outcry": _outcry_move,
        "sealed": _sealed_move,
        "buy": _buy_move,
        "load": _load_move,
        "start": _start_move,
        "place": _place_move,
        "arrive": _arrive_move,
        "board": _board_move,
        "small": _pilot_move,
        "large": _pilot_move,
        "push": _pilot_move,
        "captain": _captain_move,
    }


LOADS = ["load " + " ".join(wares) for wares in itertools.combinations(WARES, 3)]
FREE_STARTS = [
    f"start {a} {b} {c}" for a, b, c in itertools.product(range(LANE + 1), repeat=3) if a + b + c == START_SUM
]
STARTS = [option for option in FREE_STARTS if all(int(space) <= START_UP_TO for space in option.split()[1:])]
