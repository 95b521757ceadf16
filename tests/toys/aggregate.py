"""An aggregate of one file: COUNT_IF(condition), the rows for which a condition holds, as a sum of ones.

Registered by one line: AGGREGATES[exp.CountIf] = COUNT_IF.
"""

from scumble.engines.expressions import either, number
from scumble.query.aggregates.aggregation import Aggregation

COUNT_IF = Aggregation("count_if", "sum", lambda function: either(function.this, number(1), number(0)))
