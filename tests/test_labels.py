"""Every game speaks three languages, completely, and reads back the words it speaks."""

from __future__ import annotations

import random
import re

import pytest
import yaml
from harbourmaster.grammar.tree import Template
from harbourmaster.grammar.walk import walk
from harbourmaster.interpreter.game import load_game
from harbourmaster.interpreter.load import available_games, available_variants

CHINESE = ("zh-Hans", "zh-Hant")
RULE_SETS = [
    g for game in available_games() for g in (game, *(f"{game}+{v}" for v in available_variants(game)))
]


@pytest.mark.parametrize("name", RULE_SETS)
def test_nothing_lacks_a_label(name: str) -> None:
    game = load_game(name)
    texts = [n for d in game.checked().rules.definitions for n in walk(d.node) if isinstance(n, Template)]
    spoken = {t.text for t in texts if re.search("[A-Za-z]", re.sub(r"\{[^{}]*\}", "", t.text))}
    for language in CHINESE:
        labels = game.labels(language)
        assert labels.missing(game.program) == []
        assert sorted(spoken - set(labels.sentences)) == []


@pytest.mark.parametrize("name", available_games())
def test_every_document_has_its_title_in_each_language(name: str) -> None:
    path = load_game(name).checked().rules.sources
    assert path is not None
    documents = yaml.safe_load(path.read_text("utf-8"))
    assert documents
    for key, document in documents.items():
        assert list(document["title"]) == ["en", *CHINESE], key


@pytest.mark.parametrize("name", available_games())
@pytest.mark.parametrize("language", ("en", *CHINESE))
def test_words_are_read_back(name: str, language: str) -> None:
    game = load_game(name)
    state = game.new_initial_state(seed=5)
    rng = random.Random(5)
    for _ in range(60):
        if state.is_terminal():
            break
        actions = state.legal_actions()
        for action in rng.sample(actions, min(12, len(actions))):
            words = state.action_to_string(action, language)
            if "…" not in words:
                assert state.parse_action(words, language) == action, words
        state.apply_action(rng.choice(actions))
