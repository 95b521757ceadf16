"""What a release is worth: workloads of questions, errors against the truth, mechanisms compared, and the parameters for an accuracy.

Everything here needs the raw table and is for the publisher's eyes; nothing of it goes into a release.
"""

from scumble.evaluate.advice import Advice
from scumble.evaluate.advisor import advise
from scumble.evaluate.comparison import Compared, Comparison, compare
from scumble.evaluate.measured import Measured, measure
from scumble.evaluate.utility import reconstruction, records
from scumble.evaluate.workload import Question, Workload
from scumble.truth import Truth

__all__ = [
    "Advice",
    "Compared",
    "Comparison",
    "Measured",
    "Question",
    "Truth",
    "Workload",
    "advise",
    "compare",
    "measure",
    "reconstruction",
    "records",
]
