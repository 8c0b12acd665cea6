"""Finds a small story in which two rule sets part, or says how far they were found to be the same.

In this order: are the two programs one (then they are the same for ever)? Random play in step, steered; if
the two part, the story is made small. If not, everything is tried from positions that came near a difference
and from the start, as deep as the effort allows. What is claimed is what was searched: the same by proof, the
same within so many decisions of a position (and how many positions these are), or not found in so many games.
"""

from __future__ import annotations

import re
import time

from msgspec import Struct, field

from ..errors import BrokenRule
from ..game import Game
from .consequence import look_on, matters
from .differences import Differences, differences, touched
from .exhaustive import Exhausted, Exhauster
from .lockstep import Lockstep, Tape, taped
from .matching import Match
from .playing import Choice, Effort, Line, Start, record
from .sameness import same_program
from .search import Searcher
from .shrink import Shrinker
from .telling import Told, tell

DECISIONS = 120_000
"""How many decisions are played at most, both games counted as one."""
SECONDS = 10.0


class Beginning(Struct):
    """Where games start, if not at their beginning: made of a scenario (see `starting`)."""

    start: Start
    place: str
    set_up: list[str]
    """The lines of a scenario that lead there."""
    moves: list[str]
    """The moves in words that lead there."""
    names: tuple[str, ...] = ()


class Near(Struct):
    """A position from which everything was tried: after which choices, and how far that went."""

    after: list[str]
    gone: Exhausted


class Story(Struct):
    """What came of the search."""

    a: Game
    b: Game
    lockstep: Lockstep
    start: Start
    found: Differences
    seed: int
    proved: bool = False
    """Whether the two run as one program, so that they never part."""
    line: Line | None = None
    told: Told | None = None
    later: Line | None = None
    """Where the two parted in values alone: the line that goes on up to where it matters, if one was found.
    """
    games: int = 0
    decisions: int = 0
    whole: Exhausted | None = None
    """What was tried from the start."""
    near: list[Near] = field(default_factory=list)
    late: bool = False
    """Whether the clock ended the search: another run may find more, or a smaller story."""
    place: str = "the start"
    set_up: list[str] = field(default_factory=list)
    """Lines of a scenario that lead to where it starts, if not at the beginning."""
    before: list[str] = field(default_factory=list)
    """The moves in words that lead there."""
    names: tuple[str, ...] = ()
    """What the players are called in the scenario, if otherwise than in the rules."""
    unheeded: frozenset[str] = frozenset()
    """Variables that are never drawn and differed before, without effect as far as was seen."""
    aside: Story | None = None
    """Where the two part in variables alone that are never drawn: how far was searched with these left aside."""

    @property
    def parts(self) -> bool:
        """Whether a parting was found."""
        return self.line is not None

    def claim(self) -> str:
        """Says what was found, and never more than was searched."""
        if self.proved:
            return "the same: both run as one and the same program"
        if self.line is not None:
            n = self.line.decisions
            claim = f"they part after {_decisions(n)}" if n else "they part before the first decision"
            if self.unheeded:
                claim += f" (and before in {_names(self.unheeded)} alone, never drawn on the table)"
            if self.aside is not None:
                aside = self.aside
                claim += (
                    f" in {_names(aside.unheeded)} alone, never drawn on the table; otherwise {aside.claim()}"
                )
            return claim
        out = [f"not found in {_count(self.games, 'game')} ({_decisions(self.decisions)})"]
        whole = self.whole
        if whole is not None and whole.depth >= 0:
            scope = "to the end of every game" if whole.all_over else f"within {_decisions(whole.depth)}"
            out.append(
                f"the same {scope} from {self.place} ({_count(whole.positions, 'position')}, exhaustive)"
            )
        if self.near:
            depth = min(n.gone.depth for n in self.near)
            total = sum(n.gone.positions for n in self.near)
            out.append(
                f"the same within {_decisions(depth)} from {_count(len(self.near), 'position')} near a difference "
                f"({_count(total, 'position')}, exhaustive)"
            )
        return "; ".join(out)


def _names(variables: frozenset[str]) -> str:
    return " and ".join(f"'{v.replace('_', ' ')}'" for v in sorted(variables))


def _decisions(n: int) -> str:
    return _count(n, "decision")


def _count(n: int, one: str) -> str:
    return f"{n:,} {one}" if n == 1 else f"{n:,} {one}s"


def find_story(
    a: Game,
    b: Game,
    *,
    seed: int = 1,
    decisions: int = DECISIONS,
    seconds: float = SECONDS,
    beginning: Beginning | None = None,
    language: str = "en",
    found: Differences | None = None,
) -> Story:
    """Looks for a small story in which two games part, from their start or another `beginning`.

    The same seed finds the same story, unless the clock (`seconds`) ends the search before so many
    `decisions` do.
    """
    rules = a.checked().rules, b.checked().rules
    if found is None:
        found = differences(*rules)
    lockstep = Lockstep(Match(a, b))
    story = Story(a, b, lockstep, Start(), found, seed)
    if beginning is not None:
        story.start, story.place = beginning.start, beginning.place
        story.set_up, story.before, story.names = beginning.set_up, beginning.moves, beginning.names
    if beginning is None and (same_program(a.program, b.program) or (found.none and a.offers == b.offers)):
        story.proved = True
        return story
    _, names = touched(found, *rules)
    effort = Effort(lockstep, decisions, seconds)
    searcher = Searcher(lockstep, story.start, seed, names)
    searched = searcher.search(effort.part(decisions * 6 // 10), decisions // 20)
    story.games, story.decisions = searched.games, searched.decisions
    line = searched.line
    if line is None:
        line = _near(story, searched.near, effort)
    if line is None:
        exhausted = Exhauster(lockstep, story.start).search(effort)
        story.whole = exhausted
        if exhausted.way is not None:
            tape = Tape(story.start.source(lockstep.match, seed), exhausted.way.tape)
            line = record(lockstep, story.start, exhausted.way.actions, tape)
    if line is not None:
        shrinker = Shrinker(lockstep, story.start, seed)
        story.line = shrinker.shrink(line, effort)
        if not matters(story.line.parting) and not _gains(story):
            onward = Effort(lockstep, decisions // 20, max(0.5, effort.deadline - time.monotonic()))
            story.later = look_on(lockstep, story.start, story.line, onward)
            _look_deeper(story, names, effort)
        story.told = tell(
            story.lockstep, story.start, story.line, found, language=language, later=story.later
        )
    story.late = effort.late
    return story


def _look_deeper(story: Story, names: set[str], effort: Effort) -> None:
    """Where the two part in bookkeeping alone that leads to nothing, looks for a parting that does without it.

    Bookkeeping is what the game's view never draws. Where nothing better is found, what was found stays, and `aside`
    tells how far was searched.
    """
    view = story.a.view()
    if view is None:
        return
    drawn = set(re.findall(r"[A-Za-z_]\w*", repr([view.get("headline"), view.get("panels")])))
    unheeded: frozenset[str] = frozenset()
    here = story
    for _ in range(3):
        assert here.line is not None
        differing = {e.variable for e in here.line.parting.state}
        if matters(here.line.parting) or here.later is not None or differing & drawn or _gains(here):
            break
        unheeded |= differing
        here = _without(story, unheeded, names, effort)
        if here.line is None:
            story.aside = here
            return
    story.lockstep, story.line, story.later = here.lockstep, here.line, here.later
    story.unheeded = unheeded


def _without(story: Story, unheeded: frozenset[str], names: set[str], effort: Effort) -> Story:
    """Looks for a story in which some variables do not count, with half the effort that is left."""
    lockstep = Lockstep(Match(story.a, story.b, unheeded))
    here = Story(story.a, story.b, lockstep, story.start, story.found, story.seed)
    here.place, here.unheeded = story.place, unheeded
    allowed = max(0, effort.end - effort.lockstep.steps) // 2
    part = Effort(lockstep, allowed, max(0.5, effort.deadline - time.monotonic()))
    searched = Searcher(lockstep, story.start, story.seed, names).search(
        part.part(allowed // 2), allowed // 20
    )
    here.games, here.decisions = searched.games, searched.decisions
    line = searched.line
    if line is None:
        here.whole = Exhauster(lockstep, story.start).search(part)
        if here.whole.way is not None:
            tape = Tape(story.start.source(lockstep.match, story.seed), here.whole.way.tape)
            line = record(lockstep, story.start, here.whole.way.actions, tape)
    if line is not None:
        here.line = Shrinker(lockstep, story.start, story.seed).shrink(line, part)
        if not matters(here.line.parting) and not _gains(here):
            here.later = look_on(lockstep, story.start, here.line, part.part(allowed // 10))
    return here


def _gains(story: Story) -> bool:
    """Tests if the scores differ where the two part in values: then that is what matters."""
    assert story.line is not None
    lockstep = story.lockstep
    tape = Tape(story.start.source(lockstep.match, 0), {**story.line.tape, **story.start.tape})
    streams = taped(lockstep.match, tape)
    twin = story.start.begin(lockstep, streams)
    for choice in story.line.choices:
        lockstep.apply(twin, choice.action, streams)
    try:
        return lockstep.a.scores(twin.a) != lockstep.b.scores(twin.b)
    except BrokenRule:
        return False


def _near(story: Story, prefixes: list[tuple[int, ...]], effort: Effort) -> Line | None:
    """Tries everything from positions that came near a difference: the earliest ones, the same effort for
    each.
    """
    lockstep = story.lockstep
    shortest = sorted({p[1:]: p for p in prefixes}.values(), key=len)[:12]
    if not shortest:
        return None
    share = (effort.end - lockstep.steps) // (2 * len(shortest))
    for seed, *actions in shortest:
        if effort.spent():
            break
        # from two decisions before it came near
        before = actions[: max(0, len(actions) - 2)]
        tape = Tape(story.start.source(lockstep.match, seed), story.start.tape)
        streams = taped(lockstep.match, tape)
        twin = story.start.begin(lockstep, streams)
        for action in before:
            lockstep.apply(twin, action, streams)
        if lockstep.is_over(twin) or lockstep.parting(twin) is not None:
            continue
        begun = story.start
        there = Start(twin.a, twin.stop_a, twin.b, twin.stop_b, dict(tape.kept), begun.seed, begun.fixed)
        gone = Exhauster(lockstep, there).search(effort.part(share))
        if gone.way is not None:
            whole = Tape(story.start.source(lockstep.match, seed), gone.way.tape)
            return record(lockstep, story.start, [*before, *gone.way.actions], whole)
        if gone.depth > 0:
            story.near.append(Near(_words(story, before, tape), gone))
    return None


def _words(story: Story, actions: list[int], tape: Tape) -> list[str]:
    """Gets the words of choices from the start."""
    streams = taped(story.lockstep.match, tape)
    state = story.a.new_initial_state()
    if story.start.a is not None:
        state = story.a.state_at(story.start.a)
    state.streams = streams[0]
    state.settle()
    words = []
    for action in actions:
        actor = state.actor(action)
        who = f"{story.a.player_names[actor]}: " if actor >= 0 else ""
        words.append(who + state.describe(action, actor))
        state.apply_action(action)
    return words


__all__ = ["Choice", "Near", "Story", "find_story"]
