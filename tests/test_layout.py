"""The house keeps its shape: who imports whom, no word of a game in the code, what is installed, how long
files get."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CODE = ("grammar", "interpreter", "repl")
"""From the innermost to the outermost: each may import itself and those before it."""
FOLDERS = ("rules", *CODE)

MOST_LINES = 600
LONGER = {
    "interpreter/program.py": 720,  # one node type after the other
    "interpreter/check_expressions.py": 700,  # one method a kind of expression
    "interpreter/c_writer.py": 620,
}
"""Files that may be longer than others, and how long."""


def _files(*folders: str, suffix: str = "") -> Iterator[Path]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob(f"*{suffix}")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def _python() -> Iterator[tuple[str, ast.Module]]:
    for path in _files(*CODE, suffix=".py"):
        yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8"))


# ------------------------------------------------------------------------------------------------------ words

WORDS = re.compile(
    r"(?<!\w)(punts?|pirates?|harbour|jade|pilots?|wares?|pesos?|dixit|klondike|storytellers?)(?!\w)", re.I
)


def test_no_word_of_a_game_stands_in_the_code() -> None:
    found = []
    for path in _files(*CODE):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            found += [f"{path.relative_to(ROOT)}:{number}: {m[0]}" for m in WORDS.finditer(line)]
    assert found == []


# ---------------------------------------------------------------------------------------------------- imports


def _imports(tree: ast.Module) -> Iterator[tuple[int, int, str]]:
    """Yields each import: its line, its level (0: absolute) and the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, 0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.level, node.module or ""


def test_no_bare_import() -> None:
    """Installed, our folders are `harbourmaster.…`: `import grammar` would find somebody else's."""
    found = []
    for name, tree in _python():
        for line, level, module in _imports(tree):
            if level == 0 and module.split(".")[0] in (*FOLDERS, "harbourmaster"):
                found.append(f"{name}:{line}: {module}")
    for path in _files("tests", suffix=".py"):
        for line, level, module in _imports(ast.parse(path.read_text("utf-8"))):
            if level == 0 and module.split(".")[0] in FOLDERS:
                found.append(f"{path.relative_to(ROOT)}:{line}: {module}")
    assert found == []


def test_imports_point_one_way() -> None:
    found = []
    for name, tree in _python():
        parts = name.split("/")
        allowed = CODE[: CODE.index(parts[0]) + 1]
        for line, level, module in _imports(tree):
            if level == 0:
                continue
            steps_up = level - (len(parts) - 1)  # above its own top folder, from 1 on
            target = module.split(".")[0] if steps_up == 1 else parts[0] if steps_up < 1 else "?"
            if target not in allowed:
                found.append(f"{name}:{line}: {'.' * level}{module}")
    assert found == []


# ------------------------------------------------------------------------------------------------------- size


def test_no_file_is_too_long() -> None:
    found = []
    for path in _files(*CODE, suffix=".py"):
        name = path.relative_to(ROOT).as_posix()
        lines = path.read_text("utf-8").count("\n")
        if lines > LONGER.get(name, MOST_LINES):
            found.append(f"{name}: {lines} lines")
    assert found == []


# -------------------------------------------------------------------------------------------------- packaging


def test_every_package_is_named() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    there = {p.parent.relative_to(ROOT).as_posix() for p in _files(*FOLDERS, suffix="__init__.py")}
    expected = {f"harbourmaster.{name.replace('/', '.')}": name for name in sorted(there)}
    assert sorted(settings["packages"]) == sorted(expected)
    assert settings["package-dir"] == {k: v for k, v in expected.items() if k in settings["package-dir"]}
    assert all(p in settings["package-dir"] or p.count(".") > 1 for p in expected)


@pytest.mark.slow
def test_the_wheel_holds_exactly_the_four_folders(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=ignore)
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, copy / file)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--wheel-dir", str(tmp_path), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "No matching distribution found for setuptools" in done.stderr:
        pytest.skip("setuptools cannot be fetched")
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = [n for n in archive.namelist() if not n.endswith("/") and ".dist-info/" not in n]
    there = [p for folder in FOLDERS for p in (copy / folder).rglob("*") if p.is_file()]
    assert sorted(names) == sorted(f"harbourmaster/{p.relative_to(copy).as_posix()}" for p in there)


def test_type_checkers_see_the_same_files() -> None:
    links = ROOT / ".links" / "harbourmaster"
    assert sorted(p.name for p in links.iterdir()) == sorted(FOLDERS)
    assert all((links / name).resolve() == ROOT / name for name in FOLDERS)
