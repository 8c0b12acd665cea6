"""Names of rule sets: parsing, the canonical form, complaints with their columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from harbourmaster.grammar.diagnostics import Report, RulesError
from harbourmaster.interpreter.load import compose_name, load_ruleset
from harbourmaster.interpreter.naming import RuleSetName, quote_path
from hypothesis import given
from hypothesis import strategies as st

from .toygame import complaints, write_game


def test_parts_and_places() -> None:
    name = RuleSetName.parse("manila+enhanced-pirates + large-pilot = two-pushes+board.harbour.C.pays=20")
    assert name.game.text == "manila"
    assert [(p.text, p.span.column) for p in name.overlays] == [("enhanced-pirates", 8)]
    assert [(s.key, s.value, s.key_span.column, s.value_span.column) for s in name.settings] == [
        ("large-pilot", "two-pushes", 27, 41),
        ("board.harbour.C.pays", "20", 52, 73),
    ]
    assert [s.is_patch for s in name.settings] == [False, True]


@pytest.mark.parametrize(
    ("given_name", "canonical"),
    [
        ("manila", "manila"),
        (" manila ", "manila"),
        ("g+b+a", "g+b+a"),
        ("g+y=1+b+x=2+a", "g+b+a+x=2+y=1"),
        ("g+a.b=1+q=r", "g+q=r+a.b=1"),
        ("g+q=r+q=r", "g+q=r"),
        ("g+a.b=[1, 2]", "g+a.b=[1, 2]"),
        ('g+a.b={c: "x+y"}', 'g+a.b={c: "x+y"}'),
        ('g+a.b="x+y"+c', 'g+c+a.b="x+y"'),
        ("./mine+./x=y.yaml", "./mine+./x=y.yaml"),
        ("g+dir%2Bmore/a.yaml", "g+dir%2Bmore/a.yaml"),
    ],
)
def test_canonical_form(given_name: str, canonical: str) -> None:
    name = RuleSetName.parse(given_name)
    assert name.canonical() == str(name) == canonical
    assert RuleSetName.parse(canonical) == name
    assert hash(RuleSetName.parse(canonical)) == hash(name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["1 name-syntax"]),
        ("+x", ["1 name-syntax"]),
        ("q=r", ["1 name-syntax"]),
        ("g++x", ["3 name-syntax"]),
        ("g+x+", ["5 name-syntax"]),
        ("g+q=", ["5 name-syntax"]),
        ("g+q= +x", ["5 name-syntax"]),
        ("g+2q=r", ["3 name-syntax"]),
        ("g+x+x", ["5 name-twice"]),
        ("g+q=r+q=s", ["7 name-twice"]),
        ("g+q=r\n+x", ["6 name-syntax"]),
        ("g++q=", ["3 name-syntax", "6 name-syntax"]),
    ],
)
def test_complaints_of_form(text: str, expected: list[str]) -> None:
    report = Report()
    RuleSetName.parse(text, report)
    assert [f"{d.span.column} {d.code}" for d in report.sorted()] == expected
    assert all(d.span.source.name == "<rule set>" for d in report.diagnostics)
    with pytest.raises(RulesError):
        RuleSetName.parse(text)


def test_naming_twice_shows_both_places() -> None:
    report = Report()
    RuleSetName.parse("g+q=r+q=s", report)
    (complaint,) = report.diagnostics
    assert [note.span.column for note in complaint.notes] == [3]


def test_a_path_with_a_plus_is_written_otherwise() -> None:
    assert quote_path("c++/a.yaml") == "./c%2B%2B/a.yaml" or quote_path("c++/a.yaml") == "c%2B%2B/a.yaml"
    name = RuleSetName.parse("g+" + quote_path("/tmp/50%+more/a.yaml"))
    assert [part.path for part in name.overlays] == ["/tmp/50%+more/a.yaml"]


def test_changing_a_name() -> None:
    name = RuleSetName.parse("g+q=r+a.b=1")
    assert str(name.with_setting("q", "s")) == "g+q=s+a.b=1"
    assert str(name.with_setting("z", "s")) == "g+q=r+z=s+a.b=1"
    assert str(name.with_overlay("v")) == "g+v+q=r+a.b=1"
    assert str(compose_name("g+q=r", ["v", "w"], {"p": "o"})) == "g+v+w+p=o+q=r"
    assert compose_name(name) is name
    with pytest.raises(RulesError):
        compose_name("g+q=r", readings={"q": "s"})


_WORDS = st.from_regex(r"\A[a-z][a-z0-9]{0,6}(-[a-z0-9]{1,4}){0,2}\Z")


@given(
    _WORDS,
    st.lists(_WORDS, unique=True, max_size=3),
    st.dictionaries(_WORDS, _WORDS, max_size=3),
    st.dictionaries(_WORDS.map(lambda w: f"t.{w}"), st.integers(), max_size=3),
)
def test_canonical_is_stable(
    game: str, overlays: list[str], readings: dict[str, str], patches: dict[str, int]
) -> None:
    settings = [f"{k}={v}" for k, v in {**readings, **patches}.items()]
    name = RuleSetName.parse("+".join([game, *reversed(settings), *overlays]))
    assert name == RuleSetName.parse("+".join([game, *overlays, *settings]))
    assert RuleSetName.parse(name.canonical()).canonical() == name.canonical()


@given(st.text("ab.=+[]{}\"' %/", max_size=12))
def test_any_text_parses_or_complains_within_it(text: str) -> None:
    report = Report()
    name = RuleSetName.parse(text, report)
    for complaint in report.diagnostics:
        assert 1 <= complaint.span.column <= len(text) + 1
    if not report.has_errors:
        assert RuleSetName.parse(name.canonical()).canonical() == name.canonical()


# ---------------------------------------------------------------------------------- the name and its rule set


@pytest.mark.parametrize(
    ("given_name", "canonical"),
    [
        ("toy", "toy"),
        ("toy+tie=shared", "toy"),
        ("toy+tie=later-seat", "toy+tie=later-seat"),
        ("toy+auction=once-around", "toy"),
        ("toy+board.lane.length=7", "toy+lane.length=7"),
        ("toy+lane.length=5", "toy"),
        ("toy+lane.start=3+lane.length=7", "toy+lane.length=7+lane.start=3"),
        ("toy+ware.tea.berths=[ 2, 3]", "toy+ware.tea.berths=[2,3]"),
        ("toy+ware.tea.berths.2=9", "toy+ware.tea.berths.2=9"),
        ("toy+ware.tea={price: 8, fresh: true}", "toy+ware.tea.price=8"),
        ("toy+ware.tea.colour=dark red", "toy+ware.tea.colour=dark red"),
        ('toy+ware.tea.colour="true"', 'toy+ware.tea.colour="true"'),
        ('toy+ware.tea.colour="a+b"', 'toy+ware.tea.colour="a+b"'),
        ("toy+ware.tea.fresh=false", "toy+ware.tea.fresh=false"),
        ("toy+season.hot={}", "toy+season.hot={}"),
        ("toy+VARIANTS/weather.yaml", "toy+weather"),
        ("toy+weather+storms=no", "toy+weather"),
        ("toy+ware.gin={price: 1,berths: [],fresh: true,colour: a}", None),
    ],
)
def test_loading_makes_the_name_shortest(tmp_path: Path, given_name: str, canonical: str | None) -> None:
    path = write_game(tmp_path)
    full = given_name.replace("toy", path, 1).replace("VARIANTS", f"{path}/variants")
    rules = load_ruleset(full)
    assert rules.canonical == (canonical or given_name).replace("toy", path, 1)
    again = load_ruleset(rules.canonical)
    assert (again.canonical, again.content_hash) == (rules.canonical, rules.content_hash)


@pytest.mark.parametrize(
    ("name", "expected", "help"),
    [
        ("toy+wether", [":5 unknown-variant"], "did you mean 'weather'?"),
        ("toy+tie", [":5 unknown-variant"], "'tie' is a question; write tie=READING"),
        ("toy+zzz", [":5 unknown-variant"], "its variants are weather"),
        ("toy+ti=shared", [":5 unknown-question"], "did you mean 'tie'?"),
        ("toy+weather=yes", [":5 unknown-question"], "'weather' is a variant; write toy+weather"),
        (
            "toy+lane=5",
            [":5 unknown-question"],
            "'lane' is a table; its values have longer paths, such as lane.length",
        ),
        ("toy+tie=shard", [":9 unknown-reading"], "did you mean 'shared'?"),
        (
            "toy+tie=open",
            [":9 unknown-reading"],
            "'open' is a reading of auction; its readings are shared, later-seat",
        ),
        ("toy+storms=yes", [":5 question-does-not-arise"], "write toy+weather+storms=yes"),
        ("toy+lane.lenght=4", [":5 overlay-unknown-path"], "did you mean 'length'?"),
        ("toy+board.lane.lenght=4", [":5 overlay-unknown-path"], "did you mean 'length'?"),
        ("toy+board.harbour.A=4", [":5 overlay-unknown-path"], "its tables are lane, season, setup, ware"),
        ("toy+lane.length=four", [":17 overlay-wrong-type"], ""),
        ("toy+lane.length=[1", [":19 yaml-syntax"], ""),
        (
            "toy+tie=shard+wether+x.y=3",
            [":9 unknown-reading", ":15 unknown-variant", ":22 overlay-unknown-path"],
            "did you mean 'shared'?",
        ),
        ("toy+lane.length=7+board.lane.length=8", [":19 overlay-changed-twice"], ""),
    ],
)
def test_misspelt_parts(tmp_path: Path, name: str, expected: list[str], help: str) -> None:
    path = write_game(tmp_path)
    assert complaints(tmp_path, name) == sorted(expected)
    with pytest.raises(RulesError) as caught:
        load_ruleset(name.replace("toy", path, 1))
    assert caught.value.diagnostics[0].help == help


def test_an_unknown_game() -> None:
    with pytest.raises(RulesError) as caught:
        load_ruleset("manlia+x")
    (complaint,) = caught.value.diagnostics
    assert (complaint.code, str(complaint.span), complaint.help) == (
        "unknown-game",
        "<rule set>:1:1",
        "did you mean 'manila'?",
    )


@pytest.mark.parametrize("name", ["./no/such/game", "./a\0/b", "~nobody-here/x", f"./{'x' * 300}", "a.yaml"])
def test_a_game_at_no_place(name: str) -> None:
    with pytest.raises(RulesError) as caught:
        load_ruleset(name)
    assert [d.code for d in caught.value.diagnostics] == ["unknown-game"]


@pytest.mark.parametrize(
    "part", ["./a\0.yaml", "~nobody-here/x.yaml", f"./{'x' * 300}.yaml", "x" * 300, "..", "./"]
)
def test_an_overlay_at_no_place(part: str) -> None:
    with pytest.raises(RulesError) as caught:
        load_ruleset(f"manila+{part}")
    codes = {d.code for d in caught.value.diagnostics if d.severity == "error"}
    assert codes <= {"file-missing", "file-unreadable", "file-is-folder", "unknown-variant"}
    assert len(codes) == 1
