"""Rule sets as environments of other libraries: each file is thin, and needs its library (an extra of the same name).

encoding      actions as numbers of a fixed, manageable range
observation   what a player sees as an array of a fixed length
turns         one player asked at a time, also where several may act
pettingzoo    several agents: turn by turn, or all at once
gymnasium     one agent against bots
openspiel     chance and all players in the open, for search and game theory
"""
