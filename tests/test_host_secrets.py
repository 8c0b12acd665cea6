"""Nobody at a table over a line reads another's secrets: games that differ in them alone show him the same.

Two games are played side by side that look the same to one seat: other hands were dealt to others, or others chose
otherwise in secret. Whatever that seat types, in every command, every answer must be the same to the last sign.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial

import pytest
from harbourmaster.interpreter.bots import value
from harbourmaster.interpreter.bots.budget import Budget
from harbourmaster.interpreter.bots.determinise import Dealer
from harbourmaster.interpreter.chance import Streams
from harbourmaster.interpreter.game import Game, State, load_game
from harbourmaster.interpreter.odds import Plan
from harbourmaster.repl import odds_tables, thinking
from harbourmaster.repl.choosing import Option
from harbourmaster.repl.desk import Desk, Reply, run_line, suggest
from harbourmaster.repl.hosting.chair import Chair
from harbourmaster.repl.hosting.table import Table
from harbourmaster.repl.prompt_commands import COMMANDS
from harbourmaster.repl.seats import make_seats
from harbourmaster.repl.session import Session
from harbourmaster.repl.taking_up import keep
from harbourmaster.repl.terminal import Look, plain
from harbourmaster.repl.view import View
from msgspec.structs import replace

PEOPLE = ("Ann", "Bo", "Cy")
_SLOW = ("hint", "value", "odds", "compare here")
"""Commands that are tried less often than others."""


def new_session(game: Game, seed: int) -> Session:
    session = Session(
        game, View(game, game.view(), strict=False), make_seats(PEOPLE, game.player_names), seed
    )
    keep(session, "en", on_disk=False)
    return session


def table_of(session: Session) -> Table:
    name, players = session.game.name, session.game.num_players()
    return Table(session, partial(load_game, name, players=players))


def shown(reply: Reply) -> str:
    while reply.work is not None:
        reply = reply.work()
    return f"{plain(reply.lines)}|{reply.fill}|{reply.private}|{reply.failed}"


def all_words(game: Game, numbers: random.Random, count: int) -> list[str]:
    """Words of moves of all kinds, whoever could make them and whenever."""
    state = game.new_initial_state(1)
    by_move: dict[str, list[str]] = {}
    for _ in range(60):
        action = numbers.randrange(game.num_distinct_actions())
        by_move.setdefault(state.decode(action)[0].name, []).append(state.describe(action, 0))
    return [words for listed in by_move.values() for words in listed[:2]][:count]


def looks(chair: Chair, numbers: random.Random, *, slow: bool) -> Iterator[tuple[str, str]]:
    """Yields what a seat can look at: what is typed or done, and all that is shown for it."""
    session = chair.session
    own = chair.options()
    yield "news", plain(chair.news())
    yield "board", plain(chair.board())
    yield "status", plain([chair.status()])
    yield "options", repr([(o.words, o.meaning, o.public) for o in own])
    others = [
        name for name in session.names() if name != (PEOPLE[chair.seat] if chair.seat is not None else "")
    ]
    words = all_words(session.game, numbers, 8)
    legal = {o.words for o in own}
    arguments = {
        "why not": [*words, *(f"{n} {w}" for n in others for w in words[:3]), *(o.words for o in own[:3])],
        "what if": [o.words for o in own[:4]],
        "value": [o.words for o in own[:1]],
        "hint": ["greedy:4r", "random"],
        "hand": others,
        "log": ["3"],
        "rules": [words[0]],
        "board": ["--svg /tmp/never"],
        "save": ["/tmp/never"],
        "load": ["/etc/passwd"],
        "replay": ["1", "/etc/passwd"],
        "resume": ["1"],
        "goto": ["0"],
        "compare here": list(session.game.checked().rules.questions)[:1],
        "switch": ["x y"],
    }
    for name, command in chair.commands.items():
        if name in ("quit", "lang", "undo", "agree", "refuse", "stand in", "say") or (
            name in _SLOW and not slow
        ):
            continue
        bare = [] if command.takes and not command.takes.startswith("[") else [""]
        for argument in [*bare, *arguments.get(name, ())]:
            line = f"/{name} {argument}".strip()
            yield line, shown(run_line(chair, line))
            for _ in range(60):
                if chair.pending is None:
                    break
                yield f"{line}, then Enter", shown(run_line(chair, ""))
    for word in words:
        if word not in legal and not word.isdigit():
            for line in (word, *(f"{n} {word}" for n in others)):
                if not isinstance(chair.parse(line), Option) and not any(w.startswith(line) for w in legal):
                    before = session.state
                    yield line, shown(run_line(chair, line))
                    assert session.state is before, f"'{line}' should be refused"
    for text in (
        "",
        *"abcdefghijklmnopqrstuvwxyz",
        "why not ",
        "what if ",
        "hand ",
        "value ",
        *words[:3],
        *others,
    ):
        yield f"Tab after '{text}'", repr(suggest(chair, text))


@pytest.fixture(autouse=True)
def _quick_thinking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has thinking end after so little that time never ends it: what time decides is not the same twice."""
    monkeypatch.setattr(odds_tables, "Plan", partial(Plan, limit=20_000))
    monkeypatch.setattr(thinking, "_ADVISER", "montecarlo:6r")
    monkeypatch.setattr(value, "values", partial(value.values, budget=Budget(rollouts=4)))


def assert_alike(one: Chair, two: Chair, seed: int, *, slow: bool) -> int:
    count = 0
    pairs = zip(
        looks(one, random.Random(seed), slow=slow), looks(two, random.Random(seed), slow=slow), strict=True
    )
    for (typed, a), (typed_too, b) in pairs:
        assert typed == typed_too
        assert a == b, f"{PEOPLE[one.seat] if one.seat is not None else 'who looks on'} learns from: {typed}"
        count += 1
    return count


# -------------------------------------------------------------------------------------------- dealt otherwise


def _start_alike(game: Game, seat: int) -> tuple[int, int]:
    """Finds two deals that look the same to a seat though another has other shares."""
    found: dict[object, tuple[int, tuple[int, ...]]] = {}
    for seed in range(2000):
        state = game.new_initial_state(seed)
        key = state.information_state_string(seat)
        earlier = found.setdefault(key, (seed, state.key()))
        if earlier[1] != state.key():
            return earlier[0], seed
    raise AssertionError("no two deals look the same")


def _after(session: Session, action: int) -> State:
    state = session.state.clone()
    state.streams = Streams(session.chance_seed, session.game.program.streams)
    state.apply_action(action)
    return state


def _alike_on(one: Session, two: Session, seat: int | None, numbers: random.Random) -> tuple[int, int]:
    """Finds choices in both games that look alike to a seat, and after which the games still do."""
    actions = one.state.legal_actions()
    for action in numbers.sample(actions, len(actions)):
        actor = one.state.actor(action)
        after = _after(one, action)
        for other in [action] if actor == seat else two.state.legal_actions():
            if other not in two.state.legal_actions() or two.state.actor(other) != actor:
                continue
            words = [
                s.state.describe(a % s.game.program.actions, actor, viewer=-1)
                for s, a in ((one, action), (two, other))
            ]
            too = _after(two, other)
            if words[0] == words[1] and after.observation_string(seat) == too.observation_string(seat):
                return action, other
    raise AssertionError("nothing can be chosen that looks alike")


@pytest.mark.parametrize("seat", [0, None])
def test_hands_dealt_to_others_show_nowhere(seat: int | None) -> None:
    game, other = (load_game("manila", players=3) for _ in range(2))
    seeds = _start_alike(game, 0)
    one, two = new_session(game, seeds[0]), new_session(other, seeds[1])
    two.reseed(seeds[0])  # from the deal on, the same dice
    tables = table_of(one), table_of(two)
    chairs = [Chair(table, seat, Look()) for table in tables]
    holders = [Chair(table, p, Look()) for table in tables for p in (1, 2)]
    assert shown(run_line(holders[0], "hand")) != shown(run_line(holders[2], "hand")), (
        "their holders see them"
    )
    numbers = random.Random(7)
    checked = 0
    for n in range(45):
        if n % 12 == 0:
            checked += assert_alike(chairs[0], chairs[1], n, slow=n == 24)
        else:
            assert plain(chairs[0].news()) == plain(chairs[1].news())
            assert plain(chairs[0].board()) == plain(chairs[1].board())
        action, other_action = _alike_on(one, two, seat, numbers)
        one.choose(action)
        two.choose(other_action)
    assert checked > 200
    assert one.at > 40 and one.state.key() != two.state.key()


# ------------------------------------------------------------------------------------------- chosen otherwise


def _play(session: Session, numbers: random.Random, choices: int) -> None:
    for _ in range(choices):
        state = session.state
        if state.is_terminal():
            return
        if state.is_simultaneous_node():
            player = state.players_to_act()[-1]
            session.choose(numbers.choice(state.legal_actions(player)), player)
        else:
            session.choose(numbers.choice(state.legal_actions()))


def _asked_for(state: State, player: int) -> list[int]:
    """What is to be chosen in secret, without what may be offered in the open meanwhile."""
    assert state.decision is not None
    return [a for a in state.legal_actions(player) if state.decode(a)[0].index in state.decision.moves]


@pytest.mark.parametrize("name", ["manila+sealed-bids", "dixit"])
def test_what_others_choose_in_secret_shows_nowhere_until_all_have_chosen(name: str) -> None:
    rounds, seed = 0, 1
    for start in (0,):
        games = [load_game(name, players=3) for _ in range(2)]
        sessions = [new_session(game, seed) for game in games]
        for session in sessions:
            _play(session, random.Random(seed), start)
            while not session.is_over and not (
                session.state.is_simultaneous_node() and 0 in session.state.players_to_act()
            ):
                _play(session, random.Random(seed + session.at), 1)
        one, two = sessions
        if one.is_over or len(one.state.players_to_act()) < 2:
            continue
        for player in one.state.players_to_act():
            options = _asked_for(one.state, player)
            if player == 0 or len(options) < 2:
                continue
            one.choose(options[0], player)
            two.choose(options[-1], player)
        if one.state.key() == two.state.key():
            continue
        rounds += 1
        for seat in (0, None):
            chairs = [Chair(table_of(session), seat, Look()) for session in sessions]
            for chair in chairs:
                chair.last_lines(0)
            assert_alike(chairs[0], chairs[1], seed, slow=rounds == 1 and seat == 0)
    assert rounds > 0


# --------------------------------------------------------------------------------------- hidden where it stands


@pytest.mark.parametrize("name", ["dixit", "manila"])
def test_what_is_hidden_in_the_position_shows_nowhere(name: str) -> None:
    """The position is dealt anew under a game in all that a seat cannot know."""
    game, other = (load_game(name, players=3) for _ in range(2))
    session, twin = (
        Session(g, View(g, g.view(), strict=False), make_seats(PEOPLE, g.player_names), 3)
        for g in (game, other)
    )
    numbers = random.Random(3)
    checked = 0
    for n in range(2):
        _play(session, numbers, 6)
        if session.is_over:
            break
        seat = 0
        dealer = Dealer(game, seat)
        dealer.look(session.state)
        position = dealer.deal(1)
        if position == session.state.position:
            continue
        twin.moments, twin.at = [*session.moments[: session.at], session.moments[session.at]], session.at
        changed = other.state_at(position, trace=True)
        changed.history = session.state.history
        twin.moments[-1] = replace(session.moments[session.at], state=changed)
        chairs = [Chair(table_of(s), seat, Look()) for s in (session, twin)]
        checked += assert_alike(chairs[0], chairs[1], n, slow=n == 0)
    assert checked > 60


# --------------------------------------------------------------------------------------------------- the rest


def test_every_command_of_the_prompt_is_allowed_or_refused_at_a_chair() -> None:
    chair = Chair(table_of(new_session(load_game("manila", players=3), 1)), 0, Look())
    assert set(COMMANDS) <= set(chair.commands)
    for name in (
        "save",
        "load",
        "story",
        "games",
        "resume",
        "branch",
        "goto",
        "redo",
        "switch",
        "reload",
        "pace",
    ):
        assert "are the host's" in shown(run_line(chair, f"{name} x")), name
    assert "are the host's" in shown(run_line(chair, "board --svg /tmp/x"))
    assert "are the host's" in shown(run_line(chair, "replay 1"))


def test_no_file_of_the_host_is_completed() -> None:
    chair = Chair(table_of(new_session(load_game("manila", players=3), 1)), 0, Look())
    for name in chair.commands:
        for path in ("", "/", "/etc/", "~/"):
            found = [s.text for s in suggest(chair, f"{name} {path}")]
            assert not [t for t in found if "/" in t or "passwd" in t], name


def test_a_desk_at_one_terminal_looks_ahead_from_what_its_player_knows() -> None:
    """The same holds for one who plays alone against bots."""
    game = load_game("manila", players=3)
    session = Session(game, View(game, game.view()), make_seats(["Ann"], game.player_names), 1)
    desk = Desk(session, Look())
    true = session.state.position
    dealt = [state.position for state in desk.positions()]
    assert len(dealt) > 1 and any(position != true for position in dealt)
