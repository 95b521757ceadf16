"""Long chains of ANDs and ORs, made short or at least flat: the parser nests each in the next, thousands deep.

    x = 1 OR y = 2 OR x = 3    becomes    x IN (1, 3) OR y = 2

SQL knows both as the same, missing values included. Chains that a person writes are left as they are.
"""

from collections.abc import Sequence

from sqlglot import exp

LONG = 32
"""Links from which on a chain is long."""


def shortened(question: exp.Expression) -> None:
    """Changes the long chains of a question, the outermost first."""
    left = [question]
    while left:
        node = left.pop()
        if isinstance(node, exp.And | exp.Or):
            node = _shorter(node)
        left.extend(node.iter_expressions())


def operands(chain: exp.And | exp.Or) -> list[exp.Expression]:
    """All that one kind of connector connects, in order, without brackets around more of the same."""
    parts, left = list[exp.Expression](), list[exp.Expression]([chain])
    while left:
        operand = left.pop()
        inner = operand.unnest()
        if isinstance(inner, type(chain)):
            left += [inner.right, inner.left]
        else:
            parts.append(operand)
    return parts


def _shorter(chain: exp.And | exp.Or) -> exp.Expression:
    links = operands(chain)
    if len(links) < LONG:
        return chain
    links = list(dict.fromkeys(_listed(links) if isinstance(chain, exp.Or) else links))
    flat = _balanced([exp.paren(e, copy=False) if isinstance(e, exp.Connector) else e for e in links], type(chain))
    chain.replace(flat)
    return flat


def _listed(links: Sequence[exp.Expression]) -> list[exp.Expression]:
    """Values that the same column may equal become one list."""
    lists: dict[str, exp.In] = {}
    others = list[exp.Expression]()
    for link in links:
        if not (type(link) is exp.EQ and isinstance(link.left, exp.Column) and isinstance(link.right, exp.Literal)):
            others.append(link)
            continue
        column = link.left.sql()
        lists.setdefault(column, exp.In(this=link.left, expressions=[])).append("expressions", link.right)
    return [*lists.values(), *others]


def _balanced(links: Sequence[exp.Expression], kind: type[exp.And] | type[exp.Or]) -> exp.Expression:
    if len(links) == 1:
        return links[0]
    half = len(links) // 2
    return kind(this=_balanced(links[:half], kind), expression=_balanced(links[half:], kind))
