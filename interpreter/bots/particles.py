"""Games as they may have gone: for a player's trail, other games that would have looked the same to him.

A particle is such a game, played from the start along the trail. Open choices are made as they were made; a choice of
which only the look is known is made anew among those that look the same, one of a round that is not over among all;
chance comes out as the player saw it, or anew where he did not see it. After each step he must see what he saw. Where
he would not, the step is mended before it is given up:

1. items that show are renamed (`Contents.relabel`): a shuffled pile is dealt as far as it is looked at;
2. one hidden outcome, one hidden choice, or the places of two hidden items before the step are changed, and the change
   is kept when what is seen comes no less near: a short local search;
3. when that does not help, the particle goes back some steps, each time further, and goes on otherwise from there.

Particle number k is the same whenever it is asked for: its random numbers depend on k, the attempt and the step, so
that keeping particles between decisions saves time and changes nothing. Steps of a round of choices at once are played
again each time until the round is over, because only then it is known how they looked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..chance import GOLDEN, MASK, mix
from ..errors import BrokenRule
from ..playout import Random
from ..python_backend import Position, Stop
from .changes import Wrong, distance
from .sight import decision_at, owner_of_action
from .trail import Address, Step, Trail, is_offered

if TYPE_CHECKING:
    from ..game import Game

ATTEMPTS = 24
"""How often a particle goes back and tries again, in a whole game, before it is given up."""
_BACK, _MOST_STUCK = 4, 4
_TRIES = 150
_TRIES_A_DRAW = 20
_MOST_TRIES = 600
_RENAMINGS = 100
_NEAR = 6
"""How far from what was drawn other outcomes are tried in turn."""
_STALE = 8
_SELDOM, _UPHILL = 20, 4
"""How seldom a step is kept that leads away, and how far away it may lead."""
_ELSEWHERE = 1000
"""The distance of a position that stands at another place."""


@dataclass(slots=True)
class _Plan:
    """A way a step may go: what the hidden draws and the hidden choice are, and from where."""

    position: Position
    stop: Stop
    draws: dict[tuple[int, Address], int]
    action: int = -1


@dataclass(slots=True)
class _Outcome:
    plan: _Plan
    position: Position
    stop: Stop
    distance: int
    wrong: dict[str, list[Wrong]]
    """The items that showed otherwise than they were seen."""


@dataclass(slots=True)
class _Particle:
    path: list[tuple[Position, Stop]] = field(default_factory=list)
    """Where it stood after each step."""
    attempt: int = 0
    stuck_at: int = -1
    """The step that it last failed at, and how often in a row."""
    stuck: int = 0

    def fail(self) -> None:
        """Goes back some steps to try again: the further, the more often it has failed at the same one."""
        at = len(self.path)
        self.stuck = self.stuck + 1 if at == self.stuck_at else 1
        self.stuck_at = at
        self.attempt = self.attempt + 1 if self.stuck <= _MOST_STUCK else ATTEMPTS
        del self.path[max(0, at - _BACK**self.stuck) :]


class Particles:
    """All particles of a player's trail, made as they are asked for."""

    def __init__(self, game: Game, trail: Trail, seed: int) -> None:
        self.game = game
        self.machine = game.machine()
        self.sight = trail.sight
        self.contents = trail.contents
        self.trail = trail
        self.seed = seed
        self._kept: dict[int, _Particle] = {}

    def forget(self) -> None:
        """Forgets all particles: the trail has begun anew."""
        self._kept.clear()

    def get(self, number: int, expired: Callable[[], bool] = lambda: False) -> tuple[Position, Stop] | None:
        """Gets a copy of a particle where the trail stands now; None if there is none by that number."""
        particle = self._kept.setdefault(number, _Particle())
        while particle.attempt < ATTEMPTS and not expired():
            if self._advance(particle, number, expired):
                return self._end(particle, number, expired)
        return None

    def _advance(self, particle: _Particle, number: int, expired: Callable[[], bool]) -> bool:
        """Plays a particle on along the steps that will never look different; False if it failed or time is up."""
        while len(particle.path) < self.trail.sealed:
            if expired():
                return False
            position, stop = particle.path[-1] if particle.path else (None, None)
            index = len(particle.path)
            after = self._step(position, stop, index, self._numbers(particle, number, index), expired)
            if after is None:
                particle.fail()
                return False
            particle.path.append(after)
        return True

    def _end(
        self, particle: _Particle, number: int, expired: Callable[[], bool]
    ) -> tuple[Position, Stop] | None:
        """Plays the steps of a round that is not over."""
        position, stop = particle.path[-1]
        for index in range(len(particle.path), len(self.trail.steps)):
            after = self._step(position, stop, index, self._numbers(particle, number, index), expired)
            if after is None:
                return None
            position, stop = after
        return position[:], stop

    def _numbers(self, particle: _Particle, number: int, index: int) -> Random:
        return Random(mix((self.seed + number * GOLDEN + mix(particle.attempt << 32 | index)) & MASK))

    # ------------------------------------------------------------------------------------------------- one step

    def _step(
        self,
        position: Position | None,
        stop: Stop,
        index: int,
        numbers: Random,
        expired: Callable[[], bool],
    ) -> tuple[Position, Stop] | None:
        step = self.trail.steps[index]
        if position is None:
            position, stop = self.game.program.initial[:], None
        plan = _Plan(position, stop, {})
        best = self._run(plan, step, index, numbers)
        if best is None or best.distance:
            best = self._rename(best, index, numbers)
        if best is None or best.distance:
            best = self._mend(best, plan, index, numbers, expired)
        return None if best is None else (best.position, best.stop)

    def _rename(self, best: _Outcome | None, index: int, numbers: Random) -> _Outcome | None:
        """Renames hidden items before the step, as long as others show in it than were seen."""
        found = best
        for _ in range(_RENAMINGS):
            if found is None or not found.wrong or index == 0:
                break
            plan = found.plan
            position = plan.position[:]
            if not self.contents.rename_hidden(position, found.wrong, self.sight.kinds(position)):
                break
            changed = self._looks_the_same(position, index)
            if changed is None:
                break
            found = self._run(
                _Plan(position, changed, plan.draws, plan.action), self.trail.steps[index], index, numbers
            )
            if found is not None and (best is None or found.distance < best.distance):
                best = found
            if found is not None and not found.distance:
                break
        return best

    def _mend(
        self,
        best: _Outcome | None,
        plan: _Plan,
        index: int,
        numbers: Random,
        expired: Callable[[], bool],
    ) -> _Outcome | None:
        """Looks for a way in which the step looks as it did, by small changes; gives up when time has expired."""
        step = self.trail.steps[index]
        broken = -1
        left = min(_TRIES * (1 + index - step.first) + _TRIES_A_DRAW * step.free, _MOST_TRIES)
        while left > 0 and not expired():
            left -= 1
            now = plan if best is None else best.plan
            for changed in self._changes(now, index, numbers):
                left -= 1
                found = self._run(changed, step, index, numbers)
                uphill = _UPHILL if numbers.below(_SELDOM) == 0 else 0
                if found is None or (best is not None and found.distance > best.distance + uphill):
                    continue
                if changed.position is not now.position:
                    if broken < 0:
                        broken = self.contents.broken(plan.position)
                    if self.contents.broken(changed.position) > broken:
                        continue
                better = best is None or found.distance < best.distance
                best = found
                if better:
                    break
            if best is not None and not best.distance:
                return best
        return None

    def _changes(self, plan: _Plan, index: int, numbers: Random) -> Iterator[_Plan]:
        """Yields plans in which one thing is different: a draw, a choice, or what was hidden before."""
        step = self.trail.steps[index]
        ways: list[Callable[[_Plan, int, Random], Iterator[_Plan]]] = []
        if plan.draws:
            ways.append(self._other_draws)
        if step.action < 0 and step.actor >= 0:
            ways.append(self._other_choices)
        if step.at_once and self._round(index):
            ways.append(self._other_pending)
        if index > 0:
            ways.append(self._other_contents)
        if ways:
            yield from ways[numbers.below(len(ways))](plan, index, numbers)

    def _other_draws(self, plan: _Plan, index: int, numbers: Random) -> Iterator[_Plan]:
        keys = list(plan.draws)
        key = keys[numbers.below(len(keys))]
        draws = dict(plan.draws)
        del draws[key]
        yield _Plan(plan.position, plan.stop, draws, plan.action)
        low, count = plan.draws[key] - _NEAR, 2 * _NEAR + 1
        for k in in_any_order(count, numbers):
            yield _Plan(plan.position, plan.stop, {**draws, key: low + k}, plan.action)

    def _other_choices(self, plan: _Plan, index: int, numbers: Random) -> Iterator[_Plan]:
        options = [a for a in self._options(plan.position, plan.stop, index) if a != plan.action]
        for k in in_any_order(len(options), numbers):
            yield _Plan(plan.position, plan.stop, plan.draws, options[k])

    def _other_pending(self, plan: _Plan, index: int, numbers: Random) -> Iterator[_Plan]:
        """Lets another have chosen something else before, in the same round."""
        if plan.stop.__class__ is not list:
            return
        program = self.game.program
        decision = decision_at(program, plan.position)
        earlier = self._round(index)
        if not earlier:
            return
        made = earlier[numbers.below(len(earlier))]
        actor = self.trail.steps[made].actor
        cleared = plan.position[:]
        cleared[decision.pending + actor] = 0
        options = self.machine.names[decision.own](cleared, actor)
        look = self.trail.look(made)
        chosen = plan.position[decision.pending + actor] - 1
        options = [a for a in options if a != chosen and (look is None or look.fits(program, a))]
        for k in in_any_order(len(options), numbers):
            position = plan.position[:]
            position[decision.pending + actor] = options[k] + 1
            yield _Plan(position, plan.stop, plan.draws, plan.action)

    def _round(self, index: int) -> list[int]:
        """Gets the steps before, of the same round of choices at once, that others made."""
        found: list[int] = []
        at = index - 1
        while at >= self.trail.steps[index].first:
            step = self.trail.steps[at]
            if step.at_once and step.action < 0:
                found.append(at)
            at -= 1
        return found

    def _other_contents(self, plan: _Plan, index: int, numbers: Random) -> Iterator[_Plan]:
        position = plan.position[:]
        for _ in range(_STALE):
            if self.contents.change(position, self.sight.kinds(position), numbers):
                break
        else:
            return
        stop = self._looks_the_same(position, index)
        if stop is not None:
            keep = plan.action if numbers.below(2) else -1
            yield _Plan(position, stop, plan.draws, keep)

    def _looks_the_same(self, position: Position, index: int) -> Stop:
        """Gets what a changed position stands at; None if the player would see the difference."""
        probe = position[:]
        try:
            stop = self.machine.stop(probe)
        except BrokenRule:
            return None
        if probe != position or self.sight.observe(position, stop) != self.trail.steps[index - 1].observation:
            return None
        return stop

    def _run(self, plan: _Plan, step: Step, index: int, numbers: Random) -> _Outcome | None:
        """Plays a step as planned, the rest by chance; None if that cannot be."""
        position = plan.position[:]
        action = -1
        try:
            if index == 0:
                stop = self.machine.run(position, self.game.program.start)
            else:
                action = self._choice(plan, step, index, numbers)
                if action < 0:
                    return None
                stop = self.machine.apply(position, action)
            draws: dict[tuple[int, Address], int] = {}
            while stop.__class__ is tuple:
                node: int = stop[0]
                outcome = self._draw(position, node, step, plan, draws, numbers)
                if outcome is None:
                    return None
                stop = self.machine.decide(position, node, outcome)
            return self._judge(_Plan(plan.position, plan.stop, draws, action), position, stop, step, numbers)
        except BrokenRule:
            return None

    def _choice(self, plan: _Plan, step: Step, index: int, numbers: Random) -> int:
        """Makes the choice of a step: as it was made, as planned, or anew; -1 if it cannot be made."""
        if plan.stop.__class__ is not list:
            return -1
        wanted = step.action if step.action >= 0 else plan.action
        if wanted >= 0:
            position = plan.position
            decision = decision_at(self.game.program, position)
            actor = owner_of_action(decision, position, wanted, self.game.program)
            return wanted if is_offered(self.machine, position, plan.stop, decision, wanted, actor) else -1
        options = self._options(plan.position, plan.stop, index)
        return options[numbers.below(len(options))] if options else -1

    def _options(self, position: Position, stop: Stop, index: int) -> list[int]:
        """Gets what may have been chosen in a step of another, as it looked."""
        if stop.__class__ is not list:
            return []
        program, step = self.game.program, self.trail.steps[index]
        decision = decision_at(program, position)
        options: list[int] = stop
        if decision.mode == "each":
            names = self.machine.names
            name = decision.own if step.at_once else decision.offers
            options = [a + program.actions * (step.actor + 1) for a in names[name](position, step.actor)]
        else:
            options = [a for a in options if owner_of_action(decision, position, a, program) == step.actor]
        look = self.trail.look(index)
        return options if look is None else [a for a in options if look.fits(program, a)]

    def _draw(
        self,
        position: Position,
        node: int,
        step: Step,
        plan: _Plan,
        draws: dict[tuple[int, Address], int],
        numbers: Random,
    ) -> int | None:
        """Lets chance decide: as it was seen, as planned, or anew; None if it cannot come out as it was seen."""
        stream, row, ordinal, low, count, weigh = self.machine.chance_info[node](position)
        row -= plan.position[self.game.program.chances[node].row]
        key = (node, (stream, row, ordinal))
        wanted = step.seen.get(key)
        fixed = wanted is not None
        if wanted is None:
            wanted = plan.draws.get(key)
        if (
            wanted is not None
            and low <= wanted < low + count
            and (weigh is None or weigh(position, wanted) > 0)
        ):
            outcome = wanted
        elif fixed:
            return None
        elif weigh is None:
            outcome = low + numbers.below(count)
        else:
            outcome = low + by_weight([weigh(position, low + i) for i in range(count)], numbers)
        if not fixed:
            draws[key] = outcome
        return outcome

    def _judge(self, plan: _Plan, position: Position, stop: Stop, step: Step, numbers: Random) -> _Outcome:
        """Tells how far what the player would see is from what he saw, after renaming what shows."""
        where, wanted = step.observation
        if self.sight.values(position) == wanted and self.sight.where(position, stop) == where:
            return _Outcome(plan, position, stop, 0, {})
        slots = self.sight.visible(position)
        if len(slots) != len(wanted):
            return _Outcome(plan, position, stop, 2 * _ELSEWHERE, {})
        if where[0] != self.sight.where(position, stop)[0]:
            wrong = self.contents.wrong(position, slots, wanted)
            return _Outcome(plan, position, stop, _ELSEWHERE + distance(position, slots, wanted), wrong)
        wrong = self.contents.wrong(position, slots, wanted)
        if wrong:
            kinds = self.sight.kinds(position)
            before = position[:]
            self.contents.relabel(position, wrong, kinds)
            if distance(position, slots, wanted):
                other = before[:]
                fetched = self.contents.fetch(other, wrong, kinds, numbers) and not distance(
                    other, slots, wanted
                )
                if fetched and self.contents.broken(other) <= self.contents.broken(before):
                    position[:] = other
        left = distance(position, slots, wanted)
        if not left:
            stop = self.machine.stop(position) if stop is not None else None
            left = int(self.sight.observe(position, stop) != step.observation)
        return _Outcome(plan, position, stop, left, wrong)


def in_any_order(count: int, numbers: Random) -> list[int]:
    """Gets the numbers from 0 to `count` - 1 in an order by chance."""
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        j = numbers.below(i + 1)
        order[i], order[j] = order[j], order[i]
    return order


def by_weight(weights: list[int], numbers: Random) -> int:
    """Draws an index by the weight of each."""
    at = numbers.below(sum(weights))
    for i, weight in enumerate(weights):
        at -= weight
        if at < 0:
            return i
    raise AssertionError("no outcome has any weight")
