"""Names and values in Markdown: whatever a column is called, it is shown as it is, and is never markup."""

import re


def plain(text: object) -> str:
    r"""A name or a value in running text or in a cell of a table.

    >>> print(plain("a|b*c* <script>"))
    a\|b\*c\* &lt;script>
    """
    escaped = re.sub(r"([\\`*\[\]|~]|(?<!\w)_|_(?!\w))", r"\\\1", str(text).replace("&", "&amp;").replace("<", "&lt;"))
    return " ".join(escaped.split("\n"))


def code(text: object) -> str:
    """A name or a condition as code within a line, between more backticks than it has itself.

    >>> print(code("a`b"))
    ``a`b``
    """
    shown = " ".join(str(text).split("\n"))
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    room = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{room}{shown}{room}{fence}"


def sentence(text: str) -> str:
    """A sentence of a manifest, in which names may stand: no tags and no links, and its own marks as they are.

    >>> print(sentence("p < 1/2 for <b>, see [x](y)"))
    p < 1/2 for &lt;b>, see [x]\\(y)
    """
    return " ".join(re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text).replace("](", "]\\(").split("\n"))
