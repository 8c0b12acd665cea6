"""The examples of the guides run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = [
    (page, text)
    for page in ("README.md", "interpreter/README.md")
    for text in re.findall(
        r"^```python\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
]


@pytest.mark.parametrize(("page", "text"), EXAMPLES, ids=[page for page, _ in EXAMPLES])
def test_a_python_example_runs(page: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(text, page, "exec"), {})
    assert capsys.readouterr().out.strip()


def test_links_lead_somewhere() -> None:
    for page in ROOT.glob("**/README.md"):
        if ".venv" in page.parts:
            continue
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page}: {target}"
