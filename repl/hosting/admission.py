"""Who may sit where: one-time codes, keys, and codes for coming back; kept in a file beside the game.

Each seat that a person plays has a code until somebody has come in with it. The key that he came in with opens
the seat from then on; who has no key is given a code of his own, shown to him once, of which only a hash is
kept. Seats with keys in the host's folder need no code. Another code lets anybody look on.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

LOOKING_ON = -1
"""The place of those who only look on."""
_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"  # none that could be read as another
_LENGTH = 10


class Admission(Struct):
    """What opens the seats of a table."""

    path: Path | None
    codes: dict[str, int] = field(default_factory=dict)
    """The codes that nobody has used yet, and the code for looking on."""
    returning: dict[str, int] = field(default_factory=dict)
    """The hashes of the codes for coming back."""
    keys: dict[str, int] = field(default_factory=dict)
    """The public keys that came in with a code, as OpenSSH writes them."""
    given: dict[str, int] = field(default_factory=dict)
    """The public keys of the host's folder."""
    came: set[int] = field(default_factory=set)
    """The seats somebody has come in to."""

    @classmethod
    def open(cls, path: Path | None, seats: Sequence[int], given: Mapping[str, int]) -> Admission:
        """Takes up what is kept in a file, or begins anew; makes codes for seats that nothing opens yet.

        Raises `OSError`.
        """
        admission = cls(path, given=dict(given))
        if path is not None and path.exists():
            try:
                admission._read(json.loads(path.read_text("utf-8")))
            except (ValueError, TypeError, AttributeError, KeyError):
                admission = cls(path, given=dict(given))
        opened = {*admission.codes.values(), *admission.returning.values()}
        opened |= {*admission.keys.values(), *admission.given.values()}
        for place in (*seats, LOOKING_ON):
            if place not in opened:
                admission.codes[new_code()] = place
        admission.save()
        return admission

    def _read(self, data: Mapping[str, Mapping[str, int]]) -> None:
        self.codes = {str(k): int(v) for k, v in data["codes"].items()}
        self.returning = {str(k): int(v) for k, v in data["returning"].items()}
        self.keys = {str(k): int(v) for k, v in data["keys"].items()}
        self.came = {int(v) for v in data["came"]}

    def save(self) -> None:
        """Writes it to its file, which only the host may read. Raises `OSError`."""
        if self.path is None:
            return
        data = {
            "codes": self.codes,
            "returning": self.returning,
            "keys": self.keys,
            "came": sorted(self.came),
        }
        beside = self.path.with_name(self.path.name + ".new")
        with os.fdopen(os.open(beside, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            json.dump(data, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.path)

    def code_of(self, place: int) -> str | None:
        """Gets the code, not used yet, of a seat or for looking on."""
        return next((code for code, p in self.codes.items() if p == place), None)

    def by_code(self, typed: str) -> int | None:
        """Gets the place that a code opens."""
        code = _plain(typed)
        return self.codes.get(code, self.returning.get(_hash(code)))

    def by_key(self, key: str) -> int | None:
        """Gets the place that a public key opens."""
        return self.given.get(key, self.keys.get(key))

    def admit(self, place: int, code: str | None, key: str | None) -> str | None:
        """Takes in that somebody has come in: uses his code up, binds his key.

        Gets the code with which he comes back, where he used one up and has no key. Raises `OSError`.
        """
        if place == LOOKING_ON:
            return None
        self.came.add(place)
        made = None
        if code is not None and key is not None:
            self.codes.pop(_plain(code), None)
            self.keys[key] = place
        elif code is not None and self.codes.pop(_plain(code), None) is not None:
            made = new_code()
            self.returning[_hash(made)] = place
        self.save()
        return written(made) if made is not None else None

    def renew(self, place: int) -> str:
        """Forgets what opened a seat and makes a new code. Raises `OSError`."""
        self.codes = {k: p for k, p in self.codes.items() if p != place}
        self.returning = {k: p for k, p in self.returning.items() if p != place}
        self.keys = {k: p for k, p in self.keys.items() if p != place}
        code = new_code()
        self.codes[code] = place
        self.save()
        return code


def new_code() -> str:
    """Makes a code, of 49 bits."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


def written(code: str) -> str:
    """Writes a code as people read it."""
    return f"{code[: _LENGTH // 2]}-{code[_LENGTH // 2 :]}"


def _plain(typed: str) -> str:
    return "".join(c for c in typed.casefold() if c.isalnum())[:64]


def _hash(code: str) -> str:
    return hashlib.sha256(f"harbourmaster/{code}".encode()).hexdigest()
