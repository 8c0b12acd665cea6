"""What somebody may be shown of what might happen: worked out where things may stand for all he knows, never where
they do.

Where rules hide something from a viewer, looking ahead from the position as it is could tell him what he cannot
know, however little of the outcome is shown. So positions are dealt in which all he cannot know is dealt anew
(`interpreter/bots/determinise.py`), each is looked ahead from, and only what comes out alike in all is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from ..interpreter.errors import PlayError

if TYPE_CHECKING:
    from ..interpreter.game import State

DEALT = 3
"""How many positions are looked ahead from."""
NOBODY = -1
"""A viewer who sees what everybody sees."""

_T = TypeVar("_T")


class Hidden(Exception):
    """Says that an outcome hangs on what the viewer cannot know."""


def possible(state: State, viewer: int) -> list[State]:
    """Deals positions that look the same to a viewer; the position itself where nothing is ever hidden."""
    from ..interpreter.bots.determinise import dealer_of

    dealer = dealer_of(state.game, viewer)
    if not dealer.hides:
        return [state]
    dealer.look(state)
    return [state.game.state_at(dealer.deal(n), trace=True) for n in range(DEALT)]


def alike(positions: Sequence[State], show: Callable[[State], _T]) -> _T:
    """Gets what `show` makes of all positions. Raises `Hidden` where it is not the same for all.

    What `show` raises is raised where there is but one position; of several, one that fails shows a difference.
    """
    if len(positions) == 1:
        return show(positions[0])
    found: list[_T] = []
    for position in positions:
        try:
            found.append(show(position))
        except PlayError:
            raise Hidden from None
    if any(other != found[0] for other in found[1:]):
        raise Hidden
    return found[0]
