"""Names and sentences as people read them, in the languages a game is labelled in.

The rules' own sentences are English; a label file gives names for dotted names (`fruit.apple`) and, under `sentences`,
the translation of each sentence, with the same placeholders.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct, field

from . import program as ir
from .layout import MOST_TEXTS
from .types import EnumType, FlagType, OptionalType, PileType, SetType, TextType, Type

LANGUAGES = ("en", "zh-Hans", "zh-Hant")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


class Labels(Struct):
    """The labels of one game in one language."""

    language: str
    names: dict[str, str] = field(default_factory=dict)
    sentences: dict[str, str] = field(default_factory=dict)
    players: tuple[str, ...] = ()
    texts: list[str] = field(default_factory=lambda: [""])
    """The free texts that players gave, by number; number 0 stands for one not yet given."""

    def entry(self, enum: EnumType, index: int) -> str:
        """Gets the name of an entry of an enumeration."""
        if enum.origin == "players":
            return self.players[index] if index < len(self.players) else enum.entries[index]
        plain = enum.entries[index]
        return self.names.get(f"{enum.name}.{plain}", plain.replace("_", " "))

    def sentence(self, text: str) -> str:
        """Gets a sentence in this language, with its placeholders."""
        return self.sentences.get(text, text)

    def value(self, value: int, type_: Type) -> str:
        """Writes a value."""
        match type_:
            case OptionalType(base):
                if value < 0:
                    return {"en": "nobody"}.get(
                        self.language, "无人" if self.language == "zh-Hans" else "無人"
                    )
                return self.value(value, base)
            case EnumType():
                return self.entry(type_, value) if 0 <= value < len(type_.entries) else "?"
            case FlagType():
                return ("no", "yes")[value] if self.language == "en" else ("否", "是")[value]
            case SetType(base) if isinstance(base, EnumType):
                names = [self.entry(base, i) for i in range(len(base.entries)) if value >> i & 1]
                return (", " if self.language == "en" else "、").join(names) or "–"
            case TextType():
                return self.texts[value] if 0 < value < len(self.texts) else "…"
            case _:
                return str(value)

    def render(self, text: ir.Text, values: Sequence[int | str]) -> str:
        """Writes a sentence with its values; a value given as text stands as it is."""
        shown = {
            key: v if isinstance(v, str) else self.value(v, t)
            for key, t, v in zip(text.keys, text.types, values, strict=True)
        }
        return _PLACEHOLDER.sub(lambda m: shown.get(m[1], m[0]), self.sentence(text.sentence))

    def intern(self, text: str) -> int:
        """Gets the number of a free text, giving it one if it is new."""
        if text not in self.texts:
            if len(self.texts) >= MOST_TEXTS:
                raise ValueError("too many different texts")
            self.texts.append(text)
        return self.texts.index(text)

    def missing(self, program: ir.Program) -> list[str]:
        """Lists the sentences and entries of a program that this language has no label for."""
        wanted = [t.sentence for t in program.texts if not _PLACEHOLDER.fullmatch(t.sentence)]
        wanted += [m.text for m in program.measures] + [text for text, _, _ in program.invariants]
        spoken = {s for s in wanted if re.search("[A-Za-z]", _PLACEHOLDER.sub("", s))}
        entries: set[str] = set()
        for type_ in (t for text in program.texts for t in text.types):
            enum = type_.base if isinstance(type_, OptionalType | SetType | PileType) else type_
            if isinstance(enum, EnumType) and enum.origin in ("table", "kind"):
                entries |= {f"{enum.name}.{e}" for e in enum.entries}
        return sorted(spoken - set(self.sentences)) + sorted(entries - set(self.names))
