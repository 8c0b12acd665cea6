"""The pages of `compare` and `balance`, read in a real browser without a window."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harbourmaster.repl.cli import main

from .ferry import write_ferry

playwright = pytest.importorskip("playwright.sync_api")

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PHONE = {"width": 360, "height": 740}
SCREEN = {"width": 1200, "height": 900}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Starts the system's browser, or the one that `playwright install chromium` has fetched."""
    path = next((p for p in map(shutil.which, NAMES) if p), None)
    with playwright.sync_playwright() as p:
        if path is None and not Path(p.chromium.executable_path).exists():
            pytest.skip("no browser: install chromium, or run 'playwright install chromium'")
        started = p.chromium.launch(executable_path=path, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Writes one page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    ferry = write_ferry(folder)
    made = {name: folder / f"{name}.html" for name in ("compare", "ranking", "balance")}
    few = ["--games", "60", "--html"]
    main(["compare", "manila", "manila+plunder-paid=at-once", *few, str(made["compare"])])
    main(["compare", ferry, "--each-reading", "--pairs", *few, str(made["ranking"])])
    main(["balance", "manila+harbour-c-pays-20", "--before", "manila", *few, str(made["balance"])])
    return made


class Opened:
    """A page opened in the browser, and what it complained of and asked for."""

    def __init__(self, browser: Any, path: Path, *, size: dict[str, int], scheme: str = "light") -> None:
        self.context = browser.new_context(viewport=size, color_scheme=scheme)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda m: self.complaints.append(m.text))
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.goto(path.as_uri())

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


KINDS = pytest.mark.parametrize("kind", ["compare", "ranking", "balance"])


@KINDS
def test_nothing_is_fetched_and_nothing_complained_of(
    browser: Any, pages: dict[str, Path], kind: str
) -> None:
    with Opened(browser, pages[kind], size=SCREEN) as it:
        assert it.page.locator("h1").count() == 1 and it.page.locator("svg").count() >= 1
        it.page.locator("th button").first.click()
        assert it.complaints == []
        assert [u for u in it.requests if u != pages[kind].as_uri() and not u.startswith("data:")] == []


@KINDS
def test_a_click_on_a_head_sorts_and_another_turns_round(
    browser: Any, pages: dict[str, Path], kind: str
) -> None:
    with Opened(browser, pages[kind], size=SCREEN) as it:
        table = it.page.locator("table.sorted").last
        head = table.locator("th.n").first
        column = head.evaluate("th => th.cellIndex")
        rows = (
            f"rows => rows.map(r => Number(r.cells[{column}].dataset.value ?? r.cells[{column}].textContent))"
        )
        head.locator("button").click()
        up = table.locator("tbody tr").evaluate_all(rows)
        assert len(up) > 1 and up == sorted(up) and head.get_attribute("aria-sort") == "ascending"
        head.locator("button").press("Enter")
        down = table.locator("tbody tr").evaluate_all(rows)
        assert down == up[::-1] or (down == sorted(up, reverse=True) and len(set(up)) < len(up))
        assert head.get_attribute("aria-sort") == "descending"
        name = table.locator("th").first
        name.locator("button").click()
        words = table.locator("tbody tr").evaluate_all("rows => rows.map(r => r.cells[0].textContent)")
        assert len(words) == len(up) and head.get_attribute("aria-sort") is None


CONTRAST = """
() => {
  const parse = c => c.match(/[0-9.]+/g).map(Number).map((v, n) => c.startsWith("color(") && n < 3 ? v * 255 : v);
  const linear = v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = c => {
    const [r, g, b] = parse(c).slice(0, 3).map(v => linear(v / 255));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const ground = e => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor;
      if (parse(c)[3] !== 0) return c;
    }
    return getComputedStyle(document.body).backgroundColor;
  };
  const faint = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.closest(".board, style, script")) continue;
    const style = getComputedStyle(e);
    const ink = e.ownerSVGElement ? style.fill : style.color;
    const [x, y] = [light(ink), light(ground(e))].sort((p, q) => q - p);
    const ratio = (x + .05) / (y + .05);
    if (ratio < 3) faint.push(`${e.textContent.trim().slice(0, 20)}: ${ink} on ${ground(e)}, ${ratio.toFixed(1)}`);
  }
  return [...new Set(faint)];
}
"""


@KINDS
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_in_light_and_dark(
    browser: Any, pages: dict[str, Path], kind: str, scheme: str
) -> None:
    with Opened(browser, pages[kind], size=SCREEN, scheme=scheme) as it:
        ground = it.page.evaluate("getComputedStyle(document.body).backgroundColor")
        red = int(ground.split("(")[1].split(",")[0])
        assert red > 200 if scheme == "light" else red < 60
        assert it.page.evaluate(CONTRAST) == []
        if kind == "compare":
            assert it.page.locator(f".board.{scheme}").is_visible()
            assert it.page.locator(".board:visible").count() == 1


@KINDS
def test_no_figure_is_cut_off(browser: Any, pages: dict[str, Path], kind: str) -> None:
    with Opened(browser, pages[kind], size=SCREEN) as it:
        cut = it.page.evaluate(
            "() => [...document.querySelectorAll('svg text')].filter(t => t.checkVisibility()).filter(t => {"
            " const [box, all] = [t, t.ownerSVGElement].map(e => e.getBoundingClientRect());"
            " return box.left < all.left - 1 || box.right > all.right + 1; }).map(t => t.textContent)"
        )
        assert cut == []


@KINDS
def test_on_a_phone_nothing_sticks_out(browser: Any, pages: dict[str, Path], kind: str) -> None:
    with Opened(browser, pages[kind], size=PHONE) as it:
        assert it.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        wide = it.page.evaluate(
            "w => [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > w + 1"
            " && !e.closest('.scroll')).map(e => e.outerHTML.slice(0, 80))",
            PHONE["width"],
        )
        assert wide == []


def test_on_a_phone_both_sides_of_what_differs_are_read_without_pushing_the_page(
    browser: Any, pages: dict[str, Path]
) -> None:
    with Opened(browser, pages["compare"], size=PHONE) as it:
        cells = it.page.locator(".differs td:visible")
        boxes = [cells.nth(k).bounding_box() for k in range(cells.count())]
        assert len(boxes) >= 4 and all(b["x"] >= 0 and b["x"] + b["width"] <= PHONE["width"] for b in boxes)
        assert all(b["width"] > PHONE["width"] / 3 for b in boxes)
