"""The prompt's own sentences, in every language; texts/LANGUAGE.yaml holds them.

They are kept in the cache as plain data, so that a start reads no YAML. A sentence that a language lacks is
an error of ours that a test finds; English stands in for it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ..interpreter import cache as kept

LANGUAGES = ("en", "zh-Hans", "zh-Hant")
NAMES = {"en": "English", "zh-Hans": "简体中文", "zh-Hant": "繁體中文"}

_FOLDER = Path(__file__).with_name("texts")


@cache
def sentences(language: str) -> Mapping[str, str]:
    """Gets the sentences of a language."""
    path = _FOLDER / f"{language}.yaml"
    text = path.read_text("utf-8")
    key = hashlib.sha256(text.encode()).hexdigest()[:32]
    found = kept.load(key, "texts")
    if not isinstance(found, dict):
        found = _read(path.name, text)
        kept.store(key, "texts", found)
    return found


def _read(name: str, text: str) -> dict[str, str]:
    from ..grammar.diagnostics import Report
    from ..grammar.span import Source
    from ..interpreter.yamlfile import plain, read_yaml

    report = Report()
    node = read_yaml(Source(f"repl/texts/{name}", text), report)
    report.raise_errors()
    assert node is not None
    return {str(k): str(v) for k, v in plain(node).items()}


def say(language: str, key: str, /, **values: object) -> str:
    """Writes a sentence in a language, its placeholders filled."""
    text = sentences(language).get(key)
    if text is None:
        text = sentences("en")[key]
    return text.format(**values) if values else text


def find_language(name: str) -> str | None:
    """Finds a language by its name or its code, as people write them (zh, zh-CN, zh_TW, 中文, English)."""
    wanted = name.strip().casefold().replace("_", "-").partition(".")[0]
    known = {code.casefold(): code for code in LANGUAGES} | {n.casefold(): c for c, n in NAMES.items()}
    if wanted in known:
        return known[wanted]
    if wanted.startswith(("zh-tw", "zh-hk", "zh-mo", "zh-hant")) or wanted in ("繁體", "繁体", "繁中"):
        return "zh-Hant"
    if wanted.startswith("zh") or wanted in ("中文", "简体", "簡體", "chinese", "汉语"):
        return "zh-Hans"
    return "en" if wanted.split("-")[0] in ("en", "c", "posix", "english") else None


def language_of_surroundings() -> str:
    """Gets the language that the environment asks for; English where it asks for none we have."""
    import os

    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        found = find_language(os.environ[name]) if os.environ.get(name) else None
        if os.environ.get(name):
            return found or "en"
    return "en"
