"""Manila's questions, sources and source profiles agree with each other.

The files are read with plain PyYAML, whose bare `yes` and `no` are booleans, so that a reading of that
name that is not quoted is found here.
"""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

MANILA = Path(__file__).parents[1] / "rules" / "manila"
LANGUAGES = ["en", "zh-Hans", "zh-Hant"]
SOURCES = ["S0", "S1", "S2", "S3", "S4", "EN"]
VARIANTS = ["as-" + key for key in SOURCES]
FILES = [
    "questions.yaml",
    "sources.yaml",
    *(f"variants/{name}.yaml" for name in VARIANTS),
    *(f"labels/{language}.yaml" for language in LANGUAGES),
]
NAME = re.compile(r"[a-z]+(-[a-z0-9]+)*")


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice in one mapping."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"{node.start_mark}: a key stands twice"
        return super().construct_mapping(node, deep=deep)


def _read(name: str) -> dict[str, Any]:
    data = yaml.load((MANILA / name).read_text("utf-8"), _Loader)
    assert isinstance(data, dict)
    return data


QUESTIONS = _read("questions.yaml")
DOCUMENTS = _read("sources.yaml")
READINGS = {question: list(entry["readings"]) for question, entry in QUESTIONS.items()}


def _base(question: str) -> str:
    first: str = READINGS[question][0]
    return first


def _texts(value: object) -> list[object]:
    """Lists every key and scalar in a tree, in order."""
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in [key, *_texts(item)]]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [value]


def _citations(question: str, reading: str) -> list[tuple[str, str]]:
    """Lists (source, place) for each source that stands under a reading."""
    cited = QUESTIONS[question]["readings"][reading]["sources"]
    return [(source, place) for source, _, place in (citation.partition(" ") for citation in cited)]


@pytest.mark.parametrize("name", FILES)
def test_each_file_names_its_schema_and_holds_text_only(name: str) -> None:
    modeline = (MANILA / name).read_text("utf-8").splitlines()[0]
    up = "../" * (1 + name.count("/"))
    assert re.fullmatch(rf"# yaml-language-server: \$schema={re.escape(up)}schema/[a-z]+\.json", modeline)
    data = _read(name)
    if name == "questions.yaml":
        for entry in data.values():
            assert all(type(count) is int for count in entry.pop("players", []))
    assert [text for text in _texts(data) if not isinstance(text, str)] == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_question_and_reading_is_said_in_each_language(question: str) -> None:
    entry = QUESTIONS[question]
    assert NAME.fullmatch(question)
    assert set(entry) <= {"asks", "readings", "only with", "not with", "players", "note"}
    assert list(entry["asks"]) == LANGUAGES
    assert entry["asks"]["en"].endswith("?")
    assert all(entry["asks"][language].endswith("？") for language in LANGUAGES[1:])
    assert len(entry["readings"]) >= 2
    for reading, told in entry["readings"].items():
        assert NAME.fullmatch(reading)
        assert set(told) - {"not with"} == {"says", "sources"}
        for reasons in (entry.get("not with", {}), told.get("not with", {})):
            assert all(list(reason) == LANGUAGES for reason in reasons.values())
        assert list(told["says"]) == LANGUAGES
        assert told["says"]["en"].endswith(".") and told["says"]["en"].count(". ") == 0
        for language in LANGUAGES[1:]:
            assert told["says"][language].endswith("。") and told["says"][language].count("。") == 1


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_cited_source_and_place_exists_and_says_so(question: str) -> None:
    for reading in READINGS[question]:
        for source, place in _citations(question, reading):
            assert place in DOCUMENTS[source]["parts"], f"{question}={reading} cites {source} {place}"
            answer = DOCUMENTS[source]["answers"].get(question)
            assert answer is not None, f"{question}={reading} cites {source}, which is silent"
            assert answer == reading or question in DOCUMENTS[source]["contradicts"], (
                f"{question}={reading} cites {source}, which answers {answer} and does not contradict itself"
            )


def test_the_sources_are_the_known_ones() -> None:
    assert list(DOCUMENTS) == SOURCES


@pytest.mark.parametrize("source", SOURCES)
def test_each_source_answers_or_is_silent_on_each_question(source: str) -> None:
    document = DOCUMENTS[source]
    answered, silent = list(document["answers"]), document["silent"]
    assert sorted(answered + silent) == sorted(QUESTIONS)
    assert answered == [question for question in QUESTIONS if question in answered]
    assert silent == [question for question in QUESTIONS if question in silent]
    for question, reading in document["answers"].items():
        assert reading in READINGS[question]
        assert source in [key for key, _ in _citations(question, reading)], (
            f"{source} answers {question} with {reading}, which does not cite it"
        )
    assert set(document["contradicts"]) <= set(answered)


@pytest.mark.parametrize("source", SOURCES)
def test_each_profile_sets_the_answers_that_differ_from_the_base(source: str) -> None:
    profile = _read(f"variants/as-{source}.yaml")
    assert profile["variant"] == f"as-{source}"
    assert profile["for"] == "manila"
    assert list(profile["title"]) == LANGUAGES
    assert profile["sources"] == [source]
    answers = DOCUMENTS[source]["answers"]
    assert profile["set"] == {
        question: reading for question, reading in answers.items() if reading != _base(question)
    }


def test_the_labels_name_the_same_things_in_each_language() -> None:
    labels = {language: _read(f"labels/{language}.yaml") for language in LANGUAGES}
    assert all(labels[language]["language"] == language for language in LANGUAGES)
    assert all(list(labels[language]["names"]) == list(labels["en"]["names"]) for language in LANGUAGES)
