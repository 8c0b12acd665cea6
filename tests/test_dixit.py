"""Dixit: points by independent figures, no card lost, secrets kept, games that end, exact counts."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from harbourmaster.grammar.diagnostics import Report
from harbourmaster.interpreter.errors import IllegalMove
from harbourmaster.interpreter.game import Game, State, load_game
from harbourmaster.interpreter.native import NativeUnavailable
from harbourmaster.interpreter.perft import perft
from harbourmaster.interpreter.simulate import Backend, Plan, simulate
from harbourmaster.repl.board import draw_board
from harbourmaster.repl.terminal import Look
from harbourmaster.repl.view import View

DIXIT = Path(__file__).parent.parent / "rules" / "dixit"
LANGUAGES = ["en", "zh-Hans", "zh-Hant"]
COUNTS = (3, 4, 5, 6)
CARDS = 84
Votes = Mapping[int, Sequence[int]]
"""For each guesser the numbers he votes for."""


@cache
def dixit(players: int, readings: str = "", variants: tuple[str, ...] = ()) -> Game:
    pairs = dict(pair.split("=") for pair in readings.split())
    return load_game("dixit", players=players, readings=pairs, variants=variants)


@cache
def questions() -> dict[str, Any]:
    return dict(yaml.safe_load((DIXIT / "questions.yaml").read_text("utf-8")))


def pile(state: State, name: str, *indices: int) -> list[int]:
    """Gets what lies in a pile, the lowest first."""
    slot = state.game.slot_of(name, *indices)
    return state.position[slot + 1 : slot + 1 + state.position[slot]]


def set_pile(state: State, cards: Sequence[int], name: str, *indices: int) -> None:
    """Puts cards into a pile in place of as many others."""
    slot = state.game.slot_of(name, *indices)
    assert state.position[slot] == len(cards)
    state.position[slot + 1 : slot + 1 + len(cards)] = cards


def stage(state: State) -> str:
    """Gets the rule that asks."""
    return state.decision.rule if state.decision is not None else "over"


def choose(state: State, numbers: random.Random) -> int:
    """Makes a random choice; where several choose at once, of any of them."""
    player = numbers.choice(state.players_to_act())
    action = numbers.choice(state.legal_actions(player))
    state.apply_action(action, player if state.is_simultaneous_node() else None)
    return action


def to_the_vote(game: Game, seed: int) -> State:
    """Plays on to the first vote."""
    state, numbers = game.new_initial_state(seed), random.Random(seed)
    while stage(state) != "guess":
        choose(state, numbers)
    return state


def vote(state: State, votes: Votes) -> None:
    """Lets everybody vote."""
    for player, places in votes.items():
        words = " + ".join(map(str, sorted(places)))
        state.apply_action(state.parse_action(f"vote {words}", player=player), player)


def givers(state: State) -> dict[int, int]:
    """Gets for each number in the row who gave the card."""
    of = {card: p for p in range(state.game.num_players()) for card in pile(state, "given", p)}
    return {n: of[card] for n, card in enumerate(pile(state, "row"), 1)}


def all_votes(state: State, each: int = 1) -> Iterator[dict[int, tuple[int, ...]]]:
    """Lists all ways in which the guessers may vote."""
    of = givers(state)
    guessers = [p for p in range(state.game.num_players()) if p != state.get("storyteller")]
    choices = [list(itertools.combinations([n for n in of if of[n] != p], each)) for p in guessers]
    for chosen in itertools.product(*choices):
        yield dict(zip(guessers, chosen, strict=True))


def gained(state: State) -> list[int]:
    return [state.get("points", p) for p in range(state.game.num_players())]


# ----------------------------------------------------------------------------------------------------- points

TABLE = """
    AAA 0 2 2 2   AAB 3 4 3 0   AAC 3 3 4 0   ABA 3 4 0 3   ABB 3 5 0 0   ABC 3 4 1 0
    ADA 3 3 0 4   ADB 3 4 0 1   ADC 3 3 1 1   CAA 3 0 4 3   CAB 3 1 4 0   CAC 3 0 5 0
    CBA 3 1 1 3   CBB 0 4 3 2   CBC 0 3 4 2   CDA 3 0 1 4   CDB 0 3 3 3   CDC 0 2 4 3
    DAA 3 0 3 4   DAB 3 1 3 1   DAC 3 0 4 1   DBA 3 1 0 4   DBB 0 4 2 3   DBC 0 3 3 3
    DDA 3 0 0 5   DDB 0 3 2 4   DDC 0 2 3 4
"""
"""Whose card Bo, Cy and Di vote for when Ann is the storyteller, and what the four of them gain (S4 §5)."""


def test_the_table_of_four_players() -> None:
    words = TABLE.split()
    figures = {words[i]: [int(w) for w in words[i + 1 : i + 5]] for i in range(0, len(words), 5)}
    assert len(figures) == 27
    start = to_the_vote(dixit(4), 1)
    place = {"ABCD"[p]: n for n, p in givers(start).items()}
    for voted, points in figures.items():
        state = start.clone()
        vote(state, {p: [place[letter]] for p, letter in enumerate(voted, 1)})
        assert gained(state) == points, voted


def by_the_book(of: Mapping[int, int], votes: Votes, teller: int, readings: Mapping[str, str]) -> list[int]:
    """Works the points of a round out by S4 §5, without a look at the rule files."""
    players = len(votes) + 1
    right = next(n for n, p in of.items() if p == teller)
    finders = [p for p, places in votes.items() if right in places]
    points = [0] * players
    every = len(finders) == len(votes) and not (players == 3 and readings.get("all-of-two") == "success")
    if every or not finders:
        for p in votes:
            points[p] = 2
    else:
        four = players == 3 and len(finders) == 1 and readings.get("lone-finder-of-two") == "four"
        for p in (teller, *finders):
            points[p] = 4 if four else 3
    if finders or readings.get("vote-points") != "unless-none-found":
        for places in votes.values():
            for n in places:
                if of[n] != teller:
                    points[of[n]] += 1
    return points


@pytest.mark.parametrize("players", COUNTS)
def test_all_votes_of_a_round_bring_the_points_of_the_book(players: int) -> None:
    start = to_the_vote(dixit(players), players)
    of = givers(start)
    seen = 0
    for votes in all_votes(start):
        state = start.clone()
        vote(state, votes)
        assert gained(state) == by_the_book(of, votes, 0, {}), votes
        seen += 1
    assert seen == {3: 9, 4: 27, 5: 256, 6: 3125}[players]


@pytest.mark.parametrize("readings", [
    "all-of-two=success",
    "lone-finder-of-two=four",
    "vote-points=unless-none-found",
    "all-of-two=success lone-finder-of-two=four vote-points=unless-none-found",
    "votes-of-three=two",
    "votes-of-three=two all-of-two=success lone-finder-of-two=four",
])  # fmt: skip
def test_all_votes_of_three_players_under_each_reading(readings: str) -> None:
    chosen = dict(pair.split("=") for pair in readings.split())
    for seed in range(4):
        start = to_the_vote(dixit(3, readings), seed)
        for votes in all_votes(start, 2 if "votes-of-three=two" in readings else 1):
            state = start.clone()
            vote(state, votes)
            assert gained(state) == by_the_book(givers(start), votes, 0, chosen), (seed, votes)


def test_the_later_storytellers_score_too() -> None:
    numbers = random.Random(5)
    state, tellers, before = dixit(5).new_initial_state(5), [], [0] * 5
    while not state.is_terminal():
        if stage(state) == "guess":
            teller, of = state.get("storyteller"), givers(state)
            votes = {p: [numbers.choice([n for n in of if of[n] != p])] for p in range(5) if p != teller}
            vote(state, votes)
            expected = by_the_book(of, votes, teller, {})
            assert [a - b for a, b in zip(gained(state), before, strict=True)] == expected
            before = gained(state)
            tellers.append(teller)
        else:
            choose(state, numbers)
    assert len(tellers) > 5
    assert tellers == [n % 5 for n in range(len(tellers))]  # clockwise


# ------------------------------------------------------------------------------------------------------ cards


def cards_of(state: State) -> list[int]:
    """Gets all cards, wherever they lie."""
    players = range(state.game.num_players())
    return [
        *pile(state, "draw_pile"),
        *(c for p in players for c in pile(state, "hand", p)),
        *(c for p in players for c in pile(state, "given", p)),
        *pile(state, "box"),
    ]


@pytest.mark.parametrize("players", COUNTS)
def test_no_card_is_lost_and_every_game_ends(players: int) -> None:
    game = dixit(players)
    hand, each = (7, 2) if players == 3 else (6, 1)
    for seed in range(12):
        state, numbers = game.new_initial_state(seed), random.Random(seed)
        while not state.is_terminal():
            assert sorted(cards_of(state)) == list(range(CARDS))
            assert state.broken_invariants() == []
            if stage(state) == "tell_a_story":
                assert [len(pile(state, "hand", p)) for p in range(players)] == [hand] * players
                assert sum(len(pile(state, "given", p)) for p in range(players)) == 0
            if stage(state) == "guess":
                assert len(pile(state, "row")) == 1 + (players - 1) * each
            choose(state, numbers)
        assert sorted(cards_of(state)) == list(range(CARDS))
        assert max(gained(state)) >= 30 or pile(state, "draw_pile") == []


@pytest.mark.parametrize(("players", "pile_empty", "rounds"), [
    (3, "ends-at-once", 13), (4, "ends-at-once", 15), (5, "ends-at-once", 11), (6, "ends-at-once", 8),
    (3, "ends-when-short", 13), (4, "ends-when-short", 16),
    (5, "ends-when-short", 11), (6, "ends-when-short", 9),
    (3, "hands-are-played", 16), (4, "hands-are-played", 21),
    (5, "hands-are-played", 16), (6, "hands-are-played", 14),
])  # fmt: skip
def test_how_many_rounds_the_cards_last(players: int, pile_empty: str, rounds: int) -> None:
    game = dixit(players, f"pile-empty={pile_empty}", ("to-the-last-card",))
    for seed in range(3):
        state, numbers = game.new_initial_state(seed), random.Random(seed)
        while not state.is_terminal():
            choose(state, numbers)
        assert state.get("round_number") == rounds


def test_one_card_drawn_a_round_wears_the_hands_of_three_down() -> None:
    state, numbers = dixit(3, "refill=one-card", ("to-the-last-card",)).new_initial_state(0), random.Random(0)
    hands, rounds, teller = [7, 7, 7], 0, 0
    while all(hands[p] >= (1 if p == teller else 2) for p in range(3)):
        hands = [hands[p] if p == teller else hands[p] - 1 for p in range(3)]
        teller, rounds = (teller + 1) % 3, rounds + 1
    while not state.is_terminal():
        choose(state, numbers)
    assert state.get("round_number") == rounds


@pytest.mark.parametrize("question", sorted(questions()))
def test_games_end_under_every_other_reading(question: str) -> None:
    for reading in list(questions()[question]["readings"])[1:]:
        for players in questions()[question].get("players", (3, 5)):
            game = dixit(players, f"{question}={reading}")
            state, numbers = game.new_initial_state(7), random.Random(7)
            while not state.is_terminal():
                choose(state, numbers)
                assert state.broken_invariants() == []


def test_both_backends_play_the_same_games() -> None:
    def totals(backend: Backend) -> object:
        return simulate(Plan("dixit", 4, 40, 3, backend=backend)).totals

    try:
        native = totals("c")
    except NativeUnavailable as error:
        pytest.skip(str(error))
    assert native == totals("python")


# -------------------------------------------------------------------------------------------------------- end


def end_with(points: Sequence[int], votes: Votes, readings: str = "") -> State:
    """Plays a round of four players that have points already; votes name the player whose card it is."""
    state = to_the_vote(dixit(4, readings), 2)
    for p, n in enumerate(points):
        state.position[state.game.slot_of("points", p)] = n
    place = {p: n for n, p in givers(state).items()}
    vote(state, {p: [place[q] for q in of] for p, of in votes.items()})
    return state


def test_thirty_points_end_the_game() -> None:
    votes = {1: [0], 2: [0], 3: [1]}  # Ann 3, Bo 3 + 1, Cy 3
    assert not end_with([26, 25, 26, 29], votes).is_terminal()
    state = end_with([27, 25, 27, 0], votes)
    assert (state.is_terminal(), state.returns(), state.winners()) == (True, [30, 29, 30, 0], [0, 2])
    state = end_with([27, 28, 27, 0], votes)
    assert (state.returns(), state.winners()) == ([30, 32, 30, 0], [1])
    state = end_with([27, 28, 27, 0], votes, "past-the-goal=all-win")
    assert (state.returns(), state.winners()) == ([30, 30, 30, 0], [0, 1, 2])
    state = end_with([27, 28, 27, 0], votes, "goal-counts=at-once")  # the storyteller's points come first
    assert (state.returns(), state.winners()) == ([30, 28, 27, 0], [0])
    state = end_with([20, 26, 28, 0], votes, "goal-counts=at-once")  # then the guessers', clockwise
    assert (state.returns(), state.winners()) == ([23, 29, 31, 0], [2])
    state = end_with([27, 26, 0, 0], votes, "tie=most-votes")  # 30 each, and a vote for Bo's card
    assert (state.returns(), state.winners()) == ([30, 30, 3, 0], [1])


# ---------------------------------------------------------------------------------------------------- secrets


def altered(state: State, viewer: int | None, numbers: random.Random) -> State:
    """Makes a state that differs in everything this viewer does not know, and in nothing else."""
    new = state.clone()
    others = [p for p in range(state.game.num_players()) if p != viewer]
    row = stage(state) == "guess"
    unknown: list[tuple[str, tuple[int, ...]]] = [("draw_pile", ()), *(("hand", (p,)) for p in others)]
    given: list[tuple[str, tuple[int, ...]]] = [("given", (p,)) for p in others]
    for places in (unknown, given) if row else (unknown + given,):
        cards = [c for name, indices in places for c in pile(state, name, *indices)]
        numbers.shuffle(cards)
        for name, indices in places:
            n = len(pile(state, name, *indices))
            set_pile(new, cards[:n], name, *indices)
            del cards[:n]
    if not row:
        lies = [c for p in range(state.game.num_players()) for c in pile(new, "given", p)]
        set_pile(new, lies, "face_down")
    decision = state.decision
    if decision is not None and decision.mode == "each":
        for p in others:
            slot = decision.pending + p
            if new.position[slot] > 0:  # what has been chosen, but not yet by all
                new.position[slot] = 1 + numbers.choice(new.machine.names[decision.own](new.position, p))
    return new


def seen_by(state: State, viewer: int | None, view: View) -> list[object]:
    """Gathers all that a viewer (None: a spectator) can get to know of a state."""
    players = range(state.game.num_players())
    seen: list[object] = [
        state.observation_string(viewer),
        state.players_to_act(),
        state.scores(),
        state.winners(),
    ]
    seen.append(draw_board(view, state, Look(width=100), hand_of=viewer))
    if viewer is None:
        seen.append(str(state))
    else:
        seen.append(state.information_state_string(viewer))
        if viewer in state.players_to_act():
            actions = state.legal_actions(viewer)
            seen += [actions, [state.describe(a, viewer) for a in actions]]
            seen += [state.why_not(a, viewer) for a in range(*_guesses(state.game))]
    for p in players:
        if p != viewer and p in state.players_to_act():
            watched = state.legal_actions(p)
            if stage(state) != "guess":  # a vote is told when all have voted
                seen.append({state.describe(a, p, viewer=-1 if viewer is None else viewer) for a in watched})
    return seen


def _guesses(game: Game) -> tuple[int, int]:
    move = next(m for m in game.program.moves if m.name == "vote")
    return move.first, move.first + move.actions


@pytest.mark.parametrize("players", COUNTS)
def test_nobody_sees_what_is_hidden_from_him(players: int) -> None:
    game = dixit(players)
    view = View(game, game.view())
    numbers = random.Random(players)
    changed = Counter[str]()
    for seed in range(3):
        state = game.new_initial_state(seed)
        for _ in range(5 * players):
            for viewer in (*range(players), None):
                other = altered(state, viewer, numbers)
                changed[stage(state)] += other.position != state.position
                assert seen_by(other, viewer, view) == seen_by(state, viewer, view)
            choose(state, numbers)
            if state.is_terminal():
                break
    assert set(changed) == {"tell_a_story", "give_cards", "guess"}
    assert min(changed.values()) > 0


@pytest.mark.parametrize("players", (3, 4))
def test_the_row_tells_nothing_of_who_gave_what(players: int) -> None:
    """Two guessers swap cards: for everybody else each row, and what he knows, is as likely as before."""
    game = dixit(players)
    numbers = random.Random(players)
    start = game.new_initial_state(players)
    choose(start, numbers)
    a, b = 1, 2
    swapped = start.clone()
    for p, q in ((a, b), (b, a)):
        set_pile(swapped, pile(start, "hand", q), "hand", p)
    cards = [numbers.sample(pile(start, "hand", p), 2 if players == 3 else 1) for p in range(players)]

    def rows(state: State, given: Sequence[Sequence[int]], viewer: int | None) -> Counter[tuple[Any, ...]]:
        state = state.clone()
        state.streams = None  # chance stands open from here
        titles = [
            " + ".join(game.labels().entry(game.checked().enums["card"], c) for c in sorted(g)) for g in given
        ]
        for p in range(1, players):
            state.apply_action(state.parse_action(f"give {titles[p]}", player=p), p)
        counted = Counter[tuple[Any, ...]]()
        at = [state]
        while at:
            here = at.pop()
            if here.is_chance_node():
                outcomes = here.chance_outcomes()
                assert len({chance for _, chance in outcomes}) == 1
                for outcome, _ in outcomes:
                    after = here.clone()
                    after.apply_action(outcome)
                    at.append(after)
            else:
                told = here.information_state_string(viewer) if viewer is not None else ""
                counted[*pile(here, "row"), told, here.observation_string(viewer)] += 1
        return counted

    for viewer in (0, 3, None)[:: 1 if players == 4 else 2]:
        one = rows(start, cards, viewer)
        other = rows(swapped, [cards[{a: b, b: a}.get(p, p)] for p in range(players)], viewer)
        assert one == other
        assert sum(one.values()) == len(one) == {3: 120, 4: 24}[players]


def test_what_happens_before_the_reveal_tells_nothing() -> None:
    """The events of a step, as far as their variables may be seen, do not depend on what is hidden."""
    game = dixit(5)
    numbers = random.Random(5)
    variables = game.program.variables
    state = game.new_initial_state(5, trace=True)

    def visible(events: Sequence[Any], viewer: int) -> list[object]:
        seen: list[object] = []
        for e in events:
            if e.kind == "change":
                sees = {"all": True, "none": False, "index": e.indices[:1] == (viewer,)}
                if sees[variables[e.variable].visibility]:
                    seen.append((e.variable, e.indices, e.old, e.new))
            else:
                assert e.kind == "told"
                seen.append((e.text, e.values, e.to))
        return seen

    told = 0
    for _ in range(60):
        if state.is_terminal():
            break
        asked = stage(state)
        others = {viewer: altered(state, viewer, numbers) for viewer in range(5)}
        player = numbers.choice(state.players_to_act())
        last = len(state.players_to_act()) == 1
        action = numbers.choice(state.legal_actions(player))
        by = player if state.is_simultaneous_node() else None
        state.apply_action(action, by)
        if asked == "give_cards":
            assert [e for e in state.events if e.kind == "told"] == []
            assert {e.variable for e in state.events} <= {"hand", "given", "face_down", "row"}
        told += sum(e.kind == "told" for e in state.events)
        if not last and asked != "tell_a_story":
            for viewer, other in others.items():
                if viewer == player:
                    other.apply_action(action, by)
                    assert visible(other.events, viewer) == visible(state.events, viewer)
            assert all(visible(state.events, viewer) == [] for viewer in range(5))  # nothing at all
    assert told > 20


def test_the_storytellers_card_lies_anywhere_in_the_row() -> None:
    places = Counter[int]()
    for seed in range(400):
        state = to_the_vote(dixit(4), seed)
        places[pile(state, "row").index(pile(state, "given", 0)[0])] += 1
    assert sorted(places) == [0, 1, 2, 3]
    assert all(70 <= n <= 130 for n in places.values())


# ------------------------------------------------------------------------------------------------------ moves


def test_the_clue_is_kept_and_shown_and_nothing_depends_on_it() -> None:
    game = dixit(4)
    ends = []
    for clue in ("rain", "a song: nobody knows it", "雨"):
        state, numbers = game.new_initial_state(4), random.Random(4)
        card = game.labels().entry(game.checked().enums["card"], pile(state, "hand", 0)[0])
        action = state.parse_action(f"tell {card}: {clue}")
        assert state.action_to_string(action) == f"tell {card}: {clue}"
        assert state.action_to_string(action, viewer=1) == f"tell: {clue}"
        state.apply_action(action)
        for viewer in (0, 1, None):
            assert f"clue {clue!r}" in state.observation_string(viewer)
        assert any(clue in state.explain(a).meaning for a in state.legal_actions(1))
        while stage(state) != "tell_a_story":
            choose(state, numbers)
        slot = game.slot_of("clue")
        ends.append(state.position[:slot] + state.position[slot + 1 :])
    assert ends[0] == ends[1] == ends[2]


def test_what_may_not_be_done() -> None:
    state = to_the_vote(dixit(4), 9)
    own = {p: n for n, p in givers(state).items()}
    for p in (1, 2, 3):
        assert len(state.legal_actions(p)) == 3
        assert [state.why_not(a, p) for a in state.legal_actions(p)] == [None] * 3
        with pytest.raises(IllegalMove, match="it is a card of your own"):
            state.parse_action(f"vote {own[p]}", player=p)
    assert state.players_to_act() == [1, 2, 3]  # the storyteller does not vote
    with pytest.raises(IllegalMove, match="not the time"):
        state.parse_action("tell last lamp: again", player=0)
    state = dixit(4).new_initial_state(9)
    card = game_title(state, pile(state, "hand", 1)[0])
    with pytest.raises(IllegalMove, match=f"you do not hold {card}"):
        state.parse_action(f"tell {card}: mine")


def game_title(state: State, card: int) -> str:
    return state.game.labels().entry(state.game.checked().enums["card"], card)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("players", (3, 4))
def test_moves_are_read_back_in_each_language(language: str, players: int) -> None:
    state, numbers = dixit(players).new_initial_state(1), random.Random(1)
    for _ in range(3 * players):
        for p in state.players_to_act():
            for action in state.legal_actions(p):
                words = state.describe(action, p, language)
                if stage(state) == "tell_a_story":
                    words = words.replace("…", "x")
                    assert state.describe(state.parse_action(words, language), p, language) == words
                else:
                    assert state.parse_action(words, language, p) == action
        choose(state, numbers)


# ----------------------------------------------------------------------------------------------------- counts

SCRIPTS = {"draw_pile": [0], "face_down": [0]}


@pytest.mark.parametrize(("players", "readings", "counts"), [
    (3, "", [7, 7 * 21, 7 * 21**2, 7 * 21**2 * 3, 7 * 21**2 * 9, 7 * 21**2 * 9 * 7]),
    (3, "votes-of-three=two", [7, 7 * 21, 7 * 21**2, 7 * 21**2 * 3, 7 * 21**2 * 9]),
    (4, "", [6, 6**2, 6**3, 6**4, 6**4 * 3, 6**4 * 9, 6**4 * 27]),
    (5, "", [6, 6**2, 6**3, 6**4, 6**5]),
    (6, "", [6, 6**2, 6**3, 6**4, 6**5]),
])  # fmt: skip
def test_exact_counts_from_a_scripted_deal(players: int, readings: str, counts: list[int]) -> None:
    state = dixit(players, readings).new_initial_state(scripts=SCRIPTS)
    assert pile(state, "hand", 0)[-1] == 0  # the first card has come to the top
    for depth, count in enumerate(counts, 1):
        assert perft(state, depth) == count


def test_counts_over_the_end_of_a_game() -> None:
    """With Bo at 28 of 30, the sequences that go on past the votes are those in which he gains 0 or 1."""
    state = to_the_vote(dixit(4), 3)
    state.position[state.game.slot_of("points", 1)] = 28
    going_on = sum(by_the_book(givers(state), votes, 0, {})[1] <= 1 for votes in all_votes(state))
    assert 0 < going_on < 27
    assert perft(state, 3) == 27
    assert perft(state, 4) == going_on * 6


# ------------------------------------------------------------------------------------------------------- data


@pytest.mark.parametrize("players", COUNTS)
def test_every_name_and_sentence_has_a_label(players: int) -> None:
    report = Report()
    game = load_game(
        "dixit", players=players, readings={"first-storyteller": "first-with-a-clue"}, report=report
    )
    assert report.diagnostics == []
    cards = game.checked().enums["card"]
    assert len(cards.entries) == CARDS
    for language in LANGUAGES:
        labels = game.labels(language)
        if language != "en":  # the sentences of the rules are English
            assert labels.missing(game.program) == []
        assert set(labels.names) == {f"card.{entry}" for entry in cards.entries}
        assert len({title.casefold() for title in labels.names.values()}) == CARDS


def test_the_sources_answer_or_are_silent_on_each_question() -> None:
    documents = yaml.safe_load((DIXIT / "sources.yaml").read_text("utf-8"))
    for key, document in documents.items():
        answers = document["answers"]
        assert sorted([*answers, *document["silent"]]) == sorted(questions())
        for question, entry in questions().items():
            for reading, told in entry["readings"].items():
                places = [c.partition(" ")[2] for c in told["sources"] if c.startswith(f"{key} ")]
                assert all(place in document["parts"] for place in places)
                if answers.get(question) == reading:
                    assert places
                elif places:
                    assert question in document["contradicts"]
        profile = yaml.safe_load((DIXIT / f"variants/as-{key}.yaml").read_text("utf-8"))
        base = {question: next(iter(entry["readings"])) for question, entry in questions().items()}
        assert profile["set"] == {q: r for q, r in answers.items() if r != base[q]}


def test_questions_are_asked_and_answered_in_each_language() -> None:
    for entry in questions().values():
        assert list(entry["asks"]) == LANGUAGES
        for reading in entry["readings"].values():
            assert list(reading["says"]) == LANGUAGES
