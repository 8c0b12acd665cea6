"""Finding the move that is meant: the menu of what is offered, and the reading of what was typed.

The menu is numbered. Where there are many options it shows heads that open step by step (`bid …`): a number
of a head opens it, a number of an option takes it. Words may be cut short as long as one option is meant,
in the language at hand or in English. Where several people look at one screen, options that would show a
secret stand in the menu once, under the words that others see.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from ..interpreter.game import State
from ..interpreter.types import TextType
from .session import Session

MOST_LISTED = 18
_TOKEN = re.compile(r"\d+|[A-Za-z']+|[^\W\dA-Za-z]|[^\w\s]")


class Option(Struct, frozen=True):
    """A move that is offered: who would make it, and its words and meaning in the language at hand."""

    action: int
    player: int | None
    """To be passed on with the action: who chooses, where several do at once."""
    words: str
    english: str
    meaning: str
    public: str
    secret: bool
    open: bool = False
    """Whether it holds a text that the player has yet to write."""


class Item(Struct, frozen=True):
    """A line of the menu: one option, or a head that several begin with."""

    words: str
    meaning: str
    options: tuple[Option, ...]
    hidden: bool = False

    @property
    def option(self) -> Option | None:
        """The option, if it is just one."""
        return self.options[0] if len(self.options) == 1 and not self.hidden else None

    @property
    def brief(self) -> str:
        """The words in short: of a head its beginning, with the first and the last of what comes after."""
        return self.words if self.hidden or self.option is not None else f"{self.words}{self.meaning}"


def options(session: Session, players: Sequence[int], language: str) -> list[Option]:
    """Lists what these people may do now, and silence where nobody need act."""
    state = session.state
    decision = state.decision
    if decision is None:
        return []
    several = decision.mode == "any" and len(players) > 1
    out = []
    for player in players:
        passed_on = player if decision.mode == "each" else None
        for action in session.own_actions(player):
            out.append(
                _option(
                    state, action, player, passed_on, language, session.seats[player].name if several else ""
                )
            )
    if decision.mode == "any":
        for action in state.legal_actions():
            if state.actor(action) < 0:
                out.append(_option(state, action, -1, None, language, ""))
    return out


def _option(
    state: State, action: int, player: int, passed_on: int | None, language: str, name: str
) -> Option:
    plain = action % state.game.program.actions
    before = f"{name} " if name else ""
    words = before + state.describe(plain, player, language)
    english = words if language == "en" else before + state.describe(plain, player, "en")
    public = before + state.describe(plain, player, language, viewer=-1)
    move = state.decode(plain)[0]
    meaning = meaning_of(state, plain, player, language)
    secret = move.shows is not None or any(move.secret)
    is_open = any(isinstance(t, TextType) for t in move.types)
    return Option(action, passed_on, words, english, meaning, public, secret, is_open)


def meaning_of(state: State, action: int, player: int, language: str) -> str:
    """Gets what a move is for, whoever makes it."""
    move, arguments = state.decode(action)
    return state._text(move.means, player, arguments, language)


# --------------------------------------------------------------------------------------------------- the menu


def menu(listed: Sequence[Option], *, concealed: bool, most: int = MOST_LISTED) -> list[Item]:
    """Makes the menu: every option if they are few, else heads; concealed, secret ones by public words."""
    items: list[Item] = []
    if concealed:
        hidden: dict[str, list[Option]] = {}
        for option in listed:
            if option.secret:
                hidden.setdefault(option.public, []).append(option)
        listed = [o for o in listed if not o.secret]
        items = [Item(words, "", tuple(group), hidden=True) for words, group in hidden.items()]
    if len(listed) <= most:
        return [*(Item(o.words, o.meaning, (o,)) for o in listed), *items]
    return [*heads(listed, most), *items]


def heads(listed: Sequence[Option], most: int = MOST_LISTED) -> list[Item]:
    """Groups options by how their words begin, so that there are few groups."""
    depth = len(_tokens(_common([o.words for o in listed])))
    groups: dict[str, list[Option]] = {}
    for option in listed:
        tokens = _tokens(option.words)
        groups.setdefault(" ".join(tokens[: depth + 1]), []).append(option)
    if len(groups) == 1 or len(groups) > 2 * most:
        return [Item(_common([o.words for o in listed]), span_of(listed), tuple(listed))]
    items = []
    for group in groups.values():
        if len(group) <= 2:
            items += [Item(o.words, o.meaning, (o,)) for o in group]
        else:
            items.append(Item(_common([o.words for o in group]), span_of(group), tuple(group)))
    return items


def span_of(group: Sequence[Option]) -> str:
    """Tells what comes after a common beginning: the first and the last."""
    common = _common([o.words for o in group])
    first, last = group[0].words[len(common) :], group[-1].words[len(common) :]
    return f"{first.strip()} … {last.strip()}"


def _common(words: Sequence[str]) -> str:
    """Gets the beginning that texts share, up to the end of a token."""
    first, last = min(words), max(words)
    shared = first[
        : next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    ]
    if all(len(w) == len(shared) for w in words):
        return shared
    rest = [w[len(shared) :] for w in words]
    cut = bool(shared) and any(r and r[0].isalnum() and r[0].isascii() for r in rest)
    if cut and shared[-1].isalnum() and shared[-1].isascii():
        shared = re.sub(r"[A-Za-z0-9']+$", "", shared)
    return shared


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


# ---------------------------------------------------------------------------------------------------- reading


class Unclear(Struct, frozen=True):
    """What was typed could mean several things, or nothing; `near` is the one option that holds it."""

    among: tuple[Option, ...] = ()
    near: str = ""


def read_option(text: str, listed: Sequence[Option]) -> Option | Unclear:
    """Finds the option that words mean, in full or shortened; words from its middle only bring it near."""
    wanted = " ".join(text.split()).casefold()
    for words in (_words, _english):
        exact = [o for o in listed if words(o).casefold() == wanted]
        if exact:
            return exact[0]
    for matches in (_begins, _abbreviates):
        found = [o for o in listed if matches(wanted, o.words) or matches(wanted, o.english)]
        if len(found) == 1:
            return found[0]
        if found:
            return Unclear(tuple(found))
    found = [o for o in listed if _skips(wanted, o.words) or _skips(wanted, o.english)]
    return Unclear(near=found[0].words if len(found) == 1 and not found[0].secret else "")


def _words(option: Option) -> str:
    return option.words


def _english(option: Option) -> str:
    return option.english


def _begins(wanted: str, words: str) -> bool:
    """Tests if the words begin so; a number counts only whole."""
    words = words.casefold()
    if not words.startswith(wanted):
        return False
    rest = words[len(wanted) :]
    return not (wanted[-1:].isdigit() and rest[:1].isdigit())


def _abbreviates(wanted: str, words: str) -> bool:
    """Tests if each typed word begins the word at its place."""
    short, full = wanted.split(), words.casefold().split()
    return len(short) <= len(full) and all(_short_for(a, b) for a, b in zip(short, full, strict=False))


def _skips(wanted: str, words: str) -> bool:
    """Tests if the typed words begin words of the option, in order, some left out."""
    full = iter(words.casefold().split())
    return all(any(_short_for(a, b) for b in full) for a in wanted.split())


def _short_for(a: str, b: str) -> bool:
    return a == b or (not a.isdigit() and b.startswith(a))


# ------------------------------------------------------------------------------------------------ suggestions


class Suggestion(Struct, frozen=True):
    """A completion: the text it puts in the place of the last `replaces` characters, and what it means."""

    text: str
    replaces: int
    meaning: str = ""


def suggest_options(text: str, listed: Sequence[Option], *, concealed: bool) -> list[Suggestion]:
    """Suggests moves for what has been typed, the most likely first; many of one beginning as one head."""
    wanted = " ".join(text.split()).casefold()
    shown = [o for o in listed if not (concealed and o.secret)]
    ranked = sorted(
        (
            (rank, n, o)
            for n, o in enumerate(shown)
            if (rank := fuzzy(wanted, o.words, o.english)) is not None
        ),
        key=lambda r: r[:2],
    )
    found = [o for _, _, o in ranked]
    hidden = dict.fromkeys(o.public for o in listed if concealed and o.secret)
    out = [Suggestion(i.words, len(text), i.meaning) for i in menu(found, concealed=False)]
    return out + [Suggestion(h, len(text)) for h in hidden if fuzzy(wanted, h, h) is not None]


def fuzzy(wanted: str, *texts: str) -> int | None:
    """Ranks how well it fits: 0 begins so, 1 words shortened, 2 letters in order; None not at all."""
    if not wanted:
        return 0
    best: int | None = None
    for text in texts:
        if text.casefold().startswith(wanted):
            return 0
        if _skips(wanted, text):
            best = 1
        elif best is None and _in_order(wanted.replace(" ", ""), text.casefold()):
            best = 2
    return best


def _in_order(wanted: Iterable[str], text: str) -> bool:
    letters = iter(text)
    return all(c in letters for c in wanted)
