"""Keeps the books of what players buy: what was paid, what it brought, and in which round it was bought.

A game's view says under `worth` which moves buy something, what each costs and what has come in for it so far;
`until` is an expression that stays the same as long as what was bought lasts. What came in between the choice and
the end of that time, less the price, is what it brought. Two that one player bought alike in one such time share
what came in. This is bookkeeping, not an experiment: it counts no good that a piece does to other pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from ...grammar import tree
from ...grammar.span import Span
from ..game import Game
from ..positions import decode

if TYPE_CHECKING:
    from ..figures import Figure
    from ..game import State

BUYER = "p"
"""What the buyer is called in the expressions."""


class Book(Struct):
    """What was seen of one space in one round."""

    bought: int = 0
    price: int = 0
    income: int = 0
    paid: int = 0
    """How often anything came in."""

    def add(self, other: Book) -> None:
        """Adds what another book has."""
        self.bought += other.bought
        self.price += other.price
        self.income += other.income
        self.paid += other.paid


Books = dict[str, dict[int, Book]]
"""By space and round."""


class Purchase(Struct):
    """Something that was bought and still lasts."""

    key: tuple[int, ...]
    """Which move, with what, and by whom."""
    name: str
    round: int
    price: int
    before: int
    """What had come in when it was bought."""
    income: Figure
    arguments: tuple[int, ...]


class Seller(Struct, frozen=True):
    """One of the moves that buy something."""

    more: tuple[Figure, ...]
    """What else says which space it is, worked out as it is bought."""
    price: Figure
    income: Figure


class Spaces:
    """What can be bought in a game, and for how much: the view's `worth`, compiled.

    `name` names the move of an action; `places` are where expressions stand in their file, so that complaints
    point there. Raises `RulesError`.
    """

    def __init__(
        self,
        game: Game,
        data: Mapping[str, Any],
        name: Callable[[int], str],
        places: Mapping[str, Span] | None = None,
    ) -> None:
        self.game = game
        self.name = name
        self._places = places or {}
        self.until = self._figure(data["until"], {})
        who = {BUYER: "player"}
        self.round = self._figure(data["round"], who) if "round" in data else None
        known = {m.name for m in game.program.moves}  # an overlay may have taken some out
        self.sellers = {e["move"]: self._seller(e, who) for e in data["bought"] if e["move"] in known}

    def _seller(self, entry: Mapping[str, Any], who: Mapping[str, str]) -> Seller:
        scope = {**who, **parameters(self.game, entry["move"])}
        more = entry.get("with", {})
        which = tuple(self._figure(v["is"], scope) for v in more.values())
        scope |= {k: v["of"] for k, v in more.items()}
        return Seller(which, self._figure(entry["price"], scope), self._figure(entry["income"], scope))

    def _figure(self, text: object, scope: Mapping[str, str]) -> Figure:
        return self.game.view_figure(str(text), scope, span=self._places.get(str(text)))

    def keeper(self) -> Keeper:
        """Opens the books of a game."""
        return Keeper(self)


def spaces_of(game: Game, name: Callable[[int], str]) -> Spaces | None:
    """Gets what can be bought in a game; None where its view says nothing of it. Raises `RulesError`."""
    data = game.view()
    worth = data.get("worth") if data is not None else None
    return None if worth is None else Spaces(game, worth, name)


def parameters(game: Game, move: str) -> dict[str, str]:
    """Gets a move's parameters with the names of their types; one whose type has no name cannot be spoken of."""
    node = game.checked().callables[move].node
    assert isinstance(node, tree.Move)
    return {p.name.text: p.type.name for p in node.params if isinstance(p.type, tree.NamedType)}


class Keeper:
    """The books of one game while it is played."""

    def __init__(self, spaces: Spaces) -> None:
        self.spaces = spaces
        self.books: Books = {}
        self.open: list[Purchase] = []
        self.time = 0

    def choose(self, position: list[int], action: int, seat: int) -> None:
        """Notes a choice about to be made."""
        spaces = self.spaces
        move, arguments = decode(spaces.game.program, action)
        seller = spaces.sellers.get(move.name)
        if seller is None or seat < 0:
            return
        here = _at(position)
        known = (seat, *arguments)
        more = tuple(f.value(here, *known) for f in seller.more)
        known += more
        name = " ".join([spaces.name(action), *map(str, more)])
        number = spaces.round.value(here, seat) if spaces.round is not None else 0
        if not self.open:
            self.time = spaces.until.value(here)
        price, before = seller.price.value(here, *known), seller.income.value(here, *known)
        self.open.append(Purchase((move.index, *known), name, number, price, before, seller.income, known))

    def settle(self, position: list[int], *, over: bool = False) -> None:
        """Closes what no longer lasts."""
        if not self.open:
            return
        here = _at(position)
        if not over and self.spaces.until.value(here) == self.time:
            return
        alike: dict[tuple[int, ...], list[Purchase]] = {}
        for purchase in self.open:
            alike.setdefault(purchase.key, []).append(purchase)
        for group in alike.values():
            first = group[0]
            came = first.income.value(here, *first.arguments) - first.before
            for n, purchase in enumerate(group):
                income = came // len(group) + (n < came % len(group))
                book = self.books.setdefault(purchase.name, {}).setdefault(purchase.round, Book())
                book.add(Book(1, purchase.price, income, int(income > 0)))
        self.open = []


def _at(position: list[int]) -> State:
    return cast("State", SimpleNamespace(position=position))


def add_books(into: Books, books: Books) -> None:
    """Adds books to others."""
    for name, rounds in books.items():
        mine = into.setdefault(name, {})
        for number, book in rounds.items():
            mine.setdefault(number, Book()).add(book)
