"""Noise on counts, thresholds of publication, caps, and how epsilon is divided."""

from mutants.mutant import Mutant

MATRIX, NOISY, TUPLES = (
    "mechanisms.noisy_count_matrix",
    "mechanisms.noisy_counts.publish",
    "mechanisms.columnized.publish",
)
SCHEMA, HISTOGRAM = "mechanisms.columnized.schema", "mechanisms.columnized.histogram"
FEW_COUNTS = "a few counts with a noise of 5 either way: by the rows of the raw table they would be as likely without it, to one in thirty"
NOISE = "noise = _geometric(stream, self.rate, len(true)) - _geometric(stream, self.rate, len(true))"

MUTANTS = [
    Mutant("noise of one side", MATRIX, NOISE, "noise = _geometric(stream, self.rate, len(true))", "full"),
    Mutant("noise of half its scale", MATRIX, NOISE, NOISE.replace("self.rate", "2 * self.rate"), "full"),
    Mutant("noise that is never below zero", MATRIX, NOISE, NOISE + "\n        noise = np.maximum(noise, 0)", "full"),
    Mutant("one draw of noise for all counts", MATRIX, NOISE, "noise = _geometric(stream, self.rate, 1) - _geometric(stream, self.rate, 1)", "full"),
    Mutant("noise on every other count", MATRIX, NOISE, NOISE + " * (np.arange(len(true)) % 2)", "full"),
    Mutant("the highest digits of noise are left out", MATRIX, "in enumerate(_digits(rate)):", "in enumerate(_digits(rate)[:2]):", "full"),
    Mutant("no noise on counts that are zero", MATRIX, "return np.maximum(self.floor, true + noise)", "return np.maximum(self.floor, true + noise * (true > 0))", "full"),
    Mutant("epsilon in the place of its half", MATRIX, "return ClampedCounts(self.k, self.epsilon / 2)", "return ClampedCounts(self.k, self.epsilon)", "practical"),
    Mutant("counts of exactly k are suppressed", MATRIX, "candidates = np.flatnonzero(true >= self.k)", "candidates = np.flatnonzero(true > self.k)", "practical", survives="few tuples occur exactly k times, and of these one in ten is published: the law of the others is as it was"),
    Mutant("nothing is suppressed from k on", MATRIX, "return candidates[coins(stream, table, np.minimum(true[candidates], len(table) - 1))]", "return candidates", "practical"),
    Mutant("suppression by the next count", MATRIX, "np.minimum(true[candidates], len(table) - 1))]", "np.minimum(true[candidates] + 1, len(table) - 1))]", "practical", survives="a tuple is published at most a quarter likelier, and only where it is suppressed at all: below what 1,500 tuples show"),
    Mutant("published exactly where they are not suppressed", MATRIX, "published[kept] = self.counts.draw(stream, true[kept])", "published[kept] = true[kept]", "practical"),
    Mutant("the same noise in all tables", TUPLES, 'drawn = matrix.draw(job.coin_source.entropy.stream("counts", place), np.where(some, counts, 0))', 'drawn = matrix.draw(job.coin_source.entropy.stream("counts"), np.where(some, counts, 0))', "tables"),
    Mutant("a tuple in one table too many", SCHEMA, "kept = order[rank < c_star]", "kept = order[rank <= c_star]", "columnized"),
    Mutant("tuples stay in their first tables", SCHEMA, "    order = _random_order(stream, tuples)\n", "    order = np.arange(len(tuples))\n", "columnized"),
    Mutant("a histogram without noise", HISTOGRAM, "drawn = histogram_noise(epsilon, c_star).draw(stream, counts.ravel())", "drawn = counts.ravel()", "columnized", survives=FEW_COUNTS),
    Mutant("a histogram with noise for one table", HISTOGRAM, "histogram_noise(epsilon, c_star)", "histogram_noise(epsilon, 1)", "columnized", survives=FEW_COUNTS),
    Mutant("epsilon is not divided among tables", "mechanisms.columnized.plan", "rest = epsilon * (1 - share - counting) / parts", "rest = epsilon * (1 - share - counting)", "columnized", survives="the manifest has the epsilon that was applied, and what follows from it is what is printed; what was asked for stands in the spec alone"),
    Mutant("tuples of k - 1 people", "mechanisms.k_dgs.publish", "tuples, counts = counted(job, recoder, job.spec.published, plan.k)", "tuples, counts = counted(job, recoder, job.spec.published, plan.k - 1)", "k_dgs"),
    Mutant("counts that are one too high", "mechanisms.k_dgs.publish", "return written_tuples(job, recoder.records(job.spec.published), tuples, counts, record)", "return written_tuples(job, recoder.records(job.spec.published), tuples, counts + 1, record)", "k_dgs"),
]  # fmt: skip
