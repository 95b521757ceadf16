"""Coins that keep or replace values by another law."""

from mutants.mutant import Mutant

COINS, DESIGN, MIXTURE, LOTS = "core.coins", "core.design_coins", "core.mixture_coins", "core.lots"
KEEP = "keep = words < threshold"
LAST_BIT = "the law changes by 2^-32 and less; the smallest change that 4,000 rows show is a thousandth and more"

MUTANTS = [
    Mutant("a threshold that is one too large", COINS, KEEP, "keep = words <= threshold", survives=LAST_BIT),
    Mutant("retention and replacement exchanged", COINS, KEEP, "keep = words >= threshold"),
    Mutant(
        "a threshold a fiftieth too large", COINS, KEEP, "keep = words < threshold + threshold // 50",
        survives="retention 0.408 in the place of 0.4, below what 4,000 rows show",
    ),
    Mutant("a threshold a quarter too large", COINS, KEEP, "keep = words < threshold + threshold // 4"),
    Mutant(
        "a retention that is rounded up", COINS, "share = max(1, -((asked - whole) // size))", "share = max(1, (whole - asked) // size)",
        survives="the manifest has the threshold that was applied, and what follows from it is what is printed; it is 2^-29 above what was asked for",
    ),
    Mutant(
        "replacements are never the true value", COINS, "        undecided = (drawn >= self.parts)",
        "        out += (out == codes) * ~keep * (1 - self.size * (out == self.size - 1)).astype(out.dtype)\n"
        "        undecided = (drawn >= self.parts)",
    ),
    Mutant("the last value is never drawn", COINS, "// np.uint64(self.parts)).astype", "// np.uint64(self.parts - 1)).astype"),
    Mutant(
        "the remainder of words goes to the first values", COINS, "drawn = words - threshold if (shares == 1).all() else (words - threshold) // share",
        "drawn = (words >> 3) % words.dtype.type(max(1, self.parts // 2))",
    ),
    Mutant("retention of the next value", COINS, "threshold, share = thresholds[codes], shares[codes]", "threshold, share = (numbers[(codes + 1) % self.size] for numbers in (thresholds, shares))", "fine_grain"),
    Mutant("one retention for all values", COINS, "        if len(thresholds) == 1:", "        if len(thresholds):", "fine_grain"),
    Mutant("one lot for each value", COINS, "out = drawn.astype(codes.dtype) if self.lots is None", "out = (drawn % self.size).astype(codes.dtype) if self.lots is not None", "shaped"),
    Mutant("lots of the value before", LOTS, "        return holder\n", "        return np.where(holder > 0, holder - 1, holder)\n", "shaped"),
    Mutant("inside and outside of a design exchanged", DESIGN, "within = kind(k * self.inside)", "within = kind(k * self.outside)", "design"),
    Mutant("a design without its offsets", DESIGN, "        drawn += codes\n", "", "design"),
    Mutant("the first offsets of a design only", DESIGN, "words // kind(self.inside)", "words // kind(2 * self.inside)", "design"),
    Mutant("numbers that always go to the next place", MIXTURE, "(part.placed(values) + up + ", "(part.placed(values) + 1 + ", "mixture"),
    Mutant("all parts with the codes of the first", MIXTURE, "published[here] = code + ", "published[here] = ", "mixture"),
]  # fmt: skip
