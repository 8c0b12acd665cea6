"""Players for any rule set: they look ahead by playing on from where the game may stand.

    sight        what one player sees of a position
    trail        what he has seen of a game, step by step
    particles    games as they may have gone, for all that he has seen
    changes      small changes of what is hidden, by which such games are mended
    redeal       the same from a position alone, where the game's history is not known
    determinise  both together: positions as they may be
    rollouts     from there to the end by chance, on native code where it is to be had; what a result is worth
                 (by taste, ../taste.py, where they are to learn good moves)
    budget       how long to think, and when to stop
    search       which option looks best: one ply, sequential halving
    tree         which option looks best: a search tree over what the player knows
    policy       the players by name
    value        what a move is worth, with an interval, for people
    elo, tournament   how strong the players are

A policy is asked `choose(state, player, rng)`. What it answers depends on the rules, on what the player has seen and
on the random numbers, on nothing else; tests alter what is hidden and look for a difference.
"""
