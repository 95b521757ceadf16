"""The rows of a release to come: what forecasts ask before a coin is flipped."""

from collections.abc import Mapping

import pyarrow as pa

from scumble.query.coarse import Ends
from scumble.query.compile import Published

Rows = tuple[pa.Table, Published, Mapping[str, Ends]]
"""The rows to be published, before their coins, what will be known of the release, and numbers that will be put together."""
