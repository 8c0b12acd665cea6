"""What may be asked of the engine: one structure a request, and how a line is read as one.

`PROTOCOL.md` tells the same to people; a test holds the two together.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ..grammar.diagnostics import nearest, suggestion

PROTOCOL = 1
"""The version of the protocol: raised when a client that knows the one before would be wrong."""
LONGEST = 8 << 20
"""The longest line that is read, in bytes."""


class Refused(Exception):
    """Says why a request was not done; `help` says what would be."""

    def __init__(self, code: str, message: str, help: str = "", rule: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.help = help
        self.rule = rule


class Request(Struct, forbid_unknown_fields=True, tag_field="do", kw_only=True):
    """A request; `id` is given back with the answer."""

    id: Any = None


class Hello(Request, tag="hello"):
    """Asks who speaks: protocol, rule set, players."""


class New(Request, tag="new"):
    """Begins a game."""

    seed: int | UnsetType | None = UNSET
    """What chance depends on; null: chance is asked like a player. Without it the engine picks one and tells it."""
    players: int | None = None
    readings: dict[str, str] = {}
    offers: bool = True


class OfState(Request, kw_only=True):
    """A request about a state, by its number."""

    state: int


class Where(OfState, tag="where"):
    """Asks where a state stands."""


class Legal(OfState, tag="legal"):
    """Asks what may be done, by anybody or by one player."""

    player: int | None = None


class Move(OfState, kw_only=True):
    """A request about an action, by its number or its words."""

    action: int | None = None
    words: str | None = None
    player: int | None = None


class Apply(Move, tag="apply"):
    """Takes an action."""


class WhyNot(Move, tag="why_not"):
    """Asks why an action may not be taken."""


class View(OfState, tag="view"):
    """Asks what a player has seen; without a player, what anybody sees."""

    player: int | None = None


class Returns(OfState, tag="returns"):
    """Asks how it came out, or stands."""


class UndoLast(OfState, tag="undo"):
    """Takes back the last choices."""

    count: int = 1


class Clone(OfState, tag="clone"):
    """Makes another state that stands where this one does."""


class Drop(OfState, tag="drop"):
    """Lets go of a state."""


class Ask(OfState, tag="ask"):
    """Asks what a bot would choose."""

    policy: str
    player: int | None = None
    seed: int = 0


class Save(OfState, tag="save"):
    """Asks for the record of a state's game."""


class Load(Request, tag="load"):
    """Goes on with a record."""

    record: str


class Quit(Request, tag="quit"):
    """Ends the engine."""


AnyRequest = (
    Hello
    | New
    | Where
    | Legal
    | Apply
    | WhyNot
    | View
    | Returns
    | UndoLast
    | Clone
    | Drop
    | Ask
    | Save
    | Load
    | Quit
)
_KINDS: tuple[type[Request], ...] = AnyRequest.__args__
REQUESTS: dict[str, type[Request]] = {str(kind.__struct_config__.tag): kind for kind in _KINDS}
"""Requests by what they `do`."""


def read_line(line: bytes) -> dict[str, Any]:
    """Reads a line as an object. Raises `Refused`."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused("encoding", f"byte {error.start + 1} of the line is not UTF-8") from None
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise Refused("json", f"this is no JSON: {_plain(str(error))}") from None
    except RecursionError:
        raise Refused("json", "this is nested too deeply") from None
    if not isinstance(found, dict):
        raise Refused("request", "got no object", 'a request is written {"do": "hello"}')
    return found


def read_request(found: dict[str, Any]) -> Request:
    """Reads an object as a request. Raises `Refused`."""
    do = found.get("do")
    if not isinstance(do, str) or do not in REQUESTS:
        message = f"nothing is called '{do}'" if isinstance(do, str) else "it is not said what to 'do'"
        help = suggestion(do if isinstance(do, str) else "", REQUESTS, what="the requests are")
        raise Refused("no-request", message, help)
    kind = REQUESTS[do]
    known = [f.name for f in msgspec.structs.fields(kind)]
    for name in found:
        if name not in known and name != "do":
            near = nearest(name, known)
            raise Refused(
                "field",
                f"'{do}' takes no '{name}'",
                f"did you mean '{near}'?" if near else f"it takes {', '.join(sorted(known))}",
            )
    try:
        return msgspec.convert(found, kind)
    except msgspec.ValidationError as error:
        raise Refused("field", _told(str(error), do)) from None


def _plain(message: str) -> str:
    """Puts a complaint of msgspec about JSON as we put ours, with bytes counted from 1."""
    told = message.removeprefix("JSON is malformed: ")
    return re.sub(r"\(byte (\d+)\)", lambda found: f"(byte {int(found[1]) + 1})", told)


def _told(message: str, do: str) -> str:
    """Puts a complaint of msgspec as we put ours."""
    missing = re.fullmatch(r"Object missing required field `(\w+)`", message)
    if missing:
        return f"'{do}' wants '{missing[1]}'"
    wrong = re.fullmatch(r"Expected `(.+?)`, got `(.+?)`(?: - at `\$\.?(.*)`)?", message)
    if wrong:
        return f"'{wrong[3]}': got {wrong[2]}, want {wrong[1]}"
    return message
