"""Holds two rule sets of one game against each other: what differs, a small story that shows it, how much it
matters.

`differences` reads the rules; `story` plays both games in step until they part and makes that story small;
`howmuch` plays many pairs of games with the same chance and the same choices. `each_reading` and `balance`
ask these again and again. What the two games share is found by name (`matching`), since two programs lay
their positions out differently.
"""
