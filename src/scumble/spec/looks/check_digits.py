"""Numbers that a state or a bank gives to a person, told by their check digits.

A number that is none passes a check by chance in one of 10 or 11 cases, so that a column of them is told by most of its values.
"""

import re
from collections.abc import Callable, Collection


def _weighted(digits: str, weights: Collection[int]) -> int:
    return sum(int(d) * w for d, w in zip(digits, weights, strict=True))


def nhs(text: str) -> bool:
    """The NHS number of England.

    >>> nhs("943 476 5919"), nhs("9434765918")
    (True, False)
    """
    digits = _digits(text, 10)
    return bool(digits) and (11 - _weighted(digits[:9], range(10, 1, -1)) % 11) % 11 == int(digits[9])


def pesel(text: str) -> bool:
    """The PESEL of Poland.

    >>> pesel("44051401359"), pesel("44051401358")
    (True, False)
    """
    digits = _digits(text, 11)
    return bool(digits) and -_weighted(digits[:10], (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10 == int(digits[10])


def bsn(text: str) -> bool:
    """The burgerservicenummer of the Netherlands.

    >>> bsn("111222333"), bsn("111222334")
    (True, False)
    """
    digits = _digits(text, 9)
    return bool(digits) and _weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def dni(text: str) -> bool:
    """The DNI of Spain.

    >>> dni("12345678Z"), dni("12345678A")
    (True, False)
    """
    match = re.fullmatch(r"(\d{8})-?([A-Z])", text)
    return match is not None and "TRWAGMYFPDXBNJZSQVHLCKE"[int(match[1]) % 23] == match[2]


def nir(text: str) -> bool:
    """The numéro de sécurité sociale of France.

    >>> nir("2 55 08 14 168 025 38"), nir("255081416802539")
    (True, False)
    """
    digits = _digits(text, 15)
    return bool(digits) and 97 - int(digits[:13]) % 97 == int(digits[13:])


def tax_id(text: str) -> bool:
    """The Steuer-Identifikationsnummer of Germany.

    >>> tax_id("86095742719"), tax_id("86095742718")
    (True, False)
    """
    digits, rest = _digits(text, 11), 10
    for digit in digits[:10]:
        rest = ((int(digit) + rest) % 10 or 10) * 2 % 11
    return bool(digits) and (11 - rest) % 10 == int(digits[10])


def fiscal_code(text: str) -> bool:
    """The codice fiscale of Italy, by its shape.

    >>> fiscal_code("RSSMRA85T10A562S")
    True
    """
    return re.fullmatch(r"[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]", text) is not None


def luhn(text: str) -> bool:
    """A Swedish personnummer, or the number of a bank card.

    >>> luhn("811218-9876"), luhn("8112189877")
    (True, False)
    """
    digits = re.sub(r"[\s-]", "", text)
    if not re.fullmatch(r"\d{10}|\d{16}", digits):
        return False
    doubled = [int(d) * (1 + i % 2) for i, d in enumerate(reversed(digits))]
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0


def iban(text: str) -> bool:
    """The number of a bank account.

    >>> iban("DE89 3704 0044 0532 0130 00"), iban("DE88370400440532013000")
    (True, False)
    """
    plain = text.replace(" ", "")
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", plain):
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def _digits(text: str, length: int) -> str:
    """The digits of a text, where they are as many and nothing else is there; a number has lost its leading zero."""
    plain = re.sub(r"[\s-]", "", text)
    return plain if re.fullmatch(rf"\d{{{length}}}", plain) else ""


NUMBERS: dict[str, Callable[[str], bool]] = {
    "an NHS number": nhs,
    "a PESEL": pesel,
    "a burgerservicenummer": bsn,
    "a DNI": dni,
    "a French social security number": nir,
    "a German tax number": tax_id,
    "a codice fiscale": fiscal_code,
    "a personnummer, or a bank card": luhn,
    "an IBAN": iban,
}
