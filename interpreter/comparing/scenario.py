"""Writes a story as a scenario file, which the scenario runner plays under both rule sets.

The choices in the rules' own words, chance as it came out, and what must hold then: under the first rule set,
and `under` what the second one adds to it. Where neither can be named by adding to the other, two scenarios
are written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...grammar.diagnostics import RulesError
from ..game import Game, State
from ..load import load_ruleset
from ..naming import RuleSetName
from ..plain import element_name, move_words, plain_game
from ..ruleset import RuleSet
from ..scripts import stream_types
from ..types import FlagType
from .differences import differences
from .lockstep import Parting
from .matching import Element
from .story import Story
from .telling import play_states

_MOST_OPTIONS = 3
_MOST_VALUES = 12


def scenario_text(story: Story, name: str = "") -> str:
    """Writes the story as a scenario file.

    Gives "" where there is no story, or one that scenarios cannot tell: one of the two breaks off, or they
    part in who sees what, or in the odds of chance alone.
    """
    if story.line is None or story.line.parting.kind in ("broken", "sight", "chance"):
        return ""
    return _Writer(story, name).text()


class _Writer:
    def __init__(self, story: Story, name: str) -> None:
        assert story.line is not None and story.told is not None
        self.story = story
        self.line = story.line
        self.name = name or f"{story.told.headline}: {story.a.canonical} and {story.b.canonical}"
        self.names = story.names or story.a.player_names
        self.games = (plain_game(story.a, self.names), plain_game(story.b, self.names))
        self.moves: list[str] = []
        states: tuple[State, State] | None = None
        for n, pair in enumerate(play_states(story.lockstep, story.start, self.line, games=self.games)):
            if n < len(self.line.choices):
                self.moves.append(move_words(pair[0], self.line.choices[n].action))
            states = pair
        assert states is not None
        self.states = states

    def text(self) -> str:
        out = [
            "# Written by comparing two rule sets: the same choices, the same chance, and where they part.",
            "",
        ]
        a, b = self.story.a, self.story.b
        found = _relation(a, b)
        if found is None:
            for k, game in enumerate((a, b)):
                out += self._scenario(game, k, f"{self.name} ({'first' if k == 0 else 'second'})")
            return "\n".join(out) + "\n"
        first, entry = found
        out += self._scenario((a, b)[first], first, self.name)
        out.append("  under:")
        out.append(f"    {json.dumps(entry, ensure_ascii=False)}:")
        if self._streams(1 - first) != self._streams(first):
            out += self._chance(1 - first, "      ")
        out.append("      expect:")
        out += [f"        - {line}" for line in self._expected(1 - first)]
        return "\n".join(out) + "\n"

    def _scenario(self, game: Game, k: int, name: str) -> list[str]:
        out = [
            f"- name: {_quoted(name)}",
            f"  rules: {_quoted(game.canonical)}",
            f"  players: {self._players()}",
        ]
        if not game.offers:
            out.append("  offers: false")
        out += self.story.set_up
        out += self._chance(k, "  ")
        moves = [*self.story.before, *self.moves]
        if moves:
            out.append("  moves:")
            out += [f"    - {_quoted(words)}" for words in moves]
        out.append("  expect:")
        out += [f"    - {line}" for line in self._expected(k)]
        return out

    def _players(self) -> str:
        if not self.story.names:
            return f"{self.story.a.num_players()}"
        return f"[{', '.join(map(_quoted, self.names))}]"

    # ------------------------------------------------------------------------------------------------- chance

    def _streams(self, k: int) -> dict[str, list[str]]:
        """Gets the script of each stream of a game: its rows as YAML."""
        game = self.games[k]
        match = self.story.lockstep.match
        numbers = range(len(game.program.streams)) if k == 0 else match.streams_b
        types = stream_types(game)
        labels = game.labels("en")
        scripts = {}
        for name, number in zip(game.program.streams, numbers, strict=True):
            if number in self.story.start.fixed:
                continue
            rows: dict[int, dict[int, int]] = {}
            for (stream, row, ordinal), value in {**self.story.start.tape, **self.line.tape}.items():
                if stream == number:
                    rows.setdefault(row, {})[ordinal] = value
            if rows:
                any_row = next(iter(rows.values()))
                listed = []
                for row in range(max(rows) + 1):
                    values = rows.get(row, any_row)
                    some = next(iter(values.values()))
                    words = [
                        _value(labels.value(values.get(i, some), types[name])) for i in range(max(values) + 1)
                    ]
                    listed.append(words[0] if len(words) == 1 else f"[{', '.join(words)}]")
                scripts[name] = listed
        return scripts

    def _chance(self, k: int, indent: str) -> list[str]:
        scripts = self._streams(k)
        if not scripts:
            return []
        out = [f"{indent}chance:"]
        for name, rows in scripts.items():
            out.append(f"{indent}  {name}: [{', '.join(rows)}]")
        return out

    # ----------------------------------------------------------------------------------------------- expected

    def _expected(self, k: int) -> list[str]:
        parting, state = self.line.parting, self.states[k]
        out: list[str] = []
        if parting.kind in ("over", "decider"):
            out.append(f"over: {_flag(state.is_terminal())}")
            if not state.is_terminal():
                names = [state.game.player_names[p] for p in state.players_to_act()]
                out.append(f"decides: [{', '.join(map(_quoted, names))}]")
        if parting.kind == "options":
            out += self._options(parting, k)
        if parting.kind == "decider" and parting.who[0] == parting.who[1]:
            words = [move_words(state, a) for a in state.legal_actions()[:_MOST_OPTIONS]]
            out += [f"offered: {_quoted(w)}" for w in words]
        if parting.kind in ("state", "outcome"):
            out += [self._element(e, k) for e in self._shown(parting.state) if self._counts(e, k)]
        if parting.kind == "outcome":
            out.append(f"returns: [{', '.join(map(str, parting.scores[k]))}]")
            names = [state.game.player_names[p] for p in parting.winners[k]]
            out.append(f"winners: [{', '.join(map(_quoted, names))}]")
        return out

    def _counts(self, e: Element, k: int) -> bool:
        """Tests if an element is there: an item of a pile may lie behind its end."""
        v = self.games[k].program.variables[e.variable]
        slot = (e.slot_a, e.slot_b)[k]
        return v.width == 1 or e.indices[-1] <= self.states[k].position[slot - e.indices[-1]]

    @staticmethod
    def _shown(elements: Sequence[Element]) -> Sequence[Element]:
        return elements[:_MOST_VALUES]

    def _options(self, parting: Parting, k: int) -> list[str]:
        match = self.story.lockstep.match
        out = [f"options: {len(self.states[k].legal_actions())}"]
        for actions, owner, turn in ((parting.only_a, 0, match.to_b), (parting.only_b, 1, match.to_a)):
            known = [a for a in actions if owner == k or turn(a) >= 0]
            words = [move_words(self.states[owner], a) for a in known[:_MOST_OPTIONS]]
            out += [f"{'offered' if owner == k else 'not offered'}: {_quoted(w)}" for w in words]
        return out

    def _element(self, e: Element, k: int) -> str:
        state = self.states[k]
        slot = (e.slot_a, e.slot_b)[k]
        v = state.game.program.variables[e.variable]
        labels = state.game.labels("en")
        value = state.position[slot]
        if v.width > 1:
            whole = element_name(self.games[0], e.variable, e.indices).partition(" of ")[2]
            if e.indices[-1] == 0:
                return f"{_quoted(f'length of {whole}')}: {value}"
            item = labels.value(value, getattr(v.type, "base", v.type))
            return f"{_quoted(f'{whole}[{e.indices[-1]}]')}: {_value(item)}"
        name = element_name(self.games[0], e.variable, e.indices)
        if isinstance(v.type, FlagType):
            return f"{_quoted(name)}: {'yes' if value else 'no'}"
        written = labels.value(value, v.type)
        nobody = value < 0 and not written.lstrip("-").isdigit()
        return f"{_quoted(name)}: {'none' if nobody else _value(written)}"


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _quoted(text: str) -> str:
    plain = text.replace(" ", "").replace("_", "").replace("-", "")
    if (
        plain.isalnum()
        and text[0].isalpha()
        and text not in ("yes", "no", "true", "false", "null", "on", "off")
    ):
        return text
    return json.dumps(text, ensure_ascii=False)


def _value(text: str) -> str:
    return text if text.lstrip("-").isdigit() else _quoted(text)


# ----------------------------------------------------------------------------------------- one from the other


def _relation(a: Game, b: Game) -> tuple[int, str] | None:
    """Finds which of two rule sets (0 or 1) the other can be named from by adding, and what is added; None if
    neither.
    """
    rules = (a.checked().rules, b.checked().rules)
    if a.offers != b.offers:
        return None
    for first in (0, 1):
        entry = _added(rules[first], rules[1 - first])
        if entry and _is_same(rules[first].canonical, entry, rules[1 - first]):
            return first, entry
    return None


def _added(base: RuleSet, other: RuleSet) -> str:
    left, right = RuleSetName.parse(base.canonical), RuleSetName.parse(other.canonical)
    mine = [p.text for p in left.overlays]
    theirs = [p.text for p in right.overlays]
    if left.game.text != right.game.text or not set(mine) <= set(theirs):
        return ""
    parts: list[str] = [p for p in theirs if p not in mine]
    for d in differences(base, other).items:
        if d.kind in ("reading", "value") and d.b is not None:
            parts.append(f"{d.name}={d.b.text}")
    if not parts:
        return ""
    # what an added overlay brings anyway need not be said
    bare = "+".join(p for p in parts if "=" not in p)
    return bare if bare and _is_same(base.canonical, bare, other) else "+".join(parts)


def _is_same(base: str, entry: str, wanted: RuleSet) -> bool:
    try:
        name = RuleSetName.parse(base)
        added = RuleSetName.parse(f"game+{entry}")
        for part in added.overlays:
            name = name.with_overlay(part.text)
        for setting in added.settings:
            name = name.with_setting(setting.key, setting.value)
        return differences(load_ruleset(name.canonical(), players=wanted.players), wanted).none
    except (RulesError, ValueError):
        return False
