"""Walks syntax trees without knowing their shapes."""

from __future__ import annotations

from collections.abc import Iterator

from .tree import Node


def children(node: Node) -> Iterator[Node]:
    """Gets the nodes directly below a node, in the order written."""
    for name in node.__struct_fields__:
        value = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            for item in value:
                if isinstance(item, Node):
                    yield item


def walk(node: Node) -> Iterator[Node]:
    """Gets a node and all below it, outer before inner."""
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack += reversed(list(children(top)))
