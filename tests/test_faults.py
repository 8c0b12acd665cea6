"""A copy of the rules with one fault planted: each gets a diagnostic at the right line and column, never a traceback."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from harbourmaster.grammar.diagnostics import Report, RulesError
from harbourmaster.interpreter.game import load_game

RULES = Path(__file__).parent.parent / "rules" / "manila"

Edit = Callable[[str], str]


def swap(old: str, new: str) -> Edit:
    def edit(text: str) -> str:
        assert text.count(old) >= 1, f"{old!r} is not in the file"
        return text.replace(old, new, 1)

    return edit


def prepend(new: str) -> Edit:
    return lambda text: new + text


def append(new: str) -> Edit:
    return lambda text: text + new


def whole(new: str) -> Edit:
    return lambda _: new


_BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
)

# file, edit, code, text that stands at the reported place (its first occurrence after the edit; "" = do not look)
FAULTS: dict[str, tuple[str, Edit, str, str]] = {
    "misspelt variable": ("auction.rules", swap("high := 0", "hihg := 0"), "unknown-name", "hihg"),
    "misspelt name in an expression": (
        "loans.rules",
        swap("+ loan.lends * free_shares", "+ loan.lends * fre_shares"),
        "unknown-name",
        "fre_shares",
    ),
    "misspelt rule": ("end.rules", swap("    deal\n", "    dael\n"), "unknown-rule", "dael"),
    "misspelt move": (
        "auction.rules",
        swap("choose p: bid, pass", "choose p: bit, pass"),
        "unknown-move",
        "bit, pass",
    ),
    "misspelt type": (
        "table.rules",
        swap("cash[player]: money", "cash[player]: monney"),
        "unknown-type",
        "monney",
    ),
    "misspelt attribute": (
        "profits.rules",
        swap("w.profit / sharers", "w.proffit / sharers"),
        "unknown-attribute",
        "proffit",
    ),
    "misspelt record entry": (
        "office.rules",
        swap("lane.start_sum    else", "lane.start_som    else"),
        "unknown-attribute",
        "start_som",
    ),
    "misspelt placeholder": (
        "auction.rules",
        swap('says "bid {amount}"', 'says "bid {amuont}"'),
        "unknown-name",
        "amuont",
    ),
    "wrong type: number for a flag": (
        "placing.rules",
        swap("refrained[actor] := yes", "refrained[actor] := 17"),
        "type",
        "17",
    ),
    "wrong type: entry for a number": (
        "auction.rules",
        swap("high := amount", "high := actor"),
        "type",
        "actor; leader",
    ),
    "wrong type: condition": (
        "auction.rules",
        swap("stop when bidding is empty", "stop when high"),
        "type",
        "high or (",
    ),
    "wrong index": (
        "loans.rules",
        swap("cash[actor] by loan.lends", "cash[w] by loan.lends"),
        "type",
        "w] by loan.lends",
    ),
    "too few indices": (
        "loans.rules",
        swap("pledged[actor, w] by 1\n    decrease free", "pledged[actor] by 1\n    decrease free"),
        "index",
        "pledged[actor] by",
    ),
    "missing reading": (
        "office.rules",
        swap("        any_sum_nine: lane.start_sum\n", ""),
        "missing-case",
        "start_spaces",
    ),
    "unknown reading": (
        "office.rules",
        swap(
            "        any_sum_nine: lane.start_sum",
            "        any_some: lane.start_sum\n        any_sum_nine: lane.start_sum",
        ),
        "unknown-case",
        "any_some",
    ),
    "reading twice": (
        "office.rules",
        swap(
            "        any_sum_nine: lane.start_sum",
            "        up_to_five: 5\n        any_sum_nine: lane.start_sum",
        ),
        "duplicate-case",
        "up_to_five: 5",
    ),
    "comparison with a reading of another question": (
        "auction.rules",
        swap("last_silent_bidder is wins_free and", "last_silent_bidder is any_sum_nine and"),
        "unknown-name",
        "any_sum_nine",
    ),
    "too many arguments": (
        "auction.rules",
        swap("pay(leader, high)", "pay(leader, high, 3)"),
        "arguments",
        "pay(leader",
    ),
    "duplicate rule": (
        "end.rules",
        append("\nrule deal:\n    end the game\n"),
        "duplicate-name",
        "deal:\n    end",
    ),
    "duplicate key": (
        "board.yaml",
        swap(
            "harbour:\n  A: {price: 4, pays: 6}",
            "harbour:\n  A: {price: 4, pays: 6}\n  A: {price: 9, pays: 6}",
        ),
        "yaml-duplicate-key",
        "A: {price: 9",
    ),
    "no for false": (
        "board.yaml",
        swap("lane:        {length: 13", "lane:        {closed: [no, 1], length: 13"),
        "schema-type",
        "",
    ),
    "a price that is text": (
        "board.yaml",
        swap("A: {price: 4, pays: 6}", "A: {price: four, pays: 6}"),
        "table-attribute-kind",
        "price: four",
    ),
    "octal": ("board.yaml", swap("faces: 6", "faces: 06"), "yaml-octal", "06"),
    "loop without end": (
        "end.rules",
        swap("        voyage\n        stop when game_is_over\n", "        increase voyage_number by 0\n"),
        "runtime-loop",
        "repeat:",
    ),
    "recursion": (
        "sailing.rules",
        swap("    lies[w] := in_port\n", "    lies[w] := in_port\n    arrive(w)\n"),
        "recursion",
        "arrive(w)\n    tell",
    ),
    "secret in a public text": (
        "loans.rules",
        swap('shows "pledge a share"', 'shows "pledge a share of {w}"'),
        "secret-shown",
        'w}"\n    means "pledge a share of {w} for',
    ),
    "secret told to all": (
        "end.rules",
        swap(
            "            increase free_shares[p] by 1\n",
            '            increase free_shares[p] by 1\n            tell "{p} has {hand[p, w]} of {w}"\n',
        ),
        "secret-shown",
        "hand[p, w]} of",
    ),
    "missing file": ("game.yaml", swap("  - office.rules", "  - ofice.rules"), "file-missing", "ofice.rules"),
    "unknown key": ("game.yaml", swap("start: play", "start: play\nbuget: 3"), "schema-unknown-key", "buget"),
    "start rule missing": ("game.yaml", swap("start: play", "start: plya"), "unknown-rule", "plya"),
    "tabs": ("auction.rules", swap("    let opener", "\tlet opener"), "tab", "\tlet opener"),
    "byte-order mark": ("auction.rules", prepend("\ufeff"), "byte-order-mark", ""),
    "carriage returns": ("auction.rules", lambda t: t.replace("\n", "\r\n"), "crlf", ""),
    "empty rule file": ("auction.rules", whole(""), "unknown-rule", ""),
    "empty board": ("board.yaml", whole(""), "yaml-empty", ""),
    "brackets without end": ("auction.rules", append("rule x:\n    y := " + "(" * 1_000_000), "nesting", ""),
    "brackets without end in YAML": ("board.yaml", append("x: " + "[" * 1_000_000), "yaml-too-deep", ""),
    "alias bomb": ("board.yaml", append(_BOMB), "yaml-too-many-aliases", ""),
    "missing colon": ("auction.rules", swap("rule auction:", "rule auction"), "syntax", ""),
    "wrong indentation": ("auction.rules", swap("    high := 0", "      high := 0"), "indentation", ""),
    "unclosed text": ("auction.rules", swap('says "pass"', 'says "pass'), "syntax", '"pass\n'),
    "value always out of range": (
        "sailing.rules",
        swap("space[w] := 0; plundered", "space[w] := 99; plundered"),
        "range",
        "space[w] := 99",
    ),
    "empty range": (
        "table.rules",
        swap("type lane_space: 0 to lane.length", "type lane_space: 99 to lane.length"),
        "range",
        "99 to lane.length",
    ),
    "division without rounding": (
        "profits.rules",
        swap("w.profit / sharers rounded down", "w.profit / sharers"),
        "rounding",
        "w.profit / sharers",
    ),
    "stop outside a loop": (
        "office.rules",
        swap("    fleet := [first, second, third]\n", "    fleet := [first, second, third]\n    stop\n"),
        "outside-loop",
        "stop\n",
    ),
    "assignment to a parameter": (
        "auction.rules",
        swap("    high := amount", "    amount := 3; high := amount"),
        "assign-target",
        "amount := 3",
    ),
    "actor where nobody acts": (
        "loans.rules",
        swap("none: cash[p]\n", "none: cash[actor]\n"),
        "actor",
        "actor]\n        else",
    ),
    "a variable like an entry of two tables": (
        "table.rules",
        append('\ninvariant "x": A is A\n'),
        "ambiguous-name",
        "A is A",
    ),
    "a move called as a rule": ("end.rules", swap("    deal\n", "    refrain\n"), "unknown-rule", "refrain"),
}


def place_of(text: str, wanted: str) -> tuple[int, int]:
    before = text[: text.index(wanted)]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_told_at_its_place(name: str, tmp_path: Path) -> None:
    file, edit, code, wanted = FAULTS[name]
    game = tmp_path / "manila"
    shutil.copytree(RULES, game)
    path = game / file
    text = edit(path.read_text("utf-8"))
    path.write_bytes(text.encode())
    report = Report()
    from harbourmaster.interpreter.errors import BrokenRule

    if code.startswith("runtime"):
        with pytest.raises(BrokenRule) as broken:
            load_game(str(game), players=3, report=report).new_initial_state(seed=1)
        assert broken.value.code == code
        assert broken.value.span is not None
        assert (broken.value.span.line, broken.value.span.column) == place_of(text, wanted)
        return
    with pytest.raises(RulesError) as raised:
        load_game(str(game), players=3, report=report)
    errors = [d for d in raised.value.diagnostics if d.severity == "error"]
    assert code in [d.code for d in errors], [str(d) for d in errors]
    assert str(raised.value)
    if wanted:
        found = [(d.span.line, d.span.column) for d in errors if d.code == code]
        assert place_of(text, wanted) in found, found
