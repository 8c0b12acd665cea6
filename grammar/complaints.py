"""Explains syntax errors: takes where the parser stopped, gives one diagnostic.

Lark says which token it met and which it could have used. That misleads where the mistake stands earlier (an
open bracket, a comma too many, a misspelt word) or where the writer thinks in another language; these cases
are looked for first, by the tokens read so far. Everything else is told as `got X, want Y`, with what could
have followed boiled down to a few words. A diagnostic points into the definition that has to be mended.
"""

# ruff: noqa: SIM905  # long lists of words read better unquoted

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lark import Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from .diagnostics import Diagnostic, nearest
from .span import Source, Span


class UnevenIndentation(Exception):
    """Says that a line closes blocks, but down to an indentation no block around it has."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def explain(
    source: Source,
    error: UnexpectedInput | UnevenIndentation,
    seen: Sequence[Token],
    patterns: Mapping[str, str],
) -> Diagnostic:
    """Explains a syntax error after the tokens `seen`; `patterns` are the terminals, as for `phrases`."""
    if isinstance(error, UnevenIndentation):
        return _explain_indentation(source, error.line)
    if isinstance(error, UnexpectedToken):
        return _Failure(source, error, seen, patterns).explain()
    assert isinstance(error, UnexpectedCharacters)
    return _explain_character(source, error.line, error.column)


# ------------------------------------------------------------------------------- definitions, words, phrases

# What a line can begin with that stands at the margin and was meant to be inside the definition above it.
_BODY_LINE = re.compile(
    r"(let|increase|decrease|add(?! +to +choice)|remove(?! +from +choice)|put|take|transfer|shuffle|stop|skip"
    r"|choose|roll|draw|tell|if|else|match|for|repeat|says|shows|means|needs|end|return|elif|while)\b"
    r"|[A-Za-z_]\w*(\[.*\])? *(:=|[-+]?=)|[A-Za-z_]\w*\(|[)\]}\"]"
)


def starts_definition(line: str) -> bool:
    """Tests if a line begins a definition, or is meant to: it stands at the margin and is no statement."""
    return bool(line) and not line[0].isspace() and line[0] != "#" and not _BODY_LINE.match(line)


def phrases(pattern: str) -> list[str]:
    """Writes out the words a terminal stands for, given as text or as a regex between slashes."""
    if not (len(pattern) > 1 and pattern[0] == pattern[-1] == "/"):
        return [pattern]
    words = re.sub(r"\(\[ \]\*.*?(\\n|\n)\)\*|\\b|,\?", "", pattern[1:-1], flags=re.DOTALL)
    words = re.sub(r" [+*]", " ", words).strip()
    choice = re.search(r"\(([a-z|]+)\)", words)
    if choice is None:
        return [words]
    return [words.replace(choice[0], word) for word in choice[1].split("|")]


_KINDS = {
    "_NL": "the end of the line",
    "_INDENT": "an indented block",
    "_DEDENT": "the end of the block",
    "$END": "the end",
    "NAME": "a name",
    "NUMBER": "a number",
    "TEXT": 'a text in "quotes"',
}
_LAYOUT = ("_NL", "_INDENT", "_DEDENT", "$END")
_OPENING = {"LPAR": ")", "LSQB": "]", "LBRACE": "}"}
_CLOSING = {"RPAR": "(", "RSQB": "[", "RBRACE": "{"}

_VALUES = frozenset(
    "NAME NUMBER LPAR LSQB LBRACE MINUS NOT YES NO NONE EMPTY SOME EVERY SUM_OF NUMBER_OF LENGTH_OF FIRST_OF "
    "LAST_OF THE_FIRST THE_LARGEST THE_SMALLEST CLOCKWISE_FROM CLOCKWISE_AFTER".split()
)
_AGGREGATES = frozenset("SUM_OF NUMBER_OF THE_FIRST THE_LARGEST THE_SMALLEST SOME EVERY".split())
_OPERATORS = frozenset(
    "PLUS MINUS STAR SLASH MOD AND OR IF IS IS_NOT NOT_IN LESSTHAN MORETHAN ROUNDED".split()
)
_COMPARISONS = frozenset(["<=", ">=", "=", "in"])  # operators where also "is" could stand
_LONGEST_LIST = 5
_LONGEST_WORD = 40


def _wanted(expected: Iterable[str], patterns: Mapping[str, str]) -> str:
    """Writes what could have followed: what is most telling first, then by the alphabet, a few at most."""
    rest = {t for t in expected if t != "COMMENT"}
    parts: list[tuple[int, str]] = []
    if {"RULE", "MOVE", "DEFINE"} <= rest and "LET" not in rest:
        return "a definition"
    if {"LET", "CHOOSE"} <= rest:
        return "a statement"
    if {"NAME", "NUMBER"} <= rest:
        parts.append((1, "a value"))
        rest -= _VALUES
        if "MATCH" in rest:
            rest -= {"LET", "MATCH", "IF"}
    if "IS" in rest:
        rest = {t for t in rest if patterns.get(t) not in _COMPARISONS}
    if rest & _OPERATORS:
        parts.append((4, "an operator"))
        rest -= _OPERATORS | {"LPAR"}
    if "DOT" in rest and (parts or len(rest) > 2):
        rest -= {"DOT", "LSQB"}
    if "_NL" in rest:
        rest -= {"SEMICOLON", "$END"}
    for terminal in rest:
        if terminal in _KINDS:
            parts.append((5 if terminal in _LAYOUT else 1, _KINDS[terminal]))
        else:
            words = phrases(patterns.get(terminal, terminal.lower()))[0]
            parts.append((2 if words[0].isalpha() else 3 if words[0] == "," else 0, f"'{words}'"))
    names = [text for _, text in sorted(set(parts))]
    if len(names) > _LONGEST_LIST:
        return ", ".join(names[:_LONGEST_LIST]) + " …"
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" or {names[-1]}"


# ------------------------------------------------------------------------------------- characters and indents

_HABITS = {
    "!=": "write 'is not'",
    "!": "write 'not', or 'is not'",
    "&&": "write 'and'",
    "&": "write 'and'",
    "||": "write 'or'",
    "|": "write 'or'",
    "%": "write 'mod'",
    "'": 'texts stand in double quotes: "…"',
    "≠": "write 'is not'",
    "≤": "write '<='",
    "≥": "write '>='",
    "×": "write '*'",
    "÷": "write '/ … rounded down' or '/ … rounded up'",
    "→": "write '->'",
    "–": "write '-'",
    "—": "write '-'",
    "−": "write '-'",
    "_": "a name begins with a letter",
}
_QUOTES = "“”„‟«»「」『』＂"
_PUNCTUATION = ".,:;()[]{}<>=+-*/#"
_FULL_WIDTH = {"。": ".", "、": ",", "【": "[", "】": "]"}


def _explain_character(source: Source, line: int, column: int) -> Diagnostic:
    rest = source.line(line)[column - 1 :]
    character = rest[:1] or "?"
    if character == '"':
        span = Span(source, line, column, line, column + len(rest.rstrip()))
        return Diagnostic(
            "syntax", "this text has no closing quote", span, help="a text ends on its own line"
        )
    habit = next((h for h in _HABITS if rest.startswith(h)), character)
    span = Span(source, line, column, line, column + len(habit))
    plain = _FULL_WIDTH.get(character) or unicodedata.normalize("NFKC", character)
    if habit in _HABITS:
        help = _HABITS[habit]
    elif character in _QUOTES:
        help = 'texts stand in straight quotes: "…"'
    elif plain == " ":
        help = "write a plain space"
    elif plain != character and (plain in _PUNCTUATION or (plain.isascii() and plain.isalnum())):
        help = f"write a plain '{plain}'"
    elif character.isalnum():
        help = "names are made of the letters a to z, digits and '_'; other letters stand in texts and labels"
    else:
        help = ""
    shown = f"'{habit}'" if habit != "'" else "the mark '"
    if not character.isprintable() or (character.isspace() and character != " "):
        shown = f"the character U+{ord(character):04X}"
    return Diagnostic("syntax", f"{shown} means nothing here", span, help=help)


def _explain_indentation(source: Source, line: int) -> Diagnostic:
    text = source.line(line)
    indent = len(text) - len(text.lstrip())
    return Diagnostic(
        "indentation",
        "this line is indented like no block around it",
        Span(source, line, 1, line, indent + 1),
        help="indent each block by four spaces",
    )


# -------------------------------------------------------------------------------------------------- the token

_FOREIGN = {
    "elif": "write 'else if …:'",
    "elseif": "write 'else if …:'",
    "elsif": "write 'else if …:'",
    "return": "a 'define' needs no 'return': its last line is its value",
    "while": "write 'repeat while …:'",
    "case": "a case is its label and ':'",
    "def": "write 'define' for a value, 'rule' for what happens",
    "function": "write 'define' for a value, 'rule' for what happens",
    "func": "write 'define' for a value, 'rule' for what happens",
    "print": "write 'tell \"…\"'",
    "say": "write 'tell \"…\"'",
    "break": "write 'stop'",
    "continue": "write 'skip'",
    "switch": "write 'match …:'",
    "var": "write 'let x = …', or 'x: type' in a 'state:' block",
    "const": "write 'let x = …'",
    "set": "write 'x := …'",
    "foreach": "write 'for x in …:'",
    "loop": "write 'repeat:'",
    "do": "write ':' and an indented block",
    "begin": "write ':' and an indented block",
    "then": "write ':'",
    "end": "a block ends where its indentation ends",
    "endif": "a block ends where its indentation ends",
    "enum": "write 'kind'",
    "class": "write 'kind' for a list of names, 'state:' for variables",
    "import": "rule files are named in game.yaml",
    "include": "rule files are named in game.yaml",
}
_PLACES = {
    "else": "an 'else' stands right below the block of its 'if', as far in as the 'if'",
    "needs": "'needs' lines stand at the top of a move, before what it does",
    "says": "'says' stands at the top of a move, before what it does",
    "shows": "'shows' stands at the top of a move, before what it does",
    "means": "'means' stands at the top of a move, before what it does",
}
_DEFINITIONS = frozenset(
    "type kind state tally rule move define invariant score measure replace before after".split()
)
# Words between the parts of a sentence: where one stands too early something was left out before it.
_CONNECTIVES = frozenset(
    "to from by in for if else is and or not where when unless has otherwise while per named".split()
)


class _Failure:
    """Holds an unexpected token with the tokens before it, and finds what to say."""

    def __init__(
        self, source: Source, error: UnexpectedToken, seen: Sequence[Token], patterns: Mapping[str, str]
    ) -> None:
        self.source = source
        self.patterns = patterns
        self.token = error.token
        self.expected = set(error.accepts or error.expected)
        self.before = [t for t in seen if t is not error.token]
        self.open = self._open_brackets()
        solid = [t for t in self.before if t.type not in _LAYOUT]
        self.previous = solid[-1] if solid else None
        self.text = str(self.token).strip()
        self.is_word = self.text[:1].isalpha()

    def explain(self) -> Diagnostic:
        return (
            self._open_bracket()
            or self._missing_block()
            or self._deeper_line()
            or self._hanging_comma()
            or self._wrong_word_before()
            or self._doubled_operator()
            or self._generic()
        )

    # ------------------------------------------------------------------------------------------- helpers

    def _error(self, message: str, span: Span, help: str = "") -> Diagnostic:
        return Diagnostic("syntax", message, span, help=help)

    def _span(self, token: Token) -> Span:
        line, column = token.line or 1, token.column or 1
        return Span(self.source, line, column, line, column + max(1, len(str(token).split("\n")[0].rstrip())))

    def _after_previous(self) -> Span:
        """Gets the place right after the last token read, where something is missing."""
        if self.previous is None:
            return Span(self.source, 1, 1, 1, 2)
        if "\n" in self.previous:
            return self._span(self.previous)
        line, column = self.previous.end_line or 1, self.previous.end_column or 1
        return Span(self.source, line, column, line, column + 1)

    def _open_brackets(self) -> list[Token]:
        stack: list[Token] = []
        for token in self.before:
            if token.type in _OPENING:
                stack.append(token)
            elif token.type in _CLOSING and stack:
                stack.pop()
        return stack

    def _adjacent(self, first: Token | None, second: Token) -> bool:
        return first is not None and first.end_pos == second.start_pos

    def _definition(self) -> str:
        """Gets the word that the definition with the mistake begins with."""
        first = next((t for t in reversed(self.before) if t.type not in _LAYOUT and t.column == 1), "")
        return " ".join(first.split())

    def _is_used_as_name(self) -> bool:
        line = self.source.line(self.token.line or 1)
        return re.match(r" *(:=|=|\[|\()", line[(self.token.column or 1) - 1 + len(self.text) :]) is not None

    def _begins_statement(self, index: int) -> bool:
        """Tests if the token at `index` of those read stands where a statement begins."""
        before = self.before[index - 1] if index else None
        return before is None or before.type in _LAYOUT or before in (";", ":")

    # --------------------------------------------------------------------------- mistakes that stand earlier

    def _open_bracket(self) -> Diagnostic | None:
        """A bracket that is not closed swallows the line ends up to where nothing fits any more."""
        if not self.open:
            return None
        bracket = self.open[-1]
        if self.token.type not in _LAYOUT:
            line = self.token.line or 1
            if line == bracket.line or self.source.line(line)[: (self.token.column or 1) - 1].strip():
                return None
            depth = len(self.open)
            for character in self._brackets_after(line):
                depth += 1 if character in "([{" else -1
                if depth < len(self.open):
                    return None
        return self._error(
            f"this '{bracket}' is never closed", self._span(bracket), f"write the '{_OPENING[bracket.type]}'"
        )

    def _brackets_after(self, line: int) -> Iterator[str]:
        for number in range(line, len(self.source.lines) + 1):
            text = self.source.line(number)
            if starts_definition(text):
                return
            yield from (m[0] for m in re.finditer(r'"[^"]*"|#.*|[()\[\]{}]', text) if m[0] in "()[]{}")

    def _missing_block(self) -> Diagnostic | None:
        if "_INDENT" not in self.expected:
            return None
        last = self.token.type in ("_DEDENT", "$END") or starts_definition(
            self.source.line(self.token.line or 1)
        )
        help = (
            "write what belongs to it below, four spaces further in" if last else "indent the lines below it"
        )
        return self._error("no indented block stands below this line", self._after_previous(), help)

    def _deeper_line(self) -> Diagnostic | None:
        if self.token.type != "_INDENT":
            return None
        newline = next(t for t in reversed(self.before) if t.type == "_NL")
        line = (newline.line or 1) + newline.count("\n")
        text = self.source.line(line)
        return Diagnostic(
            "indentation",
            "this line is further in than the one above it",
            Span(self.source, line, 1, line, len(text) - len(text.lstrip()) + 1),
            help="a definition begins at the margin"
            if "RULE" in self.expected and not _BODY_LINE.match(text.strip())
            else "a block begins below a line that ends with ':'",
        )

    def _hanging_comma(self) -> Diagnostic | None:
        """After a comma the list goes on in the next line; if that is something else, the comma is wrong."""
        if self.open or len(self.before) < 2:
            return None
        comma = self.before[-1]
        if comma.type == "NAME" and self.text in (":=", "(", "[", "."):
            comma = self.before[-2]
        elif self.token.type == "NAME":
            return None
        if comma.type != "COMMA" or "\n" not in comma:
            return None
        line, column = comma.line or 1, comma.column or 1
        span = Span(self.source, line, column, line, column + 1)
        return self._error("nothing follows this ','", span, "leave it out, or write what follows")

    def _wrong_word_before(self) -> Diagnostic | None:
        """A word that begins no statement is taken for a call; the mistake shows one token later."""
        index = len(self.before) - 1
        word = self.previous
        if word is None or word is not self.before[index] or not self._begins_statement(index):
            return None
        text = str(word)
        if word.type != "NAME":
            if text.isidentifier() and self.text in (":=", "=", "["):
                return self._error(
                    f"'{text}' is a word of the language and cannot be a name", self._span(word)
                )
            return None
        if not (self.is_word or self.token.type in ("TEXT", "NUMBER", "COLON", "_NL", "LPAR")):
            return None
        if text in _FOREIGN:
            help = _FOREIGN[text]
        else:
            known = [p for name in self.patterns for p in phrases(self.patterns[name]) if p[0].isalpha()]
            near = nearest(text, {p.split()[0] for p in known} - {text}) if len(text) > 2 else None
            if near is None or ":=" not in {self.patterns.get(t) for t in self.expected}:
                return None
            help = f"did you mean '{near}'?"
        return self._error(f"'{text}' is no word of the language", self._span(word), help)

    def _doubled_operator(self) -> Diagnostic | None:
        """Operators of other languages that are two tokens here: `==`, `+=`, `=>`, `..`."""
        first, second = self.previous, self.token
        if first is None:
            return None
        pair = f"{first}{second}" if self._adjacent(first, second) else ""
        help = {
            "==": "'=' compares",
            "=>": "write '>='",
            "=<": "write '<='",
            "<>": "write 'is not'",
            "..": "a range is written '1 to 5'",
            "//": "a comment begins with '#'; '/ … rounded down' divides",
            "**": "powers do not exist: multiply",
        }.get(pair)
        if help is None:
            end = (second.column or 1) + len(second) - 1
            pair = str(second) + self.source.line(second.line or 1)[end : end + 1]
            first = second
            help = {
                "+=": "write 'increase x by n'",
                "++": "write 'increase x by 1'",
                "-=": "write 'decrease x by n'",
                "--": "write 'decrease x by 1'",
                "*=": "write 'x := x * n'",
                "==": "'=' compares; ':=' gives a variable a value",
                "//": "a comment begins with '#'",
                "/*": "a comment begins with '#'",
            }.get(pair)
            if help is None:
                return None
        span = self._span(first)
        span = Span(self.source, span.line, span.column, span.line, span.column + 2)
        return self._error(f"'{pair}' means nothing here", span, help)

    # ------------------------------------------------------------------------------- got this, want that

    def _generic(self) -> Diagnostic:
        if self.token.type in _LAYOUT:
            span, got = self._after_previous(), _KINDS[self.token.type]
        else:
            shown = self.text if len(self.text) <= _LONGEST_WORD else f"{self.text[: _LONGEST_WORD - 1]}…"
            span, got = self._span(self.token), f"'{shown}'"
        return self._error(f"got {got}, want {_wanted(self.expected, self.patterns)}", span, self._help())

    def _help(self) -> str:
        """Finds how to mend it, if that can be guessed."""
        if self.open and self.open[-1] == "{" and self._begins_statement(self.before.index(self.open[-1])):
            return "a block is made by indentation alone, without braces"
        if self.token.type in _AGGREGATES and "NUMBER" in self.expected:
            return f"inside a larger expression it stands in parentheses: '({self.text} …)'"
        wants_statement = "LET" in self.expected
        wants_definition = {"RULE", "KIND"} <= self.expected
        if self.is_word:
            return self._help_for_word(wants_statement, wants_definition)
        if self.token.type in _CLOSING and not self.open:
            return f"no '{_CLOSING[self.token.type]}' is open here"
        if self.token.type in _CLOSING and self.previous is not None and self.previous.type == "COMMA":
            return "leave out the ',' before it"
        if self.text == ")" and "SECRET" in self.expected:
            return "without parameters, leave out the '()'"
        if self.text in (")", ",") and self.expected == {"COLON"}:
            return "a parameter has a type, as in 'n: 1 to 6'"
        accepted = {self.patterns.get(t, t) for t in self.expected}
        if self.text == "=" and ":=" in accepted:
            return "':=' gives a variable a value; '=' compares"
        if self.text == ":=" and "=" in accepted and "is" not in accepted:
            return "write '=': ':=' gives a new value to a variable that exists"
        if self.text == ":=" and self._definition() in ("define", "open to all", "score", "measure"):
            return "what changes a variable stands in a rule or a move; here 'let' names a value"
        if self.text in _COMPARISONS | {"<", ">"} and "AND" in self.expected:
            return "two comparisons are joined by 'and'"
        if self.token.type == "TEXT":
            if self.previous is not None and self.previous.type == "TEXT":
                return "a text cannot hold a double quote; “ ” may stand in it"
            if [str(t) for t in self.before[-2:]] == ["print", "("]:
                return _FOREIGN["print"]
            if "NUMBER" in self.expected:
                return "a text is no value: it stands in 'tell', 'says', or after the 'else' of 'needs'"
        if self.token.type == "NUMBER" and self.previous is not None:
            if self.previous == "." and self._adjacent(self.previous, self.token):
                return "all numbers are whole"
            if "NAME" in self.expected:
                return "a name begins with a letter"
        if self.text == "-" and self.expected <= {"LPAR", "COLON"}:
            return "a name is one word: join its parts with '_'"
        if self.token.type in _LAYOUT:
            return self._help_at_end()
        return ""

    def _help_at_end(self) -> str:
        first = next((i for i in range(len(self.before) - 1, -1, -1) if self._begins_statement(i)), None)
        if first is not None and self.before[first] == "tell":
            return 'write the text in quotes: tell "…"'
        if self.previous == ":" and self.expected == {"NAME"}:
            return "the names begin on this line; after a ',' they go on in the next"
        if self.expected == {"ELSE"} and self.token.type == "_DEDENT":
            return "a value must come out in every case: add 'else: …'"
        return ""

    def _help_for_word(self, wants_statement: bool, wants_definition: bool) -> str:
        folded = self.text.casefold()
        if self.previous is not None:
            if self.previous.type == "TEXT" and self._adjacent(self.previous, self.token):
                return "a text cannot hold a double quote; “ ” may stand in it"
            if self.previous in ("replace", "before", "after"):
                return f"say what it is, as in '{self.previous} rule NAME:'"
            if self.previous == "all":
                return "to mean all of a type, write the name of the type alone"
            if self.previous == "take":
                return "to take something out wherever it lies, write 'remove … from …'"
            if self.previous == ":" and self.expected == {"_NL"}:
                return "what belongs to it stands in the lines below, indented"
        if self.text == "else" and "_NL" in self.expected:
            return "an 'else' begins a line of its own"
        if self.token.type != "NAME" and folded in _PLACES and (wants_statement or wants_definition):
            return _PLACES[folded]
        if self.token.type != "NAME" and folded in _FOREIGN and wants_statement:
            return _FOREIGN[folded]
        if wants_statement and self.text in _DEFINITIONS and not self._is_used_as_name():
            return "a definition begins at the margin"
        if self.token.type == "NAME" or wants_definition:
            return self._help_for_name(folded, wants_definition)
        if self.text == "or" and "OR_MOVE" in self.expected:
            return "the moves of a choice are separated by commas"
        if "NAME" in self.expected and self.text.isidentifier() and self.text not in _CONNECTIVES:
            return f"'{self.text}' is a word of the language and cannot be a name"
        return ""

    def _help_for_name(self, folded: str, wants_definition: bool) -> str:
        words = [p for t in self.expected for p in phrases(self.patterns.get(t, "")) if p[:1].isalpha()]
        begun = sorted(p for p in words if p.split()[0] == folded and p != self.text)
        if begun:
            return "write " + " or ".join(f"'{p}'" for p in begun)
        if wants_definition and folded in _FOREIGN:
            return _FOREIGN[folded]
        if self.previous is not None and self.previous.type == "NAME":
            every = [p for pattern in self.patterns.values() for p in phrases(pattern)]
            begun = sorted(p for p in every if p.startswith(f"{self.previous} "))
            if begun:
                return "did you mean " + " or ".join(f"'{p}'" for p in begun) + "?"
            if self.expected == {"LPAR", "COLON"}:
                return f"a name is one word: write '{self.previous}_{self.text}'"
        near = nearest(self.text, words) if len(self.text) > 2 else None
        if near is not None:
            return f"did you mean '{near}'?"
        if folded in _FOREIGN:
            return _FOREIGN[folded]
        if wants_definition and _BODY_LINE.match(self.source.line(self.token.line or 1).strip()):
            return "what happens stands in a 'rule' or a 'move', indented below its name"
        if wants_definition:
            return "a definition begins with 'rule', 'move', 'define', 'state', 'type', 'kind' or the like"
        return ""
