"""Small games written in the test itself."""

from __future__ import annotations

from pathlib import Path

from harbourmaster.interpreter.game import Game, State, load_game

_GAME = """\
game: small
players: {{least: {least}, most: 4}}
names: [Ann, Bo, Cy, Di]
start: play
rules: [play.rules]
tables: [board.yaml]
questions: questions.yaml
budget: {{decisions: 1000, steps: 500}}
"""

_BOARD = """\
fruit:
  apple: {price: 3, steps: [1, 2, 3]}
  pear: {price: 5, steps: [4]}
  plum: {price: 7, steps: [5, 6]}
market: {most: 9, open: true, prices: [2, 4, 8]}
"""

_QUESTIONS = """\
colour:
  asks: which colour
  readings:
    red: {says: red}
    green: {says: green}
strict:
  asks: strict or not
  readings:
    "no": {says: not strict}
    "yes": {says: strict}
"""


def make(
    folder: Path,
    rules: str,
    *,
    players: int = 2,
    offers: bool = True,
    settings: str = "",
    board: str = _BOARD,
) -> Game:
    """Makes a game of a text of rules, with a small board and two questions."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "game.yaml").write_text(_GAME.format(least=min(players, 2)))
    (folder / "board.yaml").write_text(board)
    (folder / "questions.yaml").write_text(_QUESTIONS)
    (folder / "play.rules").write_text(rules)
    return load_game(f"{folder}{settings}", players=players, offers=offers)


def play(game: Game, *words: str, seed: int = 1) -> State:
    """Starts a game and makes the moves named."""
    state = game.new_initial_state(seed=seed)
    for w in words:
        state.apply_action(state.parse_action(w))
    return state


def values(state: State, name: str) -> list[int]:
    """Gets all slots of a variable."""
    v = state.game.program.variables[name]
    count = v.width
    for _, _, n in v.dims:
        count *= n
    return state.position[v.slot : v.slot + count]
