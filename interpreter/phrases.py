"""What the interpreter itself says to players about their moves, in the languages that games are labelled in."""

from __future__ import annotations

_PHRASES = {
    "nobody-decides": ("nobody decides now", "现在没有人要决定", "現在沒有人要決定"),
    "not-the-time": ("this is not the time for it", "现在不是做这件事的时候", "現在不是做這件事的時候"),
    "not-his-decision": ("{who} does not decide now", "现在不由 {who} 决定", "現在不由 {who} 決定"),
    "not-offered": ("it is not offered now", "现在不能这样选", "現在不能這樣選"),
    "not-allowed": ("a condition does not hold", "有条件不成立", "有條件不成立"),
    "range": (
        "'{name}' goes from {low} to {high} here",
        "第 {place} 个数在这里只能是 {low} 到 {high}",
        "第 {place} 個數在這裡只能是 {low} 到 {high}",
    ),
    "one-range": (
        "it goes from {low} to {high} here",
        "这里只能是 {low} 到 {high}",
        "這裡只能是 {low} 到 {high}",
    ),
    "no-range": ("nothing like it is possible here", "这里没有可选的", "這裡沒有可選的"),
}
_COLUMN = {"en": 0, "zh-Hans": 1, "zh-Hant": 2}


def phrase(key: str, language: str, **values: object) -> str:
    """Says a phrase in a language (English where it has none)."""
    return _PHRASES[key][_COLUMN.get(language, 0)].format(**values)
