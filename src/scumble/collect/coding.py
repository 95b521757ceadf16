"""Codes on the disk: made, noted in the store as hashes, and written for who hands them out."""

from pathlib import Path

from scumble.collect.reading import open_survey
from scumble.collect.stores import open_store
from scumble.collect.tokens import code_key, new_code
from scumble.core.atomic import demand_file, whole_file
from scumble.core.errors import SurveyError


def write_codes(survey: Path, address: str, count: int, out: Path) -> None:
    """New codes of a survey that asks for them."""
    demand_file(out, overwrite=False)
    opened = open_survey(survey)
    if opened.record.tokens == "open":
        raise SurveyError('the survey is open and takes no codes; write tokens = "codes" or "blind" into its spec')
    store = open_store(address, opened.text())
    try:
        codes = [new_code() for _ in range(count)]
        with whole_file(out) as aside:
            aside.touch(0o600)
            aside.write_text("\n".join(codes) + "\n", encoding="ascii")
            store.add_codes([code_key(code) for code in codes])
    finally:
        store.disconnect()
