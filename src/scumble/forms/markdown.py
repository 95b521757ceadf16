"""Names and values in Markdown: whatever a column is called, it is shown as it is, and is never markup."""

import re


def plain(text: object) -> str:
    r"""A name or a value in running text or in a cell of a table.

    >>> print(plain("a|b*c* <script>"))
    a\|b\*c\* &lt;script>
    """
    escaped = re.sub(r"([\\`*\[\]|~]|(?<!\w)_|_(?!\w))", r"\\\1", str(text).replace("&", "&amp;").replace("<", "&lt;"))
    return _one_line(escaped)


def code(text: object) -> str:
    """A name or a condition as code within a line, between more backticks than it has itself.

    >>> print(code("a`b"))
    ``a`b``
    """
    shown = _one_line(str(text))
    fence = "`" * (1 + _backticks(shown))
    room = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{room}{shown}{room}{fence}"


def sentence(text: str) -> str:
    """A sentence of a manifest, in which names may stand: no tags and no links, and its own marks as they are.

    >>> print(sentence("p < 1/2 for <b>, see [x](y)"))
    p < 1/2 for &lt;b>, see [x]\\(y)
    """
    return _one_line(re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text).replace("](", "]\\("))


def block(sql: str) -> str:
    """A statement as a block of code, between more backticks than stand together in it.

    >>> print(block("SELECT '```'"))
    ````sql
    SELECT '```'
    ````
    """
    fence = "`" * max(3, 1 + _backticks(sql))
    return f"{fence}sql\n{sql}\n{fence}"


def indented(command: str) -> str:
    """A command as a block of code by its indentation, whatever lines a value in it has."""
    return re.sub(r"^|(?<=\n)|(?<=\r)(?!\n)", "    ", command)


def _one_line(text: str) -> str:
    return re.sub(r"\r\n|\r|\n", " ", text)


def _backticks(text: str) -> int:
    """How many stand together at most."""
    return max(map(len, re.findall("`+", text)), default=0)
