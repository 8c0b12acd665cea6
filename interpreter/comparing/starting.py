"""Takes a scenario as the place where games to be compared start.

The scenario's set-up and the moves of its first stretch are played under both rule sets; what it expects does
not count. Chance after that is free, as in any comparison, but for streams that the scenario has drawn from
its seed already: those go on by that seed, so that the story can be written down as a scenario again.
"""

from __future__ import annotations

import json

from ...grammar.diagnostics import suggestion
from ..errors import PlayError
from ..game import Game, State
from ..scenario_files import Case, load_scenarios
from ..scenarios import state_of
from ..scripts import ScriptedStreams
from ..yamlfile import plain
from .lockstep import Drawn
from .playing import Start
from .story import Beginning


def find_case(text: str) -> Case:
    """Finds the scenario meant by `FILE` or `FILE:NAME`, part of a name being enough.

    Raises `RulesError` when the file cannot be read, `PlayError` when it does not say which is meant.
    """
    path, _, name = text.partition(":")
    cases = [s.cases[0] for s in load_scenarios(path)]
    found = [c for c in cases if name.casefold() in c.name.casefold()]
    exact = [c for c in cases if c.name == name]
    if len(exact) == 1:
        return exact[0]
    if len(found) == 1:
        return found[0]
    names = [c.name for c in (found or cases)]
    help = suggestion(name, names, what="its scenarios are")
    message = f"several scenarios of {path} may be meant" if found else f"{path} has no scenario '{name}'"
    raise PlayError("scenario-name", f"{message}: {help or ', '.join(names[:8])}")


def start_from(text: str, a: Game, b: Game) -> Beginning:
    """Plays a scenario's set-up and moves under both rule sets. Raises `RulesError` or `PlayError`."""
    case = find_case(text)
    if case.players is not None and case.players != a.num_players():
        wanted = f"the scenario is for {case.players} players, the rules were loaded for {a.num_players()}"
        raise PlayError("scenario-players", f"{wanted}: add --players {case.players}")
    first, second = state_of(case, game=a), state_of(case, game=b)
    tape, fixed = _drawn(first)
    start = Start(first.position, first.stop, second.position, second.stop, tape, case.seed, frozenset(fixed))
    set_up = [f"  seed: {case.seed}"] if case.seed else []
    step = case.steps[0]
    if step.changes:
        set_up.append("  set:")
        for entry in step.changes:
            value = json.dumps(plain(entry.value), ensure_ascii=False)
            set_up.append(f"    {json.dumps(entry.key, ensure_ascii=False)}: {value}")
    return Beginning(start, f"'{case.name}'", set_up, [m.words for m in step.moves], case.names)


def _drawn(state: State) -> tuple[dict[Drawn, int], set[int]]:
    """Gets what scripts have given so far, and which streams have been drawn from the seed."""
    program = state.game.program
    rows: dict[int, int] = {}
    for c in program.chances:
        rows[c.stream] = max(rows.get(c.stream, 0), state.position[c.row])
    tape: dict[Drawn, int] = {}
    fixed: set[int] = set()
    streams = state.streams
    assert isinstance(streams, ScriptedStreams)
    for stream, count in rows.items():
        script = streams.rows.get(stream)
        if not script:
            if count:
                fixed.add(stream)
            continue
        for row in range(count):
            values, _, _ = script[row % len(script)]
            for ordinal, value in enumerate(values):
                tape[stream, row, ordinal] = value
    return tape, fixed
