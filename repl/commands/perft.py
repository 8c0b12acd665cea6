"""`harbourmaster perft`: counts sequences of choices, to hold two referees against each other."""

from __future__ import annotations

DESCRIPTION = """
Counts the sequences of N decisions from a position: two referees that offer the same options at the same time
give the same counts. Chance comes out as the scenario or the seed says and is not counted; a decision with a
single option is taken without asking and not counted either.
"""
EXAMPLES = """
  harbourmaster perft GAME --seed 1 --depth 3
  harbourmaster perft GAME --scenario FILE --depth 2 --divide     # the count under each move, to bisect
  harbourmaster perft GAME --scenario FILE --name 'a word of its name' --depth 4 --no-offers
"""
