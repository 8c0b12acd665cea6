"""Reads who plays: `--policy` of the commands that let policies play.

A policy is a name as `montecarlo:200`, several stand with commas between them; `SEAT=NAME` is for one seat, called by
its player's name or by its number from 1. What follows `exec:` is a command and goes to the end of its argument, commas
and all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...interpreter.game import Game
from . import UsageError

_COMMAND = re.compile(r"(?:^|(?<=[,=]))exec:")


def split_policies(text: str) -> list[str]:
    """Splits an argument at its commas, but for those of a command."""
    found = _COMMAND.search(text)
    if found is None:
        return text.split(",")
    *before, last = text[: found.start()].split(",")
    return [*before, last + text[found.start() :]]


def check_policy(name: str) -> str:
    """Gets the name if a policy has it. Raises `UsageError`."""
    from ...interpreter.simulate import POLICIES

    if name not in POLICIES:
        raise UsageError(*POLICIES.complaint(name))
    return name


def policies_of(text: str, players: int) -> tuple[str, ...]:
    """Reads policies, one for all seats or one a seat; nothing if all are `random`. Raises `UsageError`."""
    names = [check_policy(name) for name in split_policies(text)]
    return _seated(names, players)


def _seated(names: Sequence[str], players: int) -> tuple[str, ...]:
    if len(names) not in (1, players):
        raise UsageError(
            f"got {len(names)} policies, want 1 or {players}", "name one for all seats, or one a seat"
        )
    all_seats = tuple(names) * players if len(names) == 1 else tuple(names)
    return () if set(all_seats) == {"random"} else all_seats


def seated_policies(texts: Sequence[str], game: Game) -> tuple[str, ...]:
    """Reads policies, for all seats, one a seat, or for seats by name; `random` plays where none is named.

    Raises `UsageError`.
    """
    general: list[str] = []
    own: dict[int, str] = {}
    for piece in (piece for text in texts for piece in split_policies(text)):
        seat, equals, name = piece.partition("=")
        if not equals or seat.startswith("exec:"):
            general.append(check_policy(piece))
            continue
        number = _seat(seat.strip(), game)
        if number in own:
            raise UsageError(f"two policies for {game.player_names[number]}: '{own[number]}' and '{name}'")
        own[number] = check_policy(name)
    if general and own and len(general) > 1:
        raise UsageError(
            f"got {len(general)} policies without a seat beside some with one, want 1 at most",
            "name one for all other seats, as in --policy greedy,1=random",
        )
    rest = general or ["random"]
    if not own:
        return _seated(rest, game.num_players())
    return _seated([own.get(p, rest[0]) for p in range(game.num_players())], game.num_players())


def players_for(texts: Sequence[str], game: Game) -> int:
    """Gets for how many players policies are named one a seat, if that many can play more than the game is for."""
    count = sum(len(split_policies(text)) for text in texts)
    return max(count, game.num_players()) if count <= game.compiled.player_counts[1] else game.num_players()


def _seat(text: str, game: Game) -> int:
    """Finds a seat by its number from 1 or its player's name in any language."""
    players = range(game.num_players())
    if text.isascii() and text.isdigit():
        if int(text) - 1 in players:
            return int(text) - 1
        raise UsageError(f"there is no seat {text}", f"the seats are 1 to {len(players)}")
    for names in [game.player_names, *(labels.players for labels in game.compiled.labels.values())]:
        for p, name in zip(players, names, strict=False):
            if name.casefold() == text.casefold():
                return p
    from ...grammar.diagnostics import suggestion

    raise UsageError(
        f"nobody is called '{text}'", suggestion(text, game.player_names, what="the players are")
    )
