"""Tidies basic blocks: leads jumps past empty ones, drops those nothing reaches, and numbers the rest."""

from __future__ import annotations

from . import program as ir
from .program import const


def tidy(
    blocks: list[ir.Block],
    decisions: list[ir.Decision],
    chances: list[ir.ChanceNode],
    moves: list[ir.MoveInfo],
    entries: dict[str, int],
    roots: tuple[int, ...],
) -> tuple[list[ir.Block], list[ir.Decision], list[ir.ChanceNode]]:
    """Gets the blocks, decisions and chance nodes that `roots` and the moves' entries reach, numbered anew.

    A way back to a caller is a block number kept in a slot, so stores to such slots are renumbered too; so are the
    `entries` of rules, of which those that nothing reaches are dropped.
    """
    _settle_ways_back(blocks, decisions, moves)
    back_slots = {b.end.slot for b in blocks if isinstance(b.end, ir.Back)}
    ends = [_final(blocks, n) for n in range(len(blocks))]
    for b in blocks:
        b.body = tuple(_led(s, back_slots, ends) for s in b.body)
        match b.end:
            case ir.Jump(n):
                b.end = ir.Jump(ends[n])
            case ir.Branch(condition, n, m):
                b.end = ir.Jump(ends[n]) if ends[n] == ends[m] else ir.Branch(condition, ends[n], ends[m])
            case _:
                pass
    for d in decisions:
        d.next = ends[d.next]
    for c in chances:
        c.next = ends[c.next]
    reached = _reached(
        blocks, decisions, chances, [*roots, *(m.entry for m in moves if m.entry >= 0)], back_slots
    )
    numbers = [-1] * len(blocks)
    for new, old in enumerate(sorted(reached)):
        numbers[old] = new
    kept_decisions = [d for d in decisions if d.block in reached]
    kept_chances = [c for c in chances if c.block in reached]
    decision_numbers = {d.number: i for i, d in enumerate(kept_decisions)}
    chance_numbers = {c.number: i for i, c in enumerate(kept_chances)}
    kept = [blocks[old] for old in sorted(reached)]
    for b in kept:
        b.number = numbers[b.number]
        b.body = tuple(_led(s, back_slots, numbers) for s in b.body)
        match b.end:
            case ir.Jump(n):
                b.end = ir.Jump(numbers[n])
            case ir.Branch(condition, n, m):
                b.end = ir.Branch(condition, numbers[n], numbers[m])
            case ir.Decide(n):
                b.end = ir.Decide(decision_numbers[n])
            case ir.Chance(n):
                b.end = ir.Chance(chance_numbers[n])
            case _:
                pass
    for i, d in enumerate(kept_decisions):
        d.number, d.block, d.next = i, numbers[d.block], numbers[d.next]
    for i, c in enumerate(kept_chances):
        c.number, c.block, c.next = i, numbers[c.block], numbers[c.next]
    for move in moves:
        move.entry = numbers[move.entry] if move.entry >= 0 else -1
    for b in kept:
        if isinstance(b.end, ir.End):
            slots = {x.end.slot for x in kept if isinstance(x.end, ir.Back)}
            b.body += tuple(ir.Store(slot, const(0), -1) for slot in sorted(slots))
    for name, n in list(entries.items()):
        if ends[n] in reached:
            entries[name] = numbers[ends[n]]
        else:
            del entries[name]
    return kept, kept_decisions, kept_chances


def _settle_ways_back(blocks: list[ir.Block], decisions: list[ir.Decision], moves: list[ir.MoveInfo]) -> None:
    """Makes jumps of the ways back that can lead to one place only: most rules are called from one."""
    ways = ways_back(blocks, decisions, moves)
    only = {slot: targets.pop() for slot, targets in ways.items() if len(targets) == 1}
    for b in blocks:
        b.body = tuple(s for s in b.body if not (isinstance(s, ir.Store) and s.slot in only))
        if isinstance(b.end, ir.Back) and b.end.slot in only:
            b.end = ir.Jump(only[b.end.slot])
    for move in moves:
        if move.back in only:
            move.back = -1


def ways_back(
    blocks: list[ir.Block], decisions: list[ir.Decision], moves: list[ir.MoveInfo]
) -> dict[int, set[int]]:
    """Finds the blocks that each slot of a way back may hold."""
    ways: dict[int, set[int]] = {b.end.slot: set() for b in blocks if isinstance(b.end, ir.Back)}
    for b in blocks:
        for s in b.body if not isinstance(b.end, ir.End) else ():  # at the end they are cleared
            match s:
                case ir.Store(slot, ir.Const(_, _, n)) if slot in ways:
                    ways[slot].add(n)
                case ir.Store(slot, _) if slot in ways:
                    ways[slot] |= {x.number for x in blocks}
    for d in decisions:
        own = {*d.moves, *({d.nobody} if d.nobody >= 0 else ())}
        for m in {*own, *d.standing}:
            if moves[m].back in ways:
                ways[moves[m].back].add(d.next if m in own else d.block)
    return ways


def _final(blocks: list[ir.Block], n: int) -> int:
    """Follows jumps from block n past blocks that do nothing else."""
    seen: set[int] = set()
    while n not in seen:
        seen.add(n)
        b = blocks[n]
        if b.body or b.budget >= 0 or not isinstance(b.end, ir.Jump):
            break
        n = b.end.block
    return n


def _led(s: ir.Stmt, back_slots: set[int], to: list[int]) -> ir.Stmt:
    match s:
        case ir.Store(slot, ir.Const(_, _, n), -1) if slot in back_slots:
            return ir.Store(slot, const(to[n]), -1)
        case _:
            return s


def _reached(
    blocks: list[ir.Block],
    decisions: list[ir.Decision],
    chances: list[ir.ChanceNode],
    todo: list[int],
    back_slots: set[int],
) -> set[int]:
    reached: set[int] = set()
    while todo:
        n = todo.pop()
        if n in reached:
            continue
        reached.add(n)
        b = blocks[n]
        for s in b.body:
            match s:
                case ir.Store(slot, ir.Const(_, _, target), -1) if slot in back_slots:
                    todo.append(target)
                case _:
                    pass
        match b.end:
            case ir.Jump(target):
                todo.append(target)
            case ir.Branch(_, then, otherwise):
                todo += [then, otherwise]
            case ir.Decide(number):
                todo.append(decisions[number].next)
            case ir.Chance(number):
                todo.append(chances[number].next)
            case _:
                pass
    return reached
