"""What texts are words for, whatever their column is called, in the languages of Europe: illnesses, beliefs, origins, results, sums of money.

Stems are looked for at the beginning of a word of a value, without accents and in small letters. A column is of a kind where several of its values are, and
a share of them that words of other columns hardly reach; what a list does not know stays in doubt.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from scumble.spec.looks.names import folded

ILLNESSES = (
    "influenz gryp grip gripe griepe griep flunssa chripka asthm asma astma cancer krebs kanker rak rakovina syopa "
    "carcino karzinom tumor tumour melanom lymphom leuk diabet zucker cukrzyc cukrovk hiv aids hepatit "
    "gelbsucht zoltaczk tubercul tuberkul gruzlic pneumon lungenentz neumonia polmonite zapalenie bronch copd bpco epoc "
    "hypert hipert ipert bluthoch nadcisn infarct infarkt infarto zawal stroke schlaganf ictus ictal avc udar beroerte "
    "depress depresj schizo psychos psychoz bipolar angstst anxiety ansied demen alzheimer parkins epilep migren migrain "
    "arthri artri artros arthros osteop gout gicht gotta ulcer ulkus ulcera wrzod crohn colit kolit gastri angina arrhyth "
    "fibrill insuffic niewydoln nephr nefr syphil sifil chlamyd gonorr herpes malaria covid corona sars measles masern rougeole "
    "sarampion morbill odra anaemi anemi autis addict sucht alcoholi alkoholi adipos obes otyl fractur fraktur zlaman"
)
BELIEFS = (
    "catholi katholi catoli cattoli katoli protest evangel lutheran luterans calvin reform orthodox ortodox ortodoks prawoslaw "
    "baptis methodis anglican pentecost muslim moslem muzul musulm islam sunni shia schiit jewish jude judai judio juif ebre "
    "zyd hindu buddh budd sikh atheis ateo ateis athee agnosti konfessionslos jehov zeugen temoins mormon quaker christian "
    "christlich chretien cristian chrzesc"
)
ORIGINS = (
    "caucasian african asian hispanic latino latina romani sinti indigen aborigin maghreb kurd arab "
    "kaukasi afrikan asiat africain afric"
)
RESULTS = (
    "positiv negativ pozytyw ujemn dodatn abnorm normal norm pathol elevated erhoht eleve elevado alto borderline reactive reaktiv "
    "detected nachgewies inconclus"
)
MONEY = re.compile(
    r"[<>=≤≥~ -]*[€$£]\s?\d[\d.,' ]*k?[+-]?|[<>=≤≥~ -]*\d[\d.,' ]*\s?(k|€|\$|£|eur|euro|usd|gbp|chf|pln|zł|kč|ft|sek|nok|dkk|lei)[+-]?"
    r"|[<>=≤≥~ -]*\d+\s?k\s?-\s?\d+\s?k",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Stems:
    """Stems of words, and which share of the values must have one."""

    beginnings: tuple[str, ...]
    share: float

    def tells(self, values: Collection[str]) -> bool:
        """Whether two values or more, and the share of them, have a word that begins so."""
        known = sum(any(word.startswith(self.beginnings) for word in folded(value)) for value in values)
        return known >= 2 and known >= self.share * len(values)


KINDS = {
    "illness or health": Stems(tuple(ILLNESSES.split()), 0.3),
    "religion or belief": Stems(tuple(BELIEFS.split()), 0.4),
    "ethnic origin": Stems(tuple(ORIGINS.split()), 0.5),
    "a result of a test": Stems(tuple(RESULTS.split()), 0.6),
}

MOST = 200
"""Values that are looked at: a list of illnesses is not longer as a rule, and texts are looked at elsewhere."""


def meaning(texts: Collection[str]) -> str | None:
    """What texts are words for, if anything private.

    >>> meaning(["Grippe", "Asthma", "Beinbruch"]), meaning(["römisch-katholisch", "evangelisch", "keine"]), meaning(["north", "south"])
    ('illness or health', 'religion or belief', None)
    >>> meaning(["<=50K", ">50K"]), meaning(["10 000 €", "2.500 €"]), meaning(["A1", "B2"])
    ('income or money', 'income or money', None)
    """
    if not 2 <= len(texts) <= MOST:
        return None
    if all(MONEY.fullmatch(text) for text in texts):
        return "income or money"
    return next((kind for kind, words in KINDS.items() if words.tells(texts)), None)
