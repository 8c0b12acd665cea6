"""The referee for programs: answers lines of JSON about games of one rule set (`PROTOCOL.md`).

`Engine.answer` takes one line and gives the line that answers it, whatever the line holds: what cannot be done is an
error with a code and a message, and changes nothing. It reads and writes no file and starts no program.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import UnsetType

from ..grammar.diagnostics import RulesError, render
from . import engine_requests as ask
from .engine_requests import LONGEST, PROTOCOL, Refused, Request, read_line, read_request
from .errors import IllegalMove, PlayError
from .game import Game, State, load_game

if TYPE_CHECKING:
    from .bots.policy import Policy
    from .record_files import Record
    from .seen import Onlooker

MOST_STATES = 10_000
"""How many states may be held at a time."""

Answer = dict[str, Any]


class Sitting:
    """One state that a client holds: the way to it, so that it can be taken back and saved."""

    def __init__(self, game: Game, states: list[State], seed: int | None) -> None:
        self.game = game
        self.states = states
        """Where it stood at first and after each choice; never changed but by going on and back."""
        self.seed = seed
        self.loaded: Record | None = None
        self.from_record = 0
        """How many of the choices are those of the record it was loaded from."""

    @property
    def state(self) -> State:
        """Where it stands."""
        return self.states[-1]

    def copy(self) -> Sitting:
        """Makes another that stands here, too."""
        made = Sitting(self.game, self.states[:], self.seed)
        made.loaded, made.from_record = self.loaded, self.from_record
        return made


class Engine:
    """Holds the games of one client."""

    def __init__(self, name: str, players: int | None = None) -> None:
        """Loads the rule set. Raises `RulesError`."""
        self.name = name
        self.game = load_game(name, players=players)
        self._games: dict[tuple[object, ...], Game] = {}
        self._onlookers: dict[int, Onlooker] = {}
        self._sittings: dict[int, Sitting] = {}
        self._next = 1
        self._policies: dict[str, Policy] = {}
        self.is_over = False
        """Whether the client has asked to end."""
        self._does: dict[type[Request], Callable[[Any], Answer]] = {
            ask.Hello: lambda request: self.hello(),
            ask.New: self._new,
            ask.Where: lambda request: self._where(request.state),
            ask.Legal: self._legal,
            ask.Apply: self._apply,
            ask.WhyNot: self._why_not,
            ask.View: self._view,
            ask.Returns: self._returns,
            ask.UndoLast: self._undo,
            ask.Clone: lambda request: self._keep(self._sitting(request.state).copy()),
            ask.Drop: self._drop,
            ask.Ask: self._ask,
            ask.Save: self._save,
            ask.Load: self._load,
            ask.Quit: self._quit,
        }

    # --------------------------------------------------------------------------------------------------- lines

    def greeting(self) -> bytes:
        """Gets the line that the engine begins with: the answer to a `hello` that nobody sent."""
        return _line({"id": None, "result": self.hello()})

    def too_long(self) -> bytes:
        """Gets the answer to a line that is too long to be read."""
        return _line(_refusal(None, Refused("too-long", f"the line has more than {LONGEST:,} bytes")))

    def answer(self, line: bytes) -> bytes:
        """Answers a line."""
        number: Any = None
        try:
            found = read_line(line)
            number = found.get("id")
            request = read_request(found)
            return _line({"id": number, "result": self._does[type(request)](request)})
        except Refused as refused:
            return _line(_refusal(number, refused))
        except RulesError as error:
            return _line(_refusal(number, _of_rules(error)))
        except PlayError as error:
            rule = "" if error.span is None else str(error.span)
            return _line(_refusal(number, Refused(error.code, error.message, rule=rule)))
        except Exception as error:  # a fault of ours must not end the games of a client
            return _line(
                _refusal(number, Refused("fault", f"a fault of ours: {type(error).__name__}: {error}"))
            )

    # --------------------------------------------------------------------------------------------------- games

    def hello(self) -> Answer:
        """Tells who speaks."""
        least, most = self.game.compiled.player_counts
        return {
            "protocol": PROTOCOL,
            "ruleset": self.game.canonical,
            "hash": self.game.content_hash,
            "title": self.game.compiled.title.get("en", self.game.name),
            "players": {"least": least, "most": most, "usual": self.game.num_players()},
            "requests": sorted(ask.REQUESTS),
        }

    def _new(self, request: ask.New) -> Answer:
        for text in (*request.readings, *request.readings.values()):
            if not text.replace("-", "").replace("_", "").isalnum():
                raise Refused("field", f"'readings': '{text}' is no name of a question or reading")
        key = (request.players, tuple(sorted(request.readings.items())), request.offers)
        if key not in self._games:
            plain = request.players in (None, self.game.num_players()) and not request.readings
            self._games[key] = (
                self.game
                if plain and request.offers
                else load_game(
                    self.name,
                    players=request.players or self.game.num_players(),
                    readings=request.readings,
                    offers=request.offers,
                )
            )
        game = self._games[key]
        seed = secrets.randbits(48) if isinstance(request.seed, UnsetType) else request.seed
        return self._keep(Sitting(game, [game.new_initial_state(seed)], seed))

    def _keep(self, sitting: Sitting) -> Answer:
        if len(self._sittings) >= MOST_STATES:
            raise Refused("too-many", f"{MOST_STATES:,} states are held", "'drop' those you need no more")
        number = self._next
        self._next += 1
        self._sittings[number] = sitting
        game = sitting.game
        about = {"ruleset": game.canonical, "hash": game.content_hash, "seed": sitting.seed}
        return {**self._where(number), **about, "players": list(game.player_names)}

    def _sitting(self, number: int) -> Sitting:
        found = self._sittings.get(number)
        if found is None:
            held = "none is held" if not self._sittings else f"the last one is {max(self._sittings)}"
            raise Refused("no-state", f"there is no state {number}", held)
        return found

    def _state(self, number: int) -> State:
        return self._sitting(number).state

    def _seat(self, state: State, player: int | None) -> int | None:
        players = state.game.num_players()
        if player is not None and not 0 <= player < players:
            raise Refused("no-player", f"there is no player {player}", f"the players are 0 to {players - 1}")
        return player

    def _where(self, number: int) -> Answer:
        sitting = self._sitting(number)
        state = sitting.state
        player = state.current_player()
        return {
            "state": number,
            "choices": len(sitting.states) - 1,
            "over": state.is_terminal(),
            "chance": state.is_chance_node(),
            "simultaneous": state.is_simultaneous_node(),
            "player": player if player >= 0 else None,
            "to_act": state.players_to_act(),
        }

    def _drop(self, request: ask.Drop) -> Answer:
        self._sitting(request.state)
        del self._sittings[request.state]
        return {"held": len(self._sittings)}

    def _quit(self, request: ask.Quit) -> Answer:
        self.is_over = True
        return {}

    # ------------------------------------------------------------------------------------------------- actions

    def _legal(self, request: ask.Legal) -> Answer:
        state = self._state(request.state)
        self._seat(state, request.player)
        if state.is_chance_node():
            return {"outcomes": [{"action": a, "probability": p} for a, p in state.chance_outcomes()]}
        return {
            "actions": [
                {"action": a, "player": p if p >= 0 else None, "words": state.describe(a, p)}
                for a, p in _options(state)
                if request.player in (None, p)
            ]
        }

    def _choice(self, state: State, request: ask.Move) -> tuple[int, int | None]:
        """Finds the action that a request names, and its player where several choose at once.

        Raises `Refused`, `IllegalMove` or `UnclearMove`.
        """
        from .plain import find_move

        player = self._seat(state, request.player)
        if (request.action is None) == (request.words is None):
            raise Refused("field", "want one of 'action' and 'words'")
        if request.words is not None:
            if state.is_chance_node():
                raise Refused("field", "chance decides here, by the number of an outcome: want 'action'")
            if player is None:
                return find_move(state, request.words)
            return state.parse_action(request.words, "en", player), self._at_once(state, player)
        action = request.action
        assert action is not None
        if state.is_chance_node():
            return action, None
        most = state.game.program.actions * (state.game.num_players() + 1)
        if not 0 <= action < most:
            raise Refused("no-action", f"there is no action {action}", f"actions are 0 to {most - 1}")
        return action, self._at_once(state, player)

    def _at_once(self, state: State, player: int | None) -> int | None:
        if not state.is_simultaneous_node():
            return None
        waiting = state.players_to_act()
        if player is None and len(waiting) > 1:
            names = ", ".join(map(str, waiting))
            raise Refused("field", f"several choose at once: want 'player', one of {names}")
        return waiting[0] if player is None else player

    def _apply(self, request: ask.Apply) -> Answer:
        sitting = self._sitting(request.state)
        action, player = self._choice(sitting.state, request)
        state = sitting.state.clone()
        self._check_actor(state, action, request.player)
        state.apply_action(action, player)
        sitting.states.append(state)
        return self._where(request.state)

    def _check_actor(self, state: State, action: int, player: int | None) -> None:
        if player is None or state.decision is None or state.is_simultaneous_node():
            return
        if state.actor(action) != player:
            raise IllegalMove("illegal", f"that is not for player {player} to do here")

    def _why_not(self, request: ask.WhyNot) -> Answer:
        state = self._state(request.state)
        try:
            action, player = self._choice(state, request)
        except IllegalMove as refusal:
            return {"allowed": False, "reason": refusal.message, "rule": _place(refusal)}
        if state.is_chance_node():
            allowed = action in state.legal_actions()
            return {
                "allowed": allowed,
                "reason": "" if allowed else f"{action} is no outcome here",
                "rule": None,
            }
        if state.decision is not None and action in state.legal_actions() and request.player is None:
            return {"allowed": True, "reason": "", "rule": None}
        n = state.game.program.actions
        who = request.player if player is None else player
        if who is None and action >= n:
            who = action // n - 1
        found = state.why_not(action % n, who)
        if found is None:
            return {"allowed": True, "reason": "", "rule": None}
        return {"allowed": False, "reason": found.reason, "rule": str(found.span) if found.span else None}

    def _undo(self, request: ask.UndoLast) -> Answer:
        sitting = self._sitting(request.state)
        made = len(sitting.states) - 1
        if not 0 <= request.count <= made:
            raise Refused("field", f"'count': got {request.count}, want 0 to {made}")
        del sitting.states[len(sitting.states) - request.count :]
        sitting.from_record = min(sitting.from_record, len(sitting.states) - 1)
        return self._where(request.state)

    # -------------------------------------------------------------------------------------------- looking at it

    def _view(self, request: ask.View) -> Answer:
        state = self._state(request.state)
        player = self._seat(state, request.player)
        onlooker = self._onlookers.get(id(state.game))
        if onlooker is None:
            from .seen import Onlooker

            onlooker = self._onlookers[id(state.game)] = Onlooker(state.game)
        if player is None:
            return {"variables": onlooker.variables(state, None)}
        return {"player": player, **onlooker.seen(state, player)}

    def _returns(self, request: ask.Returns) -> Answer:
        state = self._state(request.state)
        over = state.is_terminal()
        return {
            "over": over,
            "returns": state.returns(),
            "scores": state.scores(),
            "winners": state.winners() if over else None,
            "measures": state.measures(),
        }

    def _ask(self, request: ask.Ask) -> Answer:
        from .bots.policy import UnknownPolicy, make_policy
        from .playout import Random

        policy = self._policies.get(request.policy)
        if policy is None:
            try:
                policy = self._policies[request.policy] = make_policy(request.policy)
            except UnknownPolicy as error:
                raise Refused("no-policy", str(error), error.help) from None
        state = self._state(request.state).clone()
        state.streams = None  # in which it could read the future
        waiting = state.players_to_act()
        player = self._seat(state, request.player)
        if player is None:
            player = (
                state.current_player() if state.current_player() in waiting else next(iter(waiting), None)
            )
        if player is None or player not in waiting:
            who = "nobody decides" if player is None else f"player {player} does not decide"
            raise Refused("not-to-act", f"{who} here")
        action = policy.choose(state, player, Random(request.seed))
        words = None if action is None else state.describe(action, player)
        return {"player": player, "action": action, "words": words}

    # -------------------------------------------------------------------------------------------------- records

    def _save(self, request: ask.Save) -> Answer:
        from .record_files import parse_record
        from .records import Recorder

        sitting = self._sitting(request.state)
        if sitting.loaded is None:
            state = sitting.states[0].clone()
            recorder = Recorder.start(state, sitting.seed)
        else:
            state = sitting.states[sitting.from_record].clone()
            record = parse_record(sitting.loaded.text())
            recorder = Recorder.onward(record, sitting.game)
            recorder.undo(len(record.choices()) - sitting.from_record)
        for action, player, _ in sitting.state.choices()[sitting.from_record :]:
            recorder.choose(state, action, player)
        return {"record": recorder.record.text()}

    def _load(self, request: ask.Load) -> Answer:
        from .records import parse_record, replay

        record = parse_record(request.record)
        if "/" in record.rules and record.rules != self.game.canonical:
            raise Refused(
                "record-rules", f"this is a record of {record.rules}: files of rules are not read here"
            )
        game = load_game(record.rules, players=record.players, offers=record.offers)
        if game.checked().rules.game != self.game.checked().rules.game:
            raise Refused("record-rules", f"this is a record of {record.rules}, not of {self.game.canonical}")
        if game.content_hash != record.content_hash:
            raise Refused("record-rules", f"{record.rules} has changed since this record was made")
        states = [state.clone() for state in replay(record, game=game, trace=False)]
        sitting = Sitting(game, states, record.seed)
        sitting.loaded, sitting.from_record = record, len(states) - 1
        return self._keep(sitting)


def _options(state: State) -> list[tuple[int, int]]:
    """Gets what anybody may do, with who (-1: nobody): all of those who choose at once, in turn."""
    if state.is_simultaneous_node():
        return [(a, p) for p in state.players_to_act() for a in state.legal_actions(p)]
    return [(a, state.actor(a)) for a in state.legal_actions()]


def _place(error: PlayError) -> str | None:
    return None if error.span is None else str(error.span)


def _of_rules(error: RulesError) -> Refused:
    first = error.diagnostics[0]
    more = "\n".join(render(d) for d in error.diagnostics)
    return Refused(first.code, first.message, more)


def _refusal(number: Any, refused: Refused) -> Answer:
    found = {"code": refused.code, "message": refused.message}
    found |= {"help": refused.help} if refused.help else {}
    found |= {"rule": refused.rule} if refused.rule else {}
    return {"id": number, "error": found}


def _line(answer: Answer) -> bytes:
    return json.dumps(answer, separators=(",", ":")).encode("ascii") + b"\n"
