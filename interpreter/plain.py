"""The rules' own words: a game that speaks as its rules are written, with the names of those who play.

Labels may be rewritten and players are called otherwise every evening; what is kept in files (scenarios,
records) must not depend on either. Takes a game; gives the same game with the words of its rules, and what
its events and variables are called in them.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

from msgspec.structs import replace

from .errors import IllegalMove, UnclearMove
from .game import Event, Game, State
from .labels import Labels
from .program import Variable


def plain_game(game: Game, names: Sequence[str] | None = None) -> Game:
    """Makes a game that runs the same program and speaks in the rules' own words, whatever the language."""
    called = tuple(names or game.player_names)
    return _relabelled(game, Labels("en", players=called, texts=game.labels("en").texts), called)


def labelled_game(game: Game, names: Sequence[str] | None = None) -> Game:
    """Makes a game that speaks in its English labels, with the players called by these names."""
    called = tuple(names or game.player_names)
    return _relabelled(game, replace(game.labels("en"), players=called), called)


def _relabelled(game: Game, labels: Labels, names: tuple[str, ...]) -> Game:
    made = copy.copy(game)
    made.compiled = replace(game.compiled, labels={"en": labels}, player_names=names)
    made._words = {}
    made._machines = {}
    made._events = []
    return made


# ------------------------------------------------------------------------------------------------------ moves


def move_words(state: State, action: int, player: int | None = None, *, always: bool = False) -> str:
    """Gets the words of a move; with the player in front where it is not plain who makes it, or `always`."""
    actor = state.actor(action) if player is None else player
    words = state.describe(action, actor)
    return (
        f"{state.game.player_names[actor]} {words}"
        if actor >= 0 and (always or not _is_plain(state))
        else words
    )


def _is_plain(state: State) -> bool:
    """Tests if only one player can be the one who acts."""
    return len(state.players_to_act()) <= 1 and state.decision is not None and state.decision.mode != "any"


def split_player(words: str, names: Sequence[str]) -> tuple[int | None, str]:
    """Splits the player's name off in front of a move's words: his seat, if one is named, and the rest."""
    folded = words.casefold()
    for seat in sorted(range(len(names)), key=lambda s: -len(names[s])):
        if folded.startswith(names[seat].casefold() + " "):
            return seat, words[len(names[seat]) :].strip()
    return None, words


def find_move(state: State, words: str, others: Sequence[Game] = ()) -> tuple[int, int | None]:
    """Finds the move that words name, perhaps with the player in front: action and, where needed, player.

    `others` are the same game speaking otherwise, tried in turn where no move has such words. Raises
    `UnclearMove` or `IllegalMove`; the latter also where another player decides.
    """
    words = " ".join(words.split())
    own = state.game
    first: UnclearMove | None = None
    for game in (own, *others):
        state.game = game
        try:
            return _find(state, words)
        except UnclearMove as error:
            first = first or error
        finally:
            state.game = own
    assert first is not None
    raise first


def _find(state: State, words: str) -> tuple[int, int | None]:
    names = state.game.player_names
    seat, rest = split_player(words, names)
    if state.decision is None:
        raise IllegalMove("game-over", "the game is over" if state.is_terminal() else "chance decides here")
    to_act = state.players_to_act()
    if seat is not None and seat not in to_act:
        if state.game.words().read(rest.casefold()) or rest.casefold() in _offered_words(state):
            who = ", ".join(names[p] for p in to_act) or "nobody"
            raise IllegalMove("not-his-turn", f"it is not {names[seat]} who decides but {who}", None)
        seat, rest = None, words
    if _is_plain(state) and not state.is_simultaneous_node():
        offered = state.legal_actions()
        read = [a for a in state.game.words().read(rest) if a in offered]
        if len(read) == 1:
            return read[0], None
    if seat is not None:
        try:
            action = state.parse_action(rest, "en", seat)
            return action, seat if state.is_simultaneous_node() else None
        except UnclearMove:
            rest = words
    matches = [
        a for a in state.legal_actions() if state.describe(a, state.actor(a)).casefold() == rest.casefold()
    ]
    if len({state.actor(a) for a in matches}) > 1:
        who = ", ".join(names[state.actor(a)] for a in matches)
        raise UnclearMove("unclear", f"'{rest}' does not say whose move it is: {who}")
    return matches[0] if matches else state.parse_action(rest, "en"), None


def _offered_words(state: State) -> set[str]:
    return {state.describe(a, state.actor(a)).casefold() for a in state.legal_actions()}


# --------------------------------------------------------------------------------------- variables and events


def element_name(game: Game, variable: str, indices: Sequence[int]) -> str:
    """Writes an element of a variable as the rules do: `cash[Ann]`; of a pile its length or an item."""
    v = game.program.variables[variable]
    labels = game.labels("en")
    shown = [labels.value(i, type_) for (type_, _, _), i in zip(v.dims, indices, strict=False)]
    name = f"{variable}[{', '.join(shown)}]" if shown else variable
    if v.width > 1:
        place = indices[len(v.dims)]
        return f"length of {name}" if place == 0 else f"item {place} of {name}"
    return name


def element_value(game: Game, v: Variable, value: int, place: int = 0) -> str:
    """Writes the value of an element; `place` is that within a pile, 0 being its length."""
    if v.width > 1:
        base = getattr(v.type, "base", v.type)
        return str(value) if place == 0 else game.labels("en").value(value, base)
    return game.labels("en").value(value, v.type)


def event_text(game: Game, event: Event) -> str:
    """Writes an event in a line, without its place."""
    match event.kind:
        case "change":
            v = game.program.variables[event.variable]
            place = event.indices[-1] if v.width > 1 else 0
            name = element_name(game, event.variable, event.indices)
            old, new = (element_value(game, v, value, place) for value in (event.old, event.new))
            return f"{name}: {old} → {new}"
        case "told":
            return f"“{told_text(game, event)}”"
        case _:
            who = f"{game.player_names[event.player]}: " if event.player >= 0 else ""
            move = next(
                m for m in reversed(game.program.moves) if event.action % game.program.actions >= m.first
            )
            return f"{who}{move.name.replace('_', ' ')} (the only option)"


def told_text(game: Game, event: Event) -> str:
    """Writes the sentence that an event told."""
    return game.labels("en").render(game.program.texts[event.text], event.values)
