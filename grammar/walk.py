"""Walks syntax trees without knowing their shapes."""

from __future__ import annotations

from collections.abc import Iterator

from .tree import Node


def children(node: Node) -> Iterator[Node]:
    """Gets the nodes directly below a node, in the order written."""
    for name in node.__struct_fields__[1:]:  # the first is the span
        value = getattr(node, name)
        if type(value) is tuple:
            for item in value:
                if isinstance(item, Node):
                    yield item
        elif isinstance(value, Node):
            yield value


def walk(node: Node) -> Iterator[Node]:
    """Gets a node and all below it, outer before inner."""
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack += reversed(list(children(top)))
