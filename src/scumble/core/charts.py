"""Charts as files and as parts of a page. Whatever stands in one came from somebody's table: control characters are shown, not obeyed (the drawing library
aborts on them), and the drawing may fetch nothing.
"""

import re
from typing import Any

from scumble.core.display import cell
from scumble.core.extras import need

NO_CHARACTERS = re.compile("[\ufffe\uffff]")
"""Not control characters, and yet not allowed in XML."""


def text(value: Any) -> str:
    """A value of a table as a chart and a page can show it; a missing one by its name."""
    return "(missing)" if value is None else NO_CHARACTERS.sub("\ufffd", cell(value))


def svg_of(chart: Any) -> str:
    """An Altair chart as SVG."""
    return str(need("vl_convert", "report").vegalite_to_svg(_safe(chart.to_dict()), allowed_base_urls=[]))


def png_of(chart: Any) -> bytes:
    """The same in pixels, two for each of CSS."""
    drawn = need("vl_convert", "report").vegalite_to_png(_safe(chart.to_dict()), scale=2, allowed_base_urls=[])
    return bytes(drawn)


def _safe(spec: Any) -> Any:
    if isinstance(spec, dict):
        return {key: _safe(part) for key, part in spec.items()}
    if isinstance(spec, list):
        return [_safe(part) for part in spec]
    return text(spec) if isinstance(spec, str) else spec
