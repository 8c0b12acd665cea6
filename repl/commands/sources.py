"""`harbourmaster sources`: shows what each document says to each open question."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ..output import in_language, paint, say, table, wrap
from . import UsageError
from .common import add_language, add_ruleset, language_of

if TYPE_CHECKING:
    from ...interpreter.ruleset import RuleSet
    from ...interpreter.yamlfile import Mapping

DESCRIPTION = """
Shows which document gives which reading to each open question of a game: a reading, – where the document is
silent, ! behind a reading that another place of the same document contradicts. With a document's key, tells
all about it.
"""
EXAMPLES = """
  harbourmaster sources GAME
  harbourmaster sources GAME KEY                # one document: its parts and where it contradicts itself
"""


def configure(parser: ArgumentParser) -> None:
    """Declares what the command takes."""
    add_ruleset(parser)
    parser.add_argument("key", nargs="?", metavar="KEY", help="tell all about this document")
    add_language(parser)


def run(options: Namespace) -> int:
    """Shows the table, or tells about one document."""
    from ...grammar.diagnostics import suggestion
    from ...interpreter.load import load_ruleset

    language = language_of(options)
    rules = load_ruleset(options.ruleset)
    documents = _read(rules)
    if options.key is None:
        _show_table(rules, documents)
        for key, document in documents.items():
            say(f"{key}  {_words(document, 'title', language)}")
        return 0
    if options.key not in documents:
        help = suggestion(options.key, documents, what="the documents are")
        raise UsageError(f"{rules.game} has no document '{options.key}'", help)
    _tell(rules, options.key, documents[options.key], language)
    return 0


def _read(rules: RuleSet) -> dict[str, Mapping]:
    """Reads the file of sources. Raises `RulesError`."""
    from ...grammar.diagnostics import Report
    from ...interpreter.gamefiles import Files, Folder
    from ...interpreter.yamlfile import Mapping

    if rules.sources is None:
        raise UsageError(f"{rules.game} names no documents", "its game file may name a file under 'sources'")
    report = Report()
    folder = Folder(rules.sources.parent, rules.sources.parent.name)
    root = Files(report).yaml(folder, rules.sources.name, "sources")
    report.raise_errors()
    assert root is not None
    return {e.key: e.value for e in root.entries.values() if isinstance(e.value, Mapping)}


def _words(document: Mapping, key: str, language: str) -> str:
    from ...interpreter.gamefiles import entry, words_of

    return in_language(words_of(entry(document, key)), language)


def _answers(document: Mapping) -> dict[str, str]:
    from ...interpreter.gamefiles import entry, mapping_of, text_of

    return {question: text_of(node) for question, node in mapping_of(entry(document, "answers"))}


def _contradicted(document: Mapping, language: str) -> dict[str, str]:
    from ...interpreter.gamefiles import entry, mapping_of, words_of

    found = mapping_of(entry(document, "contradicts"))
    return {question: in_language(words_of(node), language) for question, node in found}


def _show_table(rules: RuleSet, documents: dict[str, Mapping]) -> None:
    columns = [(_answers(d), _contradicted(d, "en")) for d in documents.values()]
    rows = []
    for question in rules.questions.values():
        cells = [
            answers.get(question.name, "–") + ("!" if question.name in against else "")
            for answers, against in columns
        ]
        rows.append([question.name, question.chosen, *cells])
    table(["question", "holds here", *documents], rows)
    say()


def _tell(rules: RuleSet, key: str, document: Mapping, language: str) -> None:
    from ...interpreter.gamefiles import entry, mapping_of, text_of, words_of

    say(f"{paint(key, 'bold')}  {_words(document, 'title', language)}")
    file = text_of(entry(document, "file"))
    say(f"  in {text_of(entry(document, 'language'))}" + (f", {file}" if file else ""))
    note = _words(document, "note", language)
    if note:
        say(wrap(note, indent="  "))
    parts = mapping_of(entry(document, "parts"))
    if parts:
        say()
        table(["part", "what it is"], [[name, in_language(words_of(node), language)] for name, node in parts])
    answers, against = _answers(document), _contradicted(document, language)
    say()
    rows = []
    for question in rules.questions.values():
        answer = answers.get(question.name, "–")
        differs = "" if answer in ("–", question.chosen) else f"here {question.chosen}"
        rows.append([question.name, answer, differs])
    table(["question", "it says", "holds"], rows)
    if against:
        say()
        say(paint("where it contradicts itself", "bold"))
        for name, how in against.items():
            say(wrap(f"{name}: {how}", indent="  "))
