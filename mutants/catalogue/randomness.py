"""Where random bits come from."""

from mutants.mutant import Mutant

ENTROPY = "core.entropy"
SYSTEM = "return cls(os.urandom(32), secure=True)"
SEEDED = "made = cls.seeded({})\n        made.secure = True\n        return made"

MUTANTS = [
    Mutant("a constant seed", ENTROPY, SYSTEM, SEEDED.format(42), own_entropy=True),
    Mutant("the day as a seed", ENTROPY, SYSTEM, SEEDED.format('int(__import__("time").strftime("%Y%m%d"))'), own_entropy=True),
    Mutant("the second as a seed", ENTROPY, SYSTEM, SEEDED.format('int(__import__("time").time())'), own_entropy=True),
    Mutant("four bytes of entropy", ENTROPY, SYSTEM, 'return cls(os.urandom(4) * 8, secure=True)', own_entropy=True,
           survives="2^32 keys are not tried: about a month of one processor"),
    Mutant("the keystream begins anew in each piece", ENTROPY, "        self._encryptor.update_into(memoryview(_ZEROS)[:size], self._buffer)",
           '        first = self.__dict__.setdefault("_first", self._encryptor.update(_ZEROS))\n        self._buffer[:size] = first[:size]', "full"),
    Mutant("one stream for all names", ENTROPY, 'label = "\\x1f".join(str(part) for part in name).encode()', 'label = b"stream"'),
    Mutant("rows of equal keys stay as they came", ENTROPY, "        for start, end in _runs(same):\n", "        for start, end in ():\n",
           survives="two of 4,000 rows have the same 32 bits once in 500 releases; one of them then has the place before the other"),
    Mutant("an order by two random bits", ENTROPY, "keys = [self.integers(count, 16)", "same = np.zeros(0, dtype=np.bool_)\n        keys = [self.integers(count, 16) & np.uint16(3)", survives="equal keys are put in order in turn, by more bits: the order is as random as before"),
]  # fmt: skip
