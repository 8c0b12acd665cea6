"""Checks YAML trees against the published schemas in rules/schema.

Takes a node and the name of a schema; adds a diagnostic at the exact key or value for everything that does
not fit, in the words of the schema (`errorMessage`, `x-help`) where it has any. Refuses nothing by itself:
whether the node may be used, the answer of `validate` tells. What needs two files (does the reading exist?)
is the loader's.

The jsonschema library takes longer to import than a game takes to load, so it is imported on first use, and a
program that finds its game compiled never comes here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..grammar.diagnostics import Label, Report, nearest, suggestion
from ..grammar.span import Span
from .yamlfile import Entry, Mapping, Node, Scalar, Sequence, describe, plain, shown

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

SCHEMAS = ("game", "tables", "questions", "sources", "labels", "view", "variant", "scenario")
"""The names `validate` knows."""
MOST_COMPLAINTS = 100
"""How many misfits of one file are told."""


def validate(node: Node, schema: str, report: Report) -> bool:
    """Tests if a node fits the schema of that name, and reports where it does not."""
    before = len(report.diagnostics)
    found = list(islice(validator(schema).iter_errors(plain(node)), MOST_COMPLAINTS + 1))
    errors = [precise for error in found for precise in _precise(error)]
    complaints = _Complaints(node, report)
    complaints.note_spelling(errors)
    for error in errors:
        complaints.tell(error)
    return len(report.diagnostics) == before


def schema_text(name: str) -> str:
    """Reads the published schema of that name."""
    from importlib.resources import files

    package = f"{__package__.rpartition('.')[0]}.rules"
    return (files(package) / "schema" / f"{name}.json").read_text("utf-8")


@cache
def validator(name: str) -> Validator:
    """Makes the validator of a schema, once."""
    if name not in SCHEMAS:
        raise ValueError(f"no schema '{name}', want one of {', '.join(SCHEMAS)}")
    made: Validator = _validator_class()(resolved_schema(name))
    return made


def resolved_schema(name: str) -> Any:
    """Gets a schema with what it refers to in the place of every reference.

    Without references jsonschema validates more than twice as fast. Beside a `$ref` only annotations may
    stand, and no schema refers to itself.
    """
    roots: dict[str, Any] = {}

    def resolved(part: Any, file: str, inside: tuple[str, ...]) -> Any:
        if isinstance(part, list):
            return [resolved(item, file, inside) for item in part]
        if not isinstance(part, dict):
            return part
        here = {
            key: resolved(value, file, inside) for key, value in part.items() if key not in ("$ref", "$defs")
        }
        if "$ref" not in part:
            return here
        other, _, definition = part["$ref"].partition("#/$defs/")
        other = other.removesuffix(".json") or file
        if f"{other}.{definition}" in inside:
            raise ValueError(f"the schema {name} refers to itself at {definition}")
        if other not in roots:
            roots[other] = json.loads(schema_text(other))
        target = roots[other]["$defs"][definition]
        return {**resolved(target, other, (*inside, f"{other}.{definition}")), **here}

    roots[name] = json.loads(schema_text(name))
    return resolved(roots[name], name, ())


@cache
def _validator_class() -> Any:
    """Makes the validator class: 2020-12, but 1.0 is no whole number, and ``$`` is the very end of a text."""
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def whole(_checker: Any, instance: object) -> bool:
        return isinstance(instance, int) and not isinstance(instance, bool)

    def pattern(_validator: Any, wanted: str, instance: object, _schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, str) and not _compiled(wanted).search(instance):
            yield ValidationError(f"{instance!r} does not match {wanted!r}")

    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", whole)
    return extend(  # type: ignore[no-untyped-call]
        Draft202012Validator, validators={"pattern": pattern}, type_checker=types
    )


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\$$", r"\\Z", pattern))


# Choosing among alternatives


def _precise(error: ValidationError) -> list[ValidationError]:
    """Gets the errors worth telling: of alternatives, those of the one that was most likely meant.

    An alternative of another type was not meant. Of those of the right type, the one was whose marks (a key
    with a fixed word) fit, whose shallowest misfit lies deepest, which has the fewest misfits, which stands
    first. Where none is of the right type, the alternatives are told as one misfit.
    """
    if error.validator not in ("anyOf", "oneOf") or not error.context:
        return [error]
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).append(inner)
    meant = [inner for inner in branches.values() if not any(_is_about_itself(e) for e in inner)]
    if not meant:
        return [error]
    best = min(meant, key=_unlikelihood)
    return [precise for inner in best for precise in _precise(inner)]


def _unlikelihood(errors: list[ValidationError]) -> tuple[bool, int, int]:
    marked = any(len(e.path) == 1 and e.validator == "const" for e in errors)
    return marked, -min(len(e.path) for e in errors), len(errors)


def _is_about_itself(error: ValidationError) -> bool:
    """Tests if an alternative fails because the value is of another type, or another word."""
    return not error.path and error.validator in ("type", "enum", "const")


# Telling

_TYPES = {
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "nothing",
}
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
}
_SIZES = {
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} entries",
    "maxProperties": "at most {} entries",
}
_TRUTHS = {
    **dict.fromkeys(["yes", "on", "y", "true"], "true"),
    **dict.fromkeys(["no", "off", "n", "false"], "false"),
}
_LONGEST_NAME = 60  # to look for the nearest of; comparing takes time with the square of it


class _Complaints:
    """Turns the errors of one file into diagnostics."""

    def __init__(self, root: Node, report: Report) -> None:
        self.root = root
        self.report = report
        self.told = 0
        self.misspelt: set[tuple[tuple[str | int, ...], str]] = set()  # missing keys told as misspelt ones
        self.told_missing: set[tuple[str | int, ...]] = set()

    def note_spelling(self, errors: list[ValidationError]) -> None:
        """Finds the missing keys that are there in another spelling, so as not to tell both."""
        for error in errors:
            if error.validator == "additionalProperties" and _value(error) is False:
                path = tuple(error.absolute_path)
                at = self.at(path)
                if not isinstance(at, Mapping):
                    continue
                unknown = _unknown(error)
                wanted = [key for key in _known(error) if key not in at.entries]
                for key in unknown[:MOST_COMPLAINTS]:
                    near = _near(key, wanted)
                    if near is not None:
                        self.misspelt.add((path, near))

    def tell(self, error: ValidationError) -> None:
        """Reports one error."""
        path = tuple(error.absolute_path)
        node = self.at(path)
        where = _name_path(path)
        wants = error.schema.get("errorMessage") if isinstance(error.schema, dict) else None
        help = error.schema.get("x-help", "") if isinstance(error.schema, dict) else ""
        rule, value = str(error.validator), _value(error)
        if len(error.schema_path) > 1 and "propertyNames" in list(error.schema_path)[-3:-1]:
            self._tell_key(error, node, wants or f"wants {_wanted(error)}")
        elif rule == "additionalProperties" and isinstance(node, Mapping):
            self._tell_unknown(error, node, path)
        elif error.schema is False and path:  # a key the schema forbids here
            self._error("schema-unknown-key", f"'{path[-1]}' may not stand here", self.key_span(path))
        elif rule == "required" and isinstance(node, Mapping):
            self._tell_missing(error, node, path)
        elif rule in ("type", "anyOf", "oneOf"):
            wants = wants or f"wants {_wanted(error)}"
            help = _help_for_type(_types(error), node) or help
            self._error("schema-type", f"{where}{wants}, got {describe(node)}", node.span, help=help)
        elif rule in _SIZES:
            count = len(plain(node)) or "none"
            self._error("schema-value", f"{where}wants {_wanted(error)}, got {count}", node.span, help=help)
        elif rule == "uniqueItems" and isinstance(node, Sequence):
            self._tell_repeated(node, where)
        elif rule == "enum":
            words = [str(v) for v in value]
            message = f"{where}{wants or 'wants one of ' + ', '.join(sorted(words))}, got {describe(node)}"
            near = _near(error.instance, words) if isinstance(error.instance, str) else None
            help = f"did you mean '{near}'?" if near is not None else help
            self._error("schema-value", message, node.span, help=help)
        else:
            wants = (wants if rule in ("pattern", "const") else None) or f"wants {_wanted(error)}"
            got = plain(node) if rule in _BOUNDS else describe(node)
            self._error("schema-value", f"{where}{wants}, got {got}", node.span, help=help)

    def _tell_key(self, error: ValidationError, node: Node, wants: str) -> None:
        key = str(error.instance)
        entry = node.entries.get(key) if isinstance(node, Mapping) else None
        span = entry.key_span if entry is not None else node.span
        self._error("schema-key", f"the key {shown(key)} {wants}", span)

    def _tell_unknown(self, error: ValidationError, node: Mapping, path: tuple[str | int, ...]) -> None:
        known = _known(error)
        unused = [key for key in known if key not in node.entries]
        for key in _unknown(error)[: MOST_COMPLAINTS + 1]:
            near = _near(key, unused)
            if near is not None:
                help = f"did you mean '{near}'?"
            else:
                help = suggestion(key[:_LONGEST_NAME], known, what="the keys here are")
            inside = f" in {_quoted(path)}" if path else ""
            span = node.entries[key].key_span
            self._error("schema-unknown-key", f"unknown key {shown(key)}{inside}", span, help=help)

    def _tell_missing(self, error: ValidationError, node: Mapping, path: tuple[str | int, ...]) -> None:
        if path in self.told_missing:  # jsonschema says it once for each key
            return
        self.told_missing.add(path)
        missing = [k for k in _value(error) if k not in node.entries and (path, k) not in self.misspelt]
        if missing:
            what = "the key" if len(missing) == 1 else "the keys"
            names = ", ".join(f"'{key}'" for key in missing)
            owner = _quoted(path) if path else "the file"
            self._error("schema-missing-key", f"{owner} lacks {what} {names}", node.span)

    def _tell_repeated(self, node: Sequence, where: str) -> None:
        first: dict[str, Node] = {}
        for item in node.items:
            text = json.dumps(plain(item), sort_keys=True)
            if text in first:
                notes = [Label("it stands first here", first[text].span)]
                message = f"{where}wants each item once, got {describe(item)} twice"
                self._error("schema-value", message, item.span, notes=notes)
            first.setdefault(text, item)

    def at(self, path: tuple[str | int, ...]) -> Node:
        """Finds the node at a path of keys and indices."""
        node = self.root
        for step in path:
            if isinstance(node, Mapping):
                node = node.entries[str(step)].value
            elif isinstance(node, Sequence):
                node = node.items[int(step)]
        return node

    def key_span(self, path: tuple[str | int, ...]) -> Span:
        """Finds where the key of the node at a path stands, or the node itself in a list."""
        owner = self.at(path[:-1])
        entry: Entry | None = owner.entries.get(str(path[-1])) if isinstance(owner, Mapping) else None
        return entry.key_span if entry is not None else self.at(path).span

    def _error(
        self, code: str, message: str, span: Span, *, notes: list[Label] | None = None, help: str = ""
    ) -> None:
        self.told += 1
        if self.told <= MOST_COMPLAINTS:
            self.report.error(code, message, span, notes=notes or (), help=help)
        elif self.told == MOST_COMPLAINTS + 1:
            message = f"more than {MOST_COMPLAINTS} misfits in this file; the rest is not told"
            self.report.error("schema-too-many-errors", message, span)


def _near(name: str, known: list[str]) -> str | None:
    return nearest(name, known) if len(name) <= _LONGEST_NAME else None


def _value(error: ValidationError) -> Any:
    """Gets what the rule that failed says in the schema."""
    return error.validator_value


def _known(error: ValidationError) -> list[str]:
    return sorted(error.schema.get("properties", {})) if isinstance(error.schema, dict) else []


def _unknown(error: ValidationError) -> list[str]:
    schema = error.schema if isinstance(error.schema, dict) else {}
    patterns = [_compiled(pattern) for pattern in schema.get("patternProperties", {})]
    known = schema.get("properties", {})
    instance: Any = error.instance
    return [k for k in instance if k not in known and not any(p.search(k) for p in patterns)]


def _quoted(path: tuple[str | int, ...]) -> str:
    """Names a place for a person: ``'fruit.apple.price'``, ``item 2 of 'rules'``."""
    if path and isinstance(path[-1], int):
        return f"item {path[-1] + 1}" + (f" of {_quoted(path[:-1])}" if path[:-1] else "")
    cut = max((i + 1 for i, step in enumerate(path) if isinstance(step, int)), default=0)
    name = shown(".".join(str(step) for step in path[cut:]))
    return f"{name} of {_quoted(path[:cut])}" if cut else name


def _name_path(path: tuple[str | int, ...]) -> str:
    return f"{_quoted(path)} " if path else "the file "


def _types(error: ValidationError) -> list[str]:
    """Gets the types that a type error, or an error of alternatives, would have taken."""
    if error.validator == "type":
        value = _value(error)
        return [value] if isinstance(value, str) else list(value)
    types = [t for inner in error.context or () if inner.validator == "type" for t in _types(inner)]
    return list(dict.fromkeys(types))


def _wanted(error: ValidationError) -> str:
    """Says in words what a schema's rule asks for."""
    rule, value = str(error.validator), _value(error)
    if rule in ("type", "anyOf", "oneOf"):
        words = [_TYPES[t] for t in _types(error)]
        if rule != "type":
            words += [
                str(w) for inner in error.context or () if inner.validator == "enum" for w in _value(inner)
            ]
        return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words) or "another value"
    if rule in _BOUNDS:
        return _BOUNDS[rule].format(value)
    if rule in _SIZES:
        if value == 1:
            return _SIZES[rule].format("one").replace("items", "item").replace("entries", "entry")
        return _SIZES[rule].format(value)
    if rule == "minLength":
        return "a text that is not empty" if value == 1 else f"a text of at least {value} characters"
    if rule == "maxLength":
        return f"a text of at most {value} characters"
    if rule == "const":
        return f"'{value}'"
    if rule == "multipleOf":
        return f"a multiple of {value}"
    if rule == "pattern":
        return f"a text that matches {value}"
    return f"another value ({rule})"


def _help_for_type(types: list[str], node: Node) -> str:
    """Finds what was likely meant by a value of the wrong type."""
    if not isinstance(node, Scalar) or node.value is None:
        return ""
    value, written = node.value, node.span.text
    if isinstance(value, str):
        bare = value.strip().replace("_", "")
        if "integer" in types and re.fullmatch("-?(0|[1-9][0-9]*)", bare):
            return f"write {bare} without quotes" if written[:1] in "\"'" else f"write {bare}"
        if "boolean" in types and value.casefold() in _TRUTHS:
            return f"write {_TRUTHS[value.casefold()]}"
    elif "string" in types:
        return f'write "{written}" in quotes if the text is meant'
    elif "integer" in types and isinstance(value, float) and value.is_integer():
        return f"write {int(value)}"
    if (
        "array" in types
        and (isinstance(value, str) or len(types) == 1)
        and len(written) <= 40
        and "\n" not in written
    ):
        return f"write [{written}] for a list of one"
    return ""
