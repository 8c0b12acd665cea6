"""Overlays: what they change, in which order, and a complaint at the right place for every misuse."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path

import pytest
from harbourmaster.grammar import tree
from harbourmaster.grammar.diagnostics import Diagnostic, RulesError
from harbourmaster.interpreter.load import available_variants, load_labels, load_ruleset, source_fingerprint
from harbourmaster.interpreter.ruleset import Definition, RuleSet

from .toygame import GAME, complaints, write_game


def _variant(name: str, body: str = "", game: str = "toy") -> dict[str, str]:
    return {f"variants/{name}.yaml": f"variant: {name}\nfor: {game}\n{body}"}


def _with_rules(name: str, rules: str, body: str = "") -> dict[str, str]:
    return {**_variant(name, f"{body}rules: [{name}.rules]\n"), f"variants/{name}.rules": rules}


def _load(folder: Path, parts: str, *files: Mapping[str, str], players: int | None = None) -> RuleSet:
    path = write_game(folder, {k: v for f in files for k, v in f.items()})
    return load_ruleset(f"{path}+{parts}".replace("VARIANTS", f"{path}/variants"), players=players)


def _find(rules: RuleSet, name: str) -> Definition:
    for definition in rules.definitions:
        match definition.node:
            case tree.Rule(_, word) | tree.Move(_, word) | tree.Define(_, word) if word.text == name:
                return definition
    raise KeyError(name)


def _lines(definition: Definition) -> list[str]:
    node = definition.node
    assert isinstance(node, tree.Rule | tree.Move)
    return [s.span.text.split("\n")[0] for s in node.body]


# ------------------------------------------------------------------------------------------- what they change


def test_sets_and_patches(tmp_path: Path) -> None:
    body = (
        "set: {tie: later-seat, lane.length: 9}\n"
        "patch:\n"
        "  ware.tea.price: 7\n"
        "  ware.tea.berths: [1, 2, 3]\n"
        "  board.ware.rum.berths.1: 8\n"
        "  ware.rum: {fresh: true, colour: red}\n"
        "  lane: {start: 2}\n"
        "  setup.cash: {by players: {2: 1, 3: 2, 4: 3}}\n"
        "  ware.gin: {price: 9, berths: [], fresh: true, colour: clear}\n"
        "  season.hot: {}\n"
    )
    rules = _load(tmp_path, "more", _variant("more", body), players=3)
    ware, lane = rules.tables["ware"], rules.records["lane"]
    assert ware.enum.entries == ("tea", "rum", "gin")
    assert {e: c.value for e, c in ware.cells["price"].items()} == {"tea": 7, "rum": 4, "gin": 9}
    assert {e: c.value for e, c in ware.cells["berths"].items()} == {"tea": (1, 2, 3), "rum": (8,), "gin": ()}
    assert {e: c.value for e, c in ware.cells["fresh"].items()} == {"tea": True, "rum": True, "gin": True}
    assert (lane.cells["length"].value, lane.cells["start"].value) == (9, 2)
    assert rules.records["setup"].cells["cash"].value == 2
    assert rules.tables["season"].enum.entries == ("dry", "wet", "hot")
    assert (rules.questions["tie"].chosen, rules.questions["tie"].layer) == ("later-seat", "more")
    assert (ware.cells["price"]["tea"].layer, ware.cells["price"]["rum"].layer) == ("more", "")
    assert str(ware.cells["price"]["tea"].span).endswith("variants/more.yaml:5:3")
    assert str(ware.cells["colour"]["rum"].span).endswith("variants/more.yaml:8:27")


def test_settings_go_over_overlays(tmp_path: Path) -> None:
    variant = _variant("more", "set: {tie: later-seat, lane.length: 9}\n")
    rules = _load(tmp_path, "more+tie=shared+lane.length=11", variant)
    assert rules.canonical == f"{tmp_path}/toy+more+tie=shared+lane.length=11"
    assert (rules.questions["tie"].chosen, rules.questions["tie"].layer) == ("shared", "<rule set>")
    assert (rules.records["lane"].cells["length"].value, rules.records["lane"].cells["length"].layer) == (
        11,
        "<rule set>",
    )
    assert _load(tmp_path, "more+tie=later-seat+lane.length=9", variant).canonical.endswith("toy+more")


def test_profiles_stack(tmp_path: Path) -> None:
    files = {
        **_variant("one", "set: {tie: later-seat, auction: open}\n"),
        **_variant("two", "set: {tie: shared}\n"),
    }
    rules = _load(tmp_path, "one+two", files)
    assert (rules.questions["tie"].chosen, rules.questions["auction"].chosen) == ("shared", "open")
    rules = _load(tmp_path, "two+one", files)
    assert (rules.questions["tie"].chosen, rules.variants) == ("later-seat", ("two", "one"))


def test_a_profile_may_answer_what_does_not_arise(tmp_path: Path) -> None:
    profile = _variant("profile", 'set: {storms: "yes"}\n')
    assert _load(tmp_path, "profile", profile).questions["storms"].chosen == "no"
    assert _load(tmp_path, "profile+weather", profile).questions["storms"].chosen == "yes"


def test_questions_of_a_variant(tmp_path: Path) -> None:
    more = "wind:\n  asks: Which wind?\n  readings: {north: {says: North.}, south: {says: South.}}\n"
    files = {**_variant("winds", "questions: winds-questions.yaml\n"), "variants/winds-questions.yaml": more}
    rules = _load(tmp_path, "winds+wind=south", files)
    assert (rules.questions["wind"].chosen, rules.questions["wind"].base) == ("south", "north")
    assert _load(tmp_path, "winds", files).questions["wind"].layer == "winds"
    assert complaints(tmp_path, "toy+wind=south", files) == [":5 unknown-question"]


def test_rules(tmp_path: Path) -> None:
    text = """\
replace rule office:
    choose first of player: bribe

replace define worth(w: ware) -> money: w.price + 1

replace standing at own decisions: bribe

replace score p: 2 * cash[p]

before rule take_turn:
    skip if cash[p] > 9

after rule take_turn:
    tell "done"

before move sell:
    needs cash[actor] < 9 else "rich"
    tell "sold"

after move sell:
    needs cash[actor] > 0

add to choice take_turn: bribe, beg

remove from choice take_turn: pass

move bribe:
    says "bribe"

move beg:
    says "beg"
"""
    rules = _load(tmp_path, "crime", _with_rules("crime", text))
    office, turn, sell = _find(rules, "office"), _find(rules, "take_turn"), _find(rules, "sell")
    assert (office.layer, office.changed_by, _lines(office)) == (
        "crime",
        (),
        ["choose first of player: bribe"],
    )
    assert (turn.layer, turn.changed_by) == ("", ("crime",))
    assert _lines(turn) == ["skip if cash[p] > 9", "if cash[p] > 0:", 'tell "done"']
    assert isinstance(turn.node, tree.Rule)
    inner = turn.node.body[1]
    assert isinstance(inner, tree.If)
    assert isinstance(inner.then[0], tree.Choose)
    assert [(w.text, rules.layer_of(w.span)) for w in inner.then[0].moves] == [
        ("sell", ""), ("bribe", "crime"), ("beg", "crime"),
    ]  # fmt: skip
    assert isinstance(sell.node, tree.Move)
    assert [g.condition.span.text for g in sell.node.guards] == [
        "cash[actor] < 9",
        "w.fresh",
        "cash[actor] > 0",
    ]
    assert _lines(sell) == ['tell "sold"', "increase cash[actor] by worth(w)"]
    assert [rules.layer_of(s.span) for s in sell.node.body] == ["crime", ""]
    assert [d.layer for d in rules.definitions if isinstance(d.node, tree.Standing | tree.Score)] == [
        "crime"
    ] * 2
    assert [_find(rules, name).layer for name in ("bribe", "beg", "worth")] == ["crime"] * 3
    assert [layer.name for layer in rules.layers] == ["", "crime"]


def test_insertions_hold_over_replacements_in_any_order(tmp_path: Path) -> None:
    files = {
        **_with_rules("more", 'before rule office:\n    tell "more"\n'),
        **_with_rules("other", 'replace rule office:\n    tell "other"\n'),
    }
    for order in ("more+other", "other+more"):
        office = _find(_load(tmp_path, order, files), "office")
        assert (_lines(office), office.layer, office.changed_by) == (
            ['tell "more"', 'tell "other"'], "other", ("more",),
        )  # fmt: skip


def test_insertions_nest_in_the_order_of_the_stack(tmp_path: Path) -> None:
    files = {
        **_with_rules("a", 'before rule office:\n    tell "a"\n'),
        **_with_rules("b", 'before rule office:\n    tell "b"\n'),
    }
    assert _lines(_find(_load(tmp_path, "a+b", files), "office"))[:2] == ['tell "b"', 'tell "a"']
    assert _lines(_find(_load(tmp_path, "b+a", files), "office"))[:2] == ['tell "a"', 'tell "b"']


def test_what_is_required_comes_below(tmp_path: Path) -> None:
    files = {
        **_with_rules("base", 'replace rule office:\n    tell "base"\n', "patch: {lane.length: 6}\n"),
        **_with_rules(
            "upper", 'replace rule office:\n    tell "upper"\n', "require: [base]\npatch: {lane.length: 7}\n"
        ),
        **_variant("top", "require: [upper]\nset: {lane.length: 8}\n"),
    }
    rules = _load(tmp_path, "top", files)
    assert rules.variants == ("base", "upper", "top")
    assert rules.canonical == f"{tmp_path}/toy+base+upper+top"
    assert rules.records["lane"].cells["length"].value == 8
    assert _lines(_find(rules, "office")) == ['tell "upper"']
    assert _load(tmp_path, "top+base", files).canonical == rules.canonical


def test_a_file_of_tables_may_be_called_like_a_table(tmp_path: Path) -> None:
    files = {
        "game.yaml": GAME["game.yaml"].replace("board.yaml", "ware.yaml"),
        "ware.yaml": GAME["board.yaml"],
    }
    rules = _load(tmp_path, "ware.ware.tea.price=5+ware.rum.price=6+ware.lane.length=7", files)
    assert rules.canonical.endswith("toy+lane.length=7+ware.rum.price=6+ware.tea.price=5")


def test_which_questions_arise(tmp_path: Path) -> None:
    for parts, players, names in (
        ("tie=shared", 2, ["tie", "auction"]),
        ("weather", 2, ["tie", "auction", "storms"]),
        ("weather", 4, ["tie", "auction", "storms", "fourth"]),
    ):
        assert [q.name for q in _load(tmp_path, parts, players=players).arising()] == names


def test_labels_of_an_overlay_go_over_the_game_s(tmp_path: Path) -> None:
    files = {
        "game.yaml": GAME["game.yaml"] + "labels: {en: labels/en.yaml, zh-Hans: labels/zh.yaml}\n",
        "labels/en.yaml": "language: en\nnames: {ware.tea: tea, ware.rum: rum}\nsentences: {done: over}\n",
        "labels/zh.yaml": "language: zh-Hans\nnames: {ware.tea: 茶}\n",
        **_variant("grog", "labels: {en: grog-en.yaml}\n"),
        "variants/grog-en.yaml": "language: en\nnames: {ware.rum: grog}\n",
    }
    path = write_game(tmp_path, files)
    labels = load_labels(f"{path}+grog")
    assert labels["en"].names == {"ware.tea": "tea", "ware.rum": "grog"}
    assert labels["en"].sentences == {"done": "over"}
    assert labels["zh-Hans"].names == {"ware.tea": "茶"}
    assert load_labels(path)["en"].names["ware.rum"] == "rum"
    before, hash_before = source_fingerprint(path), load_ruleset(path).content_hash
    (tmp_path / "toy/labels/zh.yaml").write_text("language: zh-Hant\n")
    assert (source_fingerprint(path) != before, load_ruleset(path).content_hash == hash_before) == (
        True,
        True,
    )
    with pytest.raises(RulesError) as caught:
        load_labels(path)
    (found,) = caught.value.diagnostics
    assert (found.code, found.span.line, found.span.column) == ("labels-language", 1, 11)


def test_an_overlay_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_game(tmp_path)
    (tmp_path / "mine+more").mkdir()
    for name, text in {**_variant("mine", "require: [beside, weather]\n"), **_variant("beside")}.items():
        (tmp_path / "mine+more" / Path(name).name).write_text(text)
    rules = load_ruleset(f"{path}+{tmp_path}/mine%2Bmore/mine.yaml")
    assert rules.variants == ("beside", "weather", "mine")
    assert load_ruleset(rules.canonical).content_hash == rules.content_hash
    monkeypatch.chdir(tmp_path / "mine+more")
    short = load_ruleset("../toy+./mine.yaml")
    assert short.canonical == "../toy+./beside.yaml+weather+./mine.yaml"
    assert short.content_hash == rules.content_hash
    assert load_ruleset("../toy+mine.yaml").variants == rules.variants
    with pytest.raises(RulesError) as caught:
        load_ruleset("../toy+mine")
    assert caught.value.diagnostics[0].help == "for the file of that name write './mine.yaml'"


@pytest.mark.parametrize(("players", "counts"), [(None, (3, 4)), (3, (3, 4)), (4, (3, 4))])
def test_players_of_an_overlay(tmp_path: Path, players: int | None, counts: tuple[int, int]) -> None:
    rules = _load(tmp_path, "big", _variant("big", "players: {least: 3}\n"), players=players)
    assert (rules.players, rules.player_counts) == (players or 3, counts)


# ----------------------------------------------------------------------------------------------------- misuse


def _x(body: str = "", game: str = "toy") -> dict[str, str]:
    return _variant("x", body, game)


def _rules_x(rules: str, body: str = "") -> dict[str, str]:
    return _with_rules("x", rules, body)


_OPEN = 'replace rule office:\n    tell "x"\n'
_MISUSE: dict[str, tuple[str, dict[str, str], list[str]]] = {
    # data
    "patch of a missing table": (
        "x",
        _x("patch:\n  harbour.A: 3\n"),
        ["x.yaml:4:3 overlay-unknown-path"],
    ),
    "patch of a missing entry": (
        "x",
        _x("patch:\n  ware.te.price: 3\n"),
        ["x.yaml:4:3 overlay-unknown-path"],
    ),
    "patch of a missing attribute": (
        "x",
        _x("patch:\n  ware: {tea: {prize: 3}}\n"),
        ["x.yaml:4:16 overlay-unknown-path"],
    ),
    "patch of a missing item": (
        "x",
        _x("patch: {ware.tea.berths.3: 1, ware.tea.berths.0: 1}\n"),
        ["x.yaml:3:9 overlay-unknown-path", "x.yaml:3:31 overlay-unknown-path"],
    ),
    "patch of an item of a number": (
        "x",
        _x("patch: {ware.tea.price.1: 1}\n"),
        ["x.yaml:3:9 overlay-unknown-path"],
    ),
    "new entry without all attributes": (
        "x",
        _x("patch:\n  ware.gin: {price: 1}\n"),
        ["x.yaml:4:3 overlay-unknown-path"],
    ),
    "new entry with a surplus attribute": (
        "x",
        _x("patch:\n  season.hot: {degrees: 30}\n"),
        ["x.yaml:4:16 overlay-unknown-path"],
    ),
    "new entry with a word of the language": (
        "x",
        _x("patch: {season.none: {}}\n"),
        ["x.yaml:3:9 reserved-word"],
    ),
    "wrong types": (
        "x",
        _x(
            "set: {lane.length: long}\n"
            "patch:\n"
            "  ware.tea.price: true\n"
            "  ware.tea.fresh: yes\n"
            "  ware.tea.colour: 3\n"
            "  ware.tea.berths: 3\n"
            "  ware.rum.berths.1: [1]\n"
            "  ware.rum: 3\n"
            "  lane: 3\n"
            "  setup.cash: {a: 3}\n",
        ),
        [
            "x.yaml:3:20 overlay-wrong-type",
            *(
                f"x.yaml:{n} overlay-wrong-type"
                for n in ("10:13", "11:9", "12:15", "5:19", "6:19", "7:20", "8:20", "9:22")
            ),
        ],
    ),
    "a new entry of a wrong type": (
        "x",
        _x("patch:\n  ware.gin: {price: a, berths: [], fresh: true, colour: a}\n"),
        ["x.yaml:4:21 overlay-wrong-type"],
    ),
    "by players forgets one": (
        "x",
        _x("patch:\n  setup.cash: {by players: {2: 3}}\n"),
        ["x.yaml:4:16 table-by-players"],
    ),
    "no name of an entry": (
        "x",
        _x('patch:\n  season.3: {}\n  season: {"a b": {}}\n'),
        ["x.yaml:4:3 overlay-entry-name", "x.yaml:5:13 overlay-entry-name"],
    ),
    "by players of nothing": (
        "x",
        _x("patch:\n  setup.cash: {by players: 3}\n  lane.length: {by players: {}}\n"),
        ["x.yaml:4:15 overlay-wrong-type", "x.yaml:5:16 overlay-wrong-type"],
    ),
    "unknown question": ("x", _x("set: {ti: shared}\n"), ["x.yaml:3:7 unknown-question"]),
    "unknown reading": ("x", _x("set: {tie: shard}\n"), ["x.yaml:3:12 unknown-reading"]),
    "reading of another question": ("x", _x("set: {tie: open}\n"), ["x.yaml:3:12 unknown-reading"]),
    "no reading": (
        "weather+x",
        _x("set: {tie: 3, storms: true}\n"),
        ["x.yaml:3:12 overlay-wrong-type", "x.yaml:3:23 overlay-wrong-type"],
    ),
    "question of an absent variant, explicitly": ("storms=yes", {}, [":5 question-does-not-arise"]),
    "a second question": (
        "x",
        {
            **_x("questions: q.yaml\n"),
            "variants/q.yaml": "tie: {asks: Who?, readings: {a: {says: A.}, b: {says: B.}}}\n",
        },
        ["q.yaml:1:1 duplicate-name"],
    ),
    "changed twice by two": (
        "x+y",
        {**_x("patch: {lane.length: 6}\n"), **_variant("y", "set: {lane.length: 7}\n")},
        ["y.yaml:3:7 overlay-changed-twice"],
    ),
    "the whole changed by one, a part by another": (
        "x+y",
        {**_x("patch: {ware.tea.berths: [6]}\n"), **_variant("y", "patch: {ware.tea.berths.1: 7}\n")},
        ["y.yaml:3:9 overlay-changed-twice"],
    ),
    "changed twice by itself": (
        "x",
        _x("set: {lane.length: 6}\npatch: {lane.length: 7}\n"),
        ["x.yaml:4:9 overlay-changed-twice"],
    ),
    # the stack
    "no such variant": ("x", {}, [":5 unknown-variant"]),
    "no such file": ("VARIANTS/x.yaml", {}, [":5 file-missing"]),
    "for another game": ("x", _x(game="tou"), ["x.yaml:2:6 overlay-other-game"]),
    "another name than its file": (
        "x",
        {"variants/x.yaml": "variant: y\nfor: toy\n"},
        ["x.yaml:1:10 overlay-file-name"],
    ),
    "requires what is not there": (
        "x",
        _x("require: [wether]\n"),
        ["x.yaml:3:11 unknown-variant"],
    ),
    "conflicts with what is not there": (
        "x",
        _x("conflicts: [wether]\n"),
        ["x.yaml:3:13 unknown-variant"],
    ),
    "requires itself": ("x", _x("require: [x]\n"), ["x.yaml:3:11 overlay-cyclic-require"]),
    "a circle": (
        "x",
        {**_x("require: [y]\n"), **_variant("y", "require: [z]\n"), **_variant("z", "require: [x]\n")},
        ["z.yaml:3:11 overlay-cyclic-require"],
    ),
    "a conflict": ("x+weather", _x("conflicts: [weather]\n"), [":7 overlay-conflict"]),
    "a conflict with a reason, the other way round": (
        "weather+x",
        _x("conflicts: {weather: it rains}\n"),
        [":13 overlay-conflict"],
    ),
    "a conflict of two that replace the same": (
        "x+y",
        {**_rules_x(_OPEN, "conflicts: [y]\n"), **_with_rules("y", _OPEN)},
        [":7 overlay-conflict"],
    ),
    "a conflict with what another requires": (
        "x+y",
        {**_x("conflicts: [weather]\n"), **_variant("y", "require: [weather]\n")},
        ["y.yaml:3:11 overlay-conflict"],
    ),
    "no number of players is left": (
        "x+y",
        {**_x("players: {most: 2}\n"), **_variant("y", "players: {least: 3}\n")},
        ["y.yaml:3:10 overlay-players"],
    ),
    "schema": ("x", _x("patsch: {}\n"), ["x.yaml:3:1 schema-unknown-key"]),
    # rules
    "replace of an unknown rule": (
        "x",
        _rules_x("replace rule ofice:\n    stop\n"),
        ["x.rules:1:14 overlay-unknown-rule"],
    ),
    "replace of an unknown move and define": (
        "x",
        _rules_x('replace move sel:\n    says "x"\n\nreplace define wort -> money: 1\n'),
        ["x.rules:1:14 overlay-unknown-move", "x.rules:4:16 overlay-unknown-define"],
    ),
    "replace of another kind": (
        "x",
        _rules_x("replace rule sell:\n    stop\n"),
        ["x.rules:1:14 overlay-wrong-kind"],
    ),
    "replace of offers and a tie break that there are not": (
        "x",
        _rules_x("replace standing at all decisions: pass\nreplace tie break p: 1\n"),
        ["x.rules:1:9 overlay-unknown-rule", "x.rules:2:9 overlay-unknown-rule"],
    ),
    "replace of one of several offers": (
        "y+x",
        {
            **_rules_x("replace standing at own decisions: sell\n"),
            **_with_rules("y", "standing at own decisions when no: sell\n"),
        },
        ["x.rules:1:9 overlay-ambiguous"],
    ),
    "replaced twice by two": (
        "x+y",
        {**_rules_x(_OPEN), **_with_rules("y", "\n" + _OPEN)},
        ["y.rules:2:14 overlay-replaced-twice"],
    ),
    "score replaced twice by two": (
        "x+y",
        {**_rules_x("replace score p: 1\n"), **_with_rules("y", "replace score p: 2\n")},
        ["y.rules:1:9 overlay-replaced-twice"],
    ),
    "replaced twice by itself": (
        "x",
        _rules_x(_OPEN + _OPEN),
        ["x.rules:3:14 overlay-replaced-twice"],
    ),
    "before and after what there is not": (
        "x",
        _rules_x("before rule ofice:\n    stop\nafter move sel:\n    stop\n"),
        ["x.rules:1:13 overlay-unknown-rule", "x.rules:3:12 overlay-unknown-move"],
    ),
    "a guard before a rule": (
        "x",
        _rules_x("before rule office:\n    needs yes\n    stop\n"),
        ["x.rules:2:5 overlay-guard-in-rule"],
    ),
    "add to a choice of no rule": (
        "x",
        _rules_x("add to choice ofice: sell\n"),
        ["x.rules:1:15 overlay-unknown-rule"],
    ),
    "add to a choice of a move": (
        "x",
        _rules_x("add to choice sell: pass\n"),
        ["x.rules:1:15 overlay-wrong-kind"],
    ),
    "add to a rule without a choice": (
        "x",
        _rules_x("add to choice play: sell\n"),
        ["x.rules:1:15 overlay-no-choice"],
    ),
    "add to a rule with several choices": (
        "x",
        _rules_x("add to choice office: sell\n"),
        ["x.rules:1:15 overlay-several-choices"],
    ),
    "add what is offered": (
        "x",
        _rules_x("add to choice take_turn: pass\n"),
        ["x.rules:1:26 overlay-already-offered"],
    ),
    "remove what is not offered": (
        "x",
        _rules_x("remove from choice take_turn: sel\n"),
        ["x.rules:1:31 overlay-not-offered"],
    ),
    "remove everything": (
        "x",
        _rules_x("remove from choice take_turn: sell, pass\n"),
        ["x.rules:1:20 overlay-empty-choice"],
    ),
    "a definition that there is": (
        "x",
        _rules_x("rule office:\n    stop\n"),
        ["x.rules:1:6 duplicate-name"],
    ),
    "a definition in two overlays": (
        "x+y",
        {**_rules_x("kind wind: north, south\n"), **_with_rules("y", "kind wind: east, west\n")},
        ["y.rules:1:6 duplicate-name"],
    ),
    "syntax": ("x", _rules_x("rule\n"), ["x.rules:1:5 syntax"]),
}


@pytest.mark.parametrize("misuse", _MISUSE)
def test_misuse(tmp_path: Path, misuse: str) -> None:
    parts, files, expected = _MISUSE[misuse]
    assert complaints(tmp_path, f"toy+{parts}", files) == sorted(expected)


def _complaint(tmp_path: Path, misuse: str) -> Diagnostic:
    parts, files, _ = _MISUSE[misuse]
    with pytest.raises(RulesError) as caught:
        _load(tmp_path, parts, files)
    return caught.value.diagnostics[0]


@pytest.mark.parametrize(
    ("misuse", "message", "places", "help"),
    [
        (
            "patch of a missing entry",
            "no entry 'ware.te' in the tables of toy",
            ["board.yaml:1:1"],
            "did you mean 'tea'?",
        ),
        (
            "patch of a missing attribute",
            "no attribute 'ware.tea.prize' in the tables of toy",
            ["board.yaml:2:3"],
            "did you mean 'price'?",
        ),
        (
            "patch of a missing table",
            "no table 'harbour' in toy",
            [],
            "its tables are lane, season, setup, ware",
        ),
        (
            "patch of a missing item",
            "no item 'ware.tea.berths.3' in the tables of toy",
            ["board.yaml:2:19"],
            "its items are 1 to 2",
        ),
        (
            "new entry without all attributes",
            "no entry 'ware.gin' in the tables of toy",
            ["board.yaml:1:1"],
            "a new entry of 'ware' needs berths and fresh and colour too",
        ),
        ("changed twice by two", "'y' and 'x' both change 'lane.length'", ["x.yaml:3:9"], None),
        ("unknown reading", "'tie' has no reading 'shard'", ["questions.yaml:1:1"], "did you mean 'shared'?"),
        ("for another game", "'x' is a variant for tou, not for toy", [":5"], ""),
        ("requires what is not there", "toy has no variant 'wether'", [], "did you mean 'weather'?"),
        (
            "a circle",
            "'z' requires 'x', which requires it",
            ["x.yaml:3:11", "y.yaml:3:11"],
            "",
        ),
        (
            "a conflict with a reason, the other way round",
            "'x' cannot be played with 'weather': it rains",
            [":5", "x.yaml:3:13"],
            "leave out 'x' or 'weather'",
        ),
        ("replace of an unknown rule", "toy has no rule 'ofice'", [], "did you mean 'office'?"),
        (
            "replace of another kind",
            "'sell' is a move, not a rule",
            ["moves.rules:1:6"],
            "write 'move' in place of 'rule'",
        ),
        ("replaced twice by two", "'x' and 'y' both replace rule 'office'", ["x.rules:1:14"], None),
        (
            "add to a rule with several choices",
            "rule 'office' holds 2 choices, and it is not clear which is meant",
            ["play.rules:11:5", "play.rules:12:5"],
            "write 'replace rule office: …'",
        ),
        (
            "add to a rule without a choice",
            "rule 'play' holds no choice",
            ["play.rules:1:6"],
            "the rules with one choice are take_turn",
        ),
        (
            "remove what is not offered",
            "choice 'take_turn' does not offer 'sel'",
            ["play.rules:8:9"],
            "did you mean 'sell'?",
        ),
        (
            "a definition that there is",
            "a second rule 'office'",
            ["play.rules:10:6"],
            "to change it write 'replace rule office'",
        ),
    ],
)
def test_what_is_said(tmp_path: Path, misuse: str, message: str, places: list[str], help: str | None) -> None:
    found = _complaint(tmp_path, misuse)
    root = f"{tmp_path}/toy/"
    shown = [str(n.span).removeprefix(root).removeprefix("variants/") for n in found.notes]
    shift = len(f"{tmp_path}/toy") - len("toy")
    shown = [f":{int(s.rpartition(':')[2]) - shift}" if s.startswith("<rule set>") else s for s in shown]
    assert (found.message, shown) == (message, places)
    assert help is None or found.help == help


@pytest.mark.parametrize(("players", "expected"), [(2, ["x.yaml:3:10 overlay-players"]), (3, [])])
def test_an_overlay_not_for_this_number_of_players(tmp_path: Path, players: int, expected: list[str]) -> None:
    assert complaints(tmp_path, "toy+x", _variant("x", "players: {least: 3}\n"), players) == expected


def test_two_overlays_of_one_name(tmp_path: Path) -> None:
    path = write_game(tmp_path)
    (tmp_path / "weather.yaml").write_text("variant: weather\nfor: toy\n")
    with pytest.raises(RulesError) as caught:
        load_ruleset(f"{path}+weather+{tmp_path}/weather.yaml")
    (found,) = caught.value.diagnostics
    assert (found.code, str(found.span)) == ("overlay-same-name", f"{tmp_path}/weather.yaml:1:10")


def test_all_complaints_in_one_run(tmp_path: Path) -> None:
    files = {
        **_with_rules("x", "replace rule ofice:\n    stop\n", "set: {ti: shared}\n"),
        **_with_rules("y", "add to choice play: sell\n", "patch: {lane.lenght: 3}\n"),
    }
    assert complaints(tmp_path, "toy+x+y+tie=shard+z", files) == [
        ":13 unknown-reading",
        ":19 unknown-variant",
        "x.rules:1:14 overlay-unknown-rule",
        "x.yaml:3:7 unknown-question",
        "y.rules:1:15 overlay-no-choice",
        "y.yaml:3:9 overlay-unknown-path",
    ]


# ----------------------------------------------------------------------------------------------------- Manila


@pytest.mark.parametrize(("one", "other"), list(itertools.permutations(available_variants("manila"), 2)))
def test_two_variants_load_or_say_that_they_conflict(one: str, other: str) -> None:
    try:
        assert load_ruleset(f"manila+{one}+{other}", players=4).variants[-2:] == (one, other)
    except RulesError as error:
        assert {d.code for d in error.diagnostics if d.severity == "error"} == {"overlay-conflict"}


def test_the_data_overlays() -> None:
    rules = load_ruleset("manila+price-by-fives+short-lane+double-payout", players=4)
    assert rules.records["market"].cells["track"].value == (0, 5, 10, 15, 20, 25, 30)
    assert rules.records["lane"].cells["length"].value == 10
    base = load_ruleset("manila", players=4)
    for table, attribute in (("ware", "profit"), ("harbour", "pays"), ("shipyard", "pays")):
        for name, cell in base.tables[table].cells[attribute].items():
            doubled = rules.tables[table].cells[attribute][name]
            assert isinstance(cell.value, int)
            assert (doubled.value, doubled.layer) == (2 * cell.value, "double-payout")
    assert load_ruleset("manila+harbour-c-pays-20").tables["harbour"].cells["pays"]["C"].value == 20


def test_a_reading_that_makes_no_sense_is_refused_with_the_reason() -> None:
    for name, reason in {
        "manila+stowaway-where=never+stowaway-pays=nothing": "nobody stows away there",
        "manila+loans=none+bid-ceiling=cash-and-market-value": "a share can raise no money there",
        "manila+sealed-bids+last-silent-bidder=wins-free": "nobody passes there",
    }.items():
        with pytest.raises(RulesError, match=reason) as refused:
            load_ruleset(name)
        assert [d.code for d in refused.value.diagnostics if d.severity == "error"] == [
            "question-does-not-arise"
        ]
    assert load_ruleset("manila+as-S0+open-outcry").questions["last-silent-bidder"].chosen == "wins-free"
    assert "stowaway-pays" not in {q.name for q in load_ruleset("manila+stowaway-where=never").arising()}
