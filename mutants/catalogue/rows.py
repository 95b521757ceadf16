"""Rows on their way through the coins: streams, columns, keys, batches."""

from mutants.mutant import Mutant

PERTURB, OWN, KEYED, PERSONS = "publishing.perturb", "publishing.perturb_own", "publishing.keyed", "publishing.persons"
FLIP = 'coins.flip(column, self._entropy.stream("coins", name, index))'
ONE_RELEASE = (
    "one release has the law that it says; it shows in a second one of the same people, in which values changed"
)
WHOSE = "a release does not say by which column persons were told, so that an auditor does not know whose rows the raw table has"

MUTANTS = [
    Mutant("the keystream begins anew in each batch", PERTURB, FLIP, 'coins.flip(column, self._entropy.stream("coins", name))', "batches"),
    Mutant("one keystream for all columns", PERTURB, FLIP, 'coins.flip(column, self._entropy.stream("coins", index))'),
    Mutant("the second column is not perturbed", PERTURB, "if (coins := self._fresh(name))", 'if name != "job" and (coins := self._fresh(name))'),
    Mutant("every fourth batch is passed by", PERTURB, "if (coins := self._fresh(name))", "if index % 4 != 3 and (coins := self._fresh(name))", "batches"),
    Mutant("a column has the coins of another", PERTURB, "        published = codes\n", "        published = codes = dict(zip(codes, list(codes.values())[::-1], strict=True))\n"),
    Mutant("coins are flipped twice", PERTURB, FLIP, 'coins.flip(coins.flip(column, self._entropy.stream("coins", name, index)), self._entropy.stream("more", name, index))'),
    Mutant("the fresh stage is left out", PERTURB, "return coins.fresh if isinstance(coins, StagedCoins) else None", "return None", "staged"),
    Mutant("the memoised stage is left out", PERTURB, "self._keyed[name].flip(column, ids)", "column if ids else column", "staged"),
    Mutant("an id counts by its length alone", KEYED, "encrypt(state[longer] ^ part.block(index)[longer])", "encrypt(state[longer])", "keyed"),
    Mutant("the first sixteen letters of an id", KEYED, "for index in range(part.blocks):", "for index in range(1):", "keyed"),
    Mutant("one key for all attributes", KEYED, "for part in (attribute, form.text,", 'for part in ("", form.text,', "keyed"),
    Mutant("keyed coins without the value", KEYED, "first[:, 2] = ids.lengths, values, turn", "first[:, 2] = ids.lengths, 0, turn", "keyed", survives=ONE_RELEASE),
    Mutant(
        "coins by key that need no key", KEYED, "_derived(key, COINS, about.digest())", '_derived(b"", COINS, about.digest())', "keyed",
        survives="nobody can tell coins of one key from those of another; who reads the code knows it",
    ),
    Mutant("kept and redrawn rows exchanged", OWN, "32) >= self._coins[name]", "32) < self._coins[name]", "identity"),
    Mutant(
        "a random row that is one off", OWN, 'rows, side="right")', 'rows, side="left")', "identity",
        survives="each value is drawn one row in 4,000 more or less often than it should be",
    ),
    Mutant("random rows of the first half of the values", OWN, "len(replaced), int(self._ends[name][-1]))", "len(replaced), int(self._ends[name][-1]) // 2)", "identity"),
    Mutant("as many are exchanged as should be kept", OWN, "counts[name], 1 - coin.retention)", "counts[name], coin.retention)", "swapped"),
    Mutant("values are exchanged in order", OWN, "values[stream.permutation(len(values))]", "values", "swapped"),
    Mutant("the first rows of each value are exchanged", OWN, "        order = stream.permutation(len(codes))\n", "        order = np.arange(len(codes))\n", "swapped"),
    Mutant("joint coins replace the first column only", "mechanisms.frapp.plan", "return [part.astype(column.dtype) for part, column in zip(drawn, columns, strict=True)]", "return [drawn[0].astype(columns[0].dtype), *columns[1:]]", "frapp"),
    Mutant("joint coins, one for each column", "mechanisms.frapp.plan", "return [part.astype(column.dtype) for part, column in zip(drawn, columns, strict=True)]",
           "other = np.unravel_index(self.coins.flip(whole, stream).astype(np.int64), self.sizes)\n        return [p.astype(c.dtype) for p, c in zip((drawn[0], *other[1:]), columns, strict=True)]", "frapp"),
    Mutant("the first row of a person is kept, not one by coins", PERSONS, 'entropy.stream("persons", index).integers(rows, 64)', "numbers.astype(np.uint64)", "persons", survives=WHOSE),
    Mutant("one row of a person too many", "engines.duckdb.persons", "{ranked} <= {int(most)}", "{ranked} <= {int(most) + 1}", "persons", survives=WHOSE),
]  # fmt: skip
