"""What each construct of the language does, in small games."""

from __future__ import annotations

from pathlib import Path

import pytest
from harbourmaster.grammar.diagnostics import RulesError
from harbourmaster.interpreter.errors import BrokenRule, IllegalMove
from harbourmaster.interpreter.game import ANYONE, State

from tests.smallgame import make, play, values

WAIT = """
move go:
    says "go"

move wait:
    says "wait"
"""


def after(
    folder: Path,
    state: str,
    body: str,
    *,
    extra: str = "",
    players: int = 2,
    settings: str = "",
    seed: int = 1,
) -> State:
    """Runs a body once and gives the state at the decision after it."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    declared = "".join(f"    {line}\n" for line in state.strip().splitlines())
    rules = f"state:\n{declared}\nrule play:\n{lines}    choose first of player: go, wait\n{WAIT}\n{extra}"
    return play(make(folder, rules, players=players, settings=settings), seed=seed)


EXPRESSIONS = {
    "7 / 2 rounded down": 3,
    "7 / 2 rounded up": 4,
    "-7 / 2 rounded down": -4,
    "-7 / 2 rounded up": -3,
    "17 mod 5": 2,
    "-(3 - 5) * 4": 8,
    "min(4, 2, 3) + max(1, 6)": 8,
    "abs(2 - 9)": 7,
    "5 if 1 > 2 else 6": 6,
    "apple.price + length of plum.steps": 5,
    "plum.steps[2]": 6,
    "market.prices[3]": 8,
    "market.most": 9,
    "players": 2,
    "seat(left_of(first of player))": 2,
    "seat(left_of(last of player))": 1,
    "sum of f.price for f in fruit": 15,
    "sum of f.price for f in fruit where f is not pear": 10,
    "number of f in fruit where f.price > 3": 2,
    "the largest f.price for f in fruit": 7,
    "the smallest f.price for f in fruit where f.price > 3": 5,
    "the smallest f.price for f in fruit where f.price > 9 otherwise 42": 42,
    "the largest n for n in 2 to 6 where n mod 4 = 0 otherwise 0": 4,
    "the first n in 2 to 20 where n * n > 50 otherwise 0": 8,
    "sum of n for n in 1 to 100": 5050,
    "(the first f in fruit where f.price = 5).price": 5,
    "length of {apple, plum}": 2,
    "sum of s for s in apple.steps": 6,
    "number of f in {apple, plum} where f.price = 7": 1,
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions(text: str, tmp_path: Path) -> None:
    assert after(tmp_path, "x: -100 to 9999", f"x := {text}").get("x") == EXPRESSIONS[text]


FLAGS = {
    "1 = 1 and 2 < 3 and not (3 <= 2)": 1,
    "1 = 2 or 3 >= 4": 0,
    "apple is apple": 1,
    "apple is not pear and apple < pear and plum > pear": 1,
    "apple in {apple, plum}": 1,
    "pear not in {apple, plum}": 1,
    "2 in apple.steps": 1,
    "5 in apple.steps": 0,
    "some f in fruit has f.price = 5": 1,
    "every f in fruit has f.price > 3": 0,
    "every f in fruit where f is not apple has f.price > 3": 1,
    "{apple} is {apple}": 1,
    "colour is red": 1,
    "strict": 0,
    "strict is no": 1,
    "market.open": 1,
    "some n in 1 to 50 has n * n = 49": 1,
    "every n in 1 to 50 has n * n < 2000": 0,
}


@pytest.mark.parametrize("text", FLAGS)
def test_flags(text: str, tmp_path: Path) -> None:
    assert after(tmp_path, "x: yes or no", f"x := {text}").get("x") == FLAGS[text]


PILES = {
    "put 3 on top of p": [1, 3],
    "put 3 on top of p; put 4 under p": [2, 4, 3],
    "p := [5, 6, 7]; take top from p": [2, 5, 6],
    "p := [5, 6, 7]; take bottom from p": [2, 6, 7],
    "p := [5, 6, 7]; take item 2 from p": [2, 5, 7],
    "p := [5, 6, 7, 6]; remove 6 from p": [3, 5, 7, 6],
    "p := [5, 6, 7]; p := empty": [0],
    "p := [5, 6, 7]; q := [1]; transfer 2 from p to q": [1, 5],
    "q := [1, 2]; p := q": [2, 1, 2],
    "q := [1, 2, 3]; transfer 2 from q to p": [2, 2, 3],
    "p := [4, 2]; put first of p on top of p; put last of p under p": [4, 4, 4, 2, 4],
    "p := [9, 8]; if p is [9, 8]: put p[2] on top of p": [3, 9, 8, 8],
}


@pytest.mark.parametrize("body", PILES)
def test_piles(body: str, tmp_path: Path) -> None:
    state = after(
        tmp_path, "p: pile of 1 to 9, up to 4\nq: pile of 1 to 9, up to 3", body.replace("; if", "\nif")
    )
    wanted = PILES[body]
    assert values(state, "p") == wanted + [1] * (5 - len(wanted))


def test_piles_in_arrays(tmp_path: Path) -> None:
    body = "put 3 on top of p[pear]\nput 4 on top of p[plum]\ntransfer 1 from p[plum] to p[pear]\nx := p[pear, 2]"
    state = after(tmp_path, "p[fruit]: pile of 1 to 9, up to 2\nx: 0 to 9", body)
    assert values(state, "p") == [0, 1, 1, 2, 3, 4, 0, 1, 1]
    assert state.get("x") == 4


LOOPS = {
    "for f in fruit:\n    increase x by f.price": 15,
    "for f in fruit where f is not pear:\n    increase x by f.price": 10,
    "for f in fruit:\n    skip if f is pear\n    increase x by f.price": 10,
    "for f in fruit:\n    stop when f is plum\n    increase x by f.price": 8,
    "for n in 1 to 20:\n    skip unless n mod 2 = 0\n    increase x by n\n    stop when x > 10": 12,
    "repeat 3 times:\n    increase x by 2": 6,
    "repeat while x < 7:\n    increase x by 3": 9,
    "repeat:\n    increase x by 1\n    stop when x = 5": 5,
    "for n in 1 to 3:\n    for m in 1 to 3:\n        skip if m = 2\n        stop when n = 3\n"
    "        increase x by 10 * n + m": 68,
    "for n in 4 to 3:\n    increase x by 1": 0,
    "for p in clockwise after first of player:\n    x := x * 10 + seat(p)": 21,
    "for p in clockwise from last of player, round and round:\n    x := x * 10 + seat(p)\n    stop when x > 1000": 2121,
    "for f in {plum, apple}:\n    x := x * 10 + f.price": 37,
    "if x = 0:\n    x := 1\nelse if x = 1:\n    x := 2\nelse:\n    x := 3": 1,
    "match colour:\n    red: x := 1\n    green: x := 2": 1,
    "let a = 4\nlet b = a * 2\nx := b - a": 4,
}


@pytest.mark.parametrize("body", LOOPS)
@pytest.mark.parametrize("asking", [False, True])
def test_loops(body: str, asking: bool, tmp_path: Path) -> None:
    """The same in structured code and, with a choice inside the loop, in blocks."""
    want = LOOPS[body]
    if asking and not body.startswith("match"):
        last = body.splitlines()[-1]
        indent = " " * (len(last) - len(last.lstrip()))
        body += f"\n{indent}choose first of player: nod"
    extra = '\nmove nod:\n    says "nod"\n'
    state = after(
        tmp_path,
        "x: 0 to 9999",
        body,
        extra=extra + ("" if asking else "rule unused:\n    choose first of player: nod\n"),
    )
    assert state.get("x") == want


def test_readings_choose(tmp_path: Path) -> None:
    body = "match colour:\n    red: x := 1\n    green: x := 2\nif strict:\n    increase x by 10"
    assert after(tmp_path, "x: 0 to 99", body, settings="+colour=green+strict=yes").get("x") == 12


def test_sets(tmp_path: Path) -> None:
    state = after(
        tmp_path,
        "s: set of fruit\nt: set of fruit",
        "s := fruit\nremove pear from s\nadd pear to t\nadd plum to t",
    )
    assert (state.get("s"), state.get("t")) == (0b101, 0b110)


def test_a_call_keeps_its_place(tmp_path: Path) -> None:
    rules = f"""
state:
    x: 0 to 9999

rule play:
    ask_twice(1)
    ask_twice(3)
    choose first of player: go, wait

rule ask_twice(n: 1 to 9):
    let double = n * 2
    ask(n)
    ask(double)

rule ask(n: 1 to 9):
    choose first of player: go, wait
    x := x * 10 + n
{WAIT}"""
    state = play(make(tmp_path, rules), "go", "wait", "go", "wait")
    assert state.get("x") == 1236


def test_moves_that_ask(tmp_path: Path) -> None:
    rules = """
state:
    x: 0 to 99

rule play:
    for p in player:
        choose p: buy, rest
    choose first of player: rest, buy

move buy(n: 1 to 3):
    says "buy {n}"
    let old = x
    choose actor: pay
    x := x + old + n

move pay(m: 1 to 2):
    says "pay {m}"
    x := x + 10 * m

move rest:
    says "rest"
"""
    state = play(make(tmp_path, rules), "buy 3", "pay 2", "buy 1")
    assert state.current_player() == 1
    state.apply_action(state.parse_action("pay 1"))
    assert state.get("x") == 23 + 10 + 23 + 1
    assert state.current_player() == 0


def test_single_options_are_taken_unasked_and_offers_do_not_count(tmp_path: Path) -> None:
    rules = f"""
state:
    x: 0 to 9
    y: 0 to 9

rule play:
    for p in player:
        choose p: only
    choose first of player: go, wait
    choose first of player, no offers: go, wait

move only:
    says "only"
    increase x by 1

move extra:
    says "extra"
    needs y < 2 else "enough"
    increase y by 1

standing at own decisions: extra
{WAIT}"""
    state = play(make(tmp_path, rules))
    assert state.get("x") == 2
    words = [state.action_to_string(a) for a in state.legal_actions()]
    assert words == ["go", "wait", "extra"]
    state.apply_action(state.parse_action("extra"))
    state.apply_action(state.parse_action("extra"))
    assert [state.action_to_string(a) for a in state.legal_actions()] == ["go", "wait"]
    with pytest.raises(IllegalMove, match="enough"):
        state.parse_action("extra")
    state.apply_action(state.parse_action("go"))
    assert [state.action_to_string(a) for a in state.legal_actions()] == ["go", "wait"]
    plain = make(tmp_path / "plain", rules, offers=False).new_initial_state(seed=1)
    assert [plain.action_to_string(a) for a in plain.legal_actions()] == ["go", "wait"]


def test_offers_at_all_decisions(tmp_path: Path) -> None:
    rules = f"""
state:
    y[player]: 0 to 9

rule play:
    choose first of player: go, wait

move extra:
    says "extra"
    needs y[actor] < 1 else "enough"
    increase y[actor] by 1

standing at all decisions: extra
{WAIT}"""
    state = play(make(tmp_path, rules, players=3))
    assert [(state.actor(a), state.action_to_string(a)) for a in state.legal_actions()] == [
        (0, "go"),
        (0, "wait"),
        (0, "extra"),
        (1, "extra"),
        (2, "extra"),
    ]
    state.apply_action(state.parse_action("Cy extra"))
    assert values(state, "y") == [0, 0, 1]
    assert state.current_player() == 0


EACH = """
state:
    chosen[player]: 0 to 9
    order: 0 to 999

rule play:
    choose each p in player where p is not first of player: pick
    choose first of player: done, again

move pick(n: 1 to 3):
    says "pick {n}"
    chosen[actor] := n
    order := order * 10 + seat(actor)

move done:
    says "done"

move again:
    says "again"
"""


def test_each_at_once(tmp_path: Path) -> None:
    state = play(make(tmp_path, EACH, players=4))
    assert state.is_simultaneous_node()
    assert state.players_to_act() == [1, 2, 3]
    before = state.observation_string(0)
    state.apply_action(state.parse_action("pick 2", player=3), player=3)
    assert state.observation_string(0).splitlines()[1:] == before.splitlines()[1:]
    assert state.get("order") == 0
    state.apply_action(state.parse_action("pick 3"))
    assert state.players_to_act() == [2]
    with pytest.raises(IllegalMove):
        state.apply_action(state.legal_actions()[0], player=3)
    state.apply_action(state.parse_action("pick 1"))
    assert values(state, "chosen") == [0, 3, 1, 2]
    assert state.get("order") == 234


def test_any_of_several(tmp_path: Path) -> None:
    rules = """
state:
    high: 0 to 9
    leader: player or none

rule play:
    repeat:
        choose any p in player where p is not leader: call, or silence
        stop when high = 9 or leader is none
    choose first of player: done, again

move call(n: high + 1 to 9):
    says "call {n}"
    high := n; leader := actor

move silence:
    says "silence"
    leader := none

move done:
    says "done"

move again:
    says "again"
"""
    state = play(make(tmp_path, rules, players=3))
    assert state.current_player() == ANYONE
    assert state.players_to_act() == [0, 1, 2]
    state.apply_action(state.parse_action("Bo call 4"))
    assert (state.get("leader"), state.players_to_act()) == (1, [0, 2])
    with pytest.raises(IllegalMove):
        state.apply_action(state.parse_action("Cy call 3"))
    state.apply_action(state.parse_action("Cy call 7"))
    state.apply_action(state.parse_action("silence"))
    assert (state.get("high"), state.get("leader"), state.current_player()) == (7, -1, 0)


def test_chance(tmp_path: Path) -> None:
    rules = f"""
state:
    die: 1 to 6
    dice[fruit]: 1 to 6
    got[fruit]: 0 to 9
    deck: pile of 1 to 5, up to 5 hidden

rule play:
    roll die
    roll dice[f] for f in fruit where f is not pear
    for n in 1 to 3:
        draw f in fruit by f.price named bag
        increase got[f] by 1
    for n in 1 to 5:
        put n on top of deck
    shuffle deck
    choose first of player: go, wait
{WAIT}"""
    game = make(tmp_path, rules)
    state = game.new_initial_state(seed=5)
    assert values(state, "dice")[1] == 1
    assert sorted(values(state, "deck")[1:]) == [1, 2, 3, 4, 5]
    assert sum(values(state, "got")) == 3
    assert game.new_initial_state(seed=5).position == state.position
    seen = {tuple(values(game.new_initial_state(seed=s), "deck")) for s in range(300)}
    assert len(seen) > 90
    open_state = game.new_initial_state()
    assert open_state.is_chance_node()
    assert dict(open_state.chance_outcomes()) == {n: pytest.approx(1 / 6) for n in range(1, 7)}
    for _ in range(3):
        open_state.apply_action(2)
    assert dict(open_state.chance_outcomes()) == {
        0: pytest.approx(0.2),
        1: pytest.approx(1 / 3),
        2: pytest.approx(7 / 15),
    }
    scripted = game.new_initial_state(scripts={"die": [4], "dice": [[6, 5]], "bag": [2]})
    assert (scripted.get("die"), values(scripted, "dice"), values(scripted, "got")) == (
        4,
        [6, 1, 5],
        [0, 0, 3],
    )


def test_the_end_and_figures(tmp_path: Path) -> None:
    rules = """
state:
    x[player]: 0 to 9

tally:
    t: 0 to 99

rule play:
    repeat:
        for p in player:
            choose p: one, two

move one:
    says "one"
    increase x[actor] by 1
    increase t by 1

move two:
    says "two"
    increase x[actor] by 2

ends when some p in player has x[p] >= 3
score p: x[p]
tie break p: seat(p)
measure "ones": t
measure "x" per p: x[p]
invariant "small": every p in player has x[p] < 4
"""
    state = play(make(tmp_path, rules), "one", "two", "one", "one")
    assert state.is_terminal()
    assert state.returns() == [2.0, 3.0]
    assert state.winners() == [1]
    assert state.measures() == {"ones": 3, "x": [2, 3]}
    assert state.broken_invariants() == []
    other = play(make(tmp_path / "b", rules), "one", "two", "one")
    assert other.key() != state.key()
    clone = other.clone()
    clone.position[state.game.program.variables["t"].slot] += 1
    assert clone == other and hash(clone) == hash(other)


BROKEN = {
    ("x := 5\nincrease x by 5", "runtime-range"): "increase x by 5",
    ("for n in 1 to 4:\n    x := x * 2 + 1", "runtime-range"): "x := x * 2 + 1",
    ("repeat:\n    x := 1", "runtime-loop"): "repeat:",
    ("repeat:\n    choose first of player: nod", "runtime-loop"): "repeat:",
    ("increase x by 3 / y rounded down", "runtime-zero"): "y rounded",
    ("x := seat(who)", "runtime-none"): "who)",
    ("take top from p", "runtime-range"): "take top",
    ("x := first of p", "runtime-index"): "first of p",
    ("x := p[2]", "runtime-index"): "p[2]",
    ("x := the largest f.price for f in fruit where f.price > x + 90", "runtime-none"): "the largest",
    ("choose first of player: never", "runtime-stuck"): "choose first of player: never",
}


@pytest.mark.parametrize(("body", "code"), BROKEN)
def test_broken_rules_are_told_with_their_line(body: str, code: str, tmp_path: Path) -> None:
    extra = (
        'move nod:\n    says "nod"\n\nmove never:\n    says "never"\n    needs x > 8 else "no"\n\n'
        "rule unused:\n    choose first of player: nod, never\n    increase y by 0; who := none; p := empty\n"
    )
    with pytest.raises(BrokenRule) as broken:
        after(
            tmp_path,
            "x: 0 to 9\ny: 0 to 9\nwho: player or none\np: pile of 1 to 9, up to 3",
            body,
            extra=extra,
        )
    assert broken.value.code == code
    span = broken.value.span
    assert span is not None
    assert span.source.line(span.line)[span.column - 1 :].startswith(BROKEN[body, code])


def test_a_call_of_many_arguments_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RulesError, match="takes 0 arguments"):
        after(tmp_path, "x: 0 to 9", "go_on(3)", extra="rule go_on:\n    x := 1\n")


def test_a_number_out_of_range_is_told_with_the_range(tmp_path: Path) -> None:
    rules = f"""
state:
    high: 0 to 9

rule play:
    choose first of player: call, wait
    choose last of player: call, wait

move call(n: high + 1 to 7):
    says "call {{n}}"
    high := n
{WAIT}"""
    state = play(make(tmp_path, rules), "call 4")
    for words in ("call 4", "call 8", "call 99"):
        with pytest.raises(IllegalMove, match="it goes from 5 to 7 here"):
            state.parse_action(words)
    with pytest.raises(IllegalMove, match="Ann does not decide now"):
        state.parse_action("Ann call 6")
