"""Measures how strong the policies are: matches of one against another, with the seats rotated.

    python -m tests.bench.bench_bots [GAMES] [--ms MS] [--rollouts N] [--seed S] [--only WORD]

GAMES is the number of games of each match (default 40). The budget is `--ms` milliseconds a move (default 100), of
processor time, so that other work on the machine takes nothing from it; or `--rollouts`, with which the same seed gives
the same results everywhere. `--only` plays the matches in whose line WORD stands.

A match tells the first policy's share of the wins, all its seats together, beside what it would be were all alike, with
the interval of 95 % (Wilson; a shared win is counted in parts), and the mean points of both sides. In a game for one, the
share of deals in which the first policy came further.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import harbourmaster.interpreter.bots.budget as budget
from harbourmaster.interpreter.bots.tournament import Plan, Table, interval, play_tournament
from harbourmaster.interpreter.game import load_game


@dataclass(frozen=True)
class Match:
    """One policy against another; `own` of the seats are the first one's."""

    game: str
    players: int
    first: str
    second: str
    own: int = 1

    def policies(self, limit: str) -> tuple[str, ...]:
        """Gets who is seated, the budget filled in."""
        first, second = (name.format(limit) for name in (self.first, self.second))
        if self.players == 1:
            return first, second
        if 2 * self.own == self.players:
            return first, second
        return (first,) * self.own + (second,) * (self.players - self.own)


MATCHES = (
    Match("manila", 4, "greedy", "random"),
    Match("manila", 4, "montecarlo:{}", "random"),
    Match("manila", 4, "mcts:{}", "random"),
    Match("manila", 4, "montecarlo:{}", "greedy", 2),
    Match("manila", 4, "mcts:{}", "montecarlo:{}", 2),
    Match("manila", 4, "mcts:{}", "montecarlo:{}"),
    Match("manila", 3, "mcts:{}", "montecarlo:{}"),
    Match("draughts", 2, "mcts:{}", "montecarlo:{}"),
    Match("dixit", 4, "mcts:{}", "montecarlo:{}", 2),
    Match("klondike", 1, "mcts:{}", "montecarlo:{}"),
)


def main() -> None:
    """Plays all matches and prints a line for each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("games", nargs="?", type=int, default=40)
    parser.add_argument("--ms", type=int, default=100)
    parser.add_argument("--rollouts", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    limit = f"{options.rollouts}r" if options.rollouts else f"{options.ms}"
    budget.clock = time.process_time
    per_move = f"{options.rollouts:,} rollouts" if options.rollouts else f"{options.ms} ms of processor time"
    print(
        f"{per_move} a move, {options.games} games a match, seed {options.seed}, {time.strftime('%Y-%m-%d')}"
    )
    print(f"{'':<56}{'share':>7}{'from':>7}{'to':>7}{'alike':>7}{'points':>8}{'other':>8}")
    for match in MATCHES:
        policies = match.policies(limit)
        title = f"{match.game}, {match.players} players: {_title(match, policies)}"
        if options.only not in title:
            continue
        game = load_game(match.game, players=match.players)
        plan = Plan(match.game, match.players, policies, options.games, options.seed)
        print(_line(title, match, play_tournament(plan, game=game)), flush=True)


def _title(match: Match, policies: tuple[str, ...]) -> str:
    if match.players == 1:
        return f"{policies[0]} and {policies[1]}"
    return f"{match.own} {policies[0]}, {match.players - match.own} {policies[-1]}"


def _line(title: str, match: Match, table: Table) -> str:
    first = next(s for s in table.standings if s.policy.startswith(match.first.split(":")[0]))
    second = next(s for s in table.standings if s is not first)
    share = first.wins / table.games
    low, high = interval(share, table.games)
    alike = match.own / match.players
    if match.players == 1:
        pair = table.pairs[0]
        share = pair.share if pair.policy == first.policy else 1 - pair.share
        low, high = interval(share, pair.games)
        alike = 0.5
    shares = f"{share:>7.1%}{low:>7.1%}{high:>7.1%}{alike:>7.0%}"
    return f"{title:<56}{shares}{first.mean:>8.1f}{second.mean:>8.1f}"


if __name__ == "__main__":
    main()
