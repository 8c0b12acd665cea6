"""Exact answers about small parts of a game: everything is tried, nothing is sampled.

`sequences` counts sequences of decisions with every outcome of chance, `reach` counts the positions within reach,
`endings` works out what a position is worth under best play. Chances along a fixed way of playing are worked out by
`odds.py`, one folder up.
"""
