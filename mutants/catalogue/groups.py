"""Sub-tables, samples, buckets, boxes and sets of tuples."""

from mutants.mutant import Mutant

SUBTABLES, SPS, ANATOMY = "mechanisms.partitioned.subtables", "mechanisms.sps.publish", "mechanisms.anatomy.plan"
BOXES, TUPLES = "mechanisms.perturbed_generalization.plan", "mechanisms.alpha_beta.plan"
SAME_ROWS = (
    "each published row has the law that is said; the codes of a group are a little more even than coins make them"
)

MUTANTS = [
    Mutant("sub-tables dealt in turn", SUBTABLES, "stream.integers(len(true), 8)", "(np.arange(len(true)) % 256).astype(np.uint8)", "partitioned"),
    Mutant("the label of a sub-table one too high", SUBTABLES, "self.extra[0]: labels,", "self.extra[0]: (labels + 1) % (labels.max() + 1),", "partitioned"),
    Mutant("a sample that is not perturbed", SPS, "drawn = perturb(stream, rounded_split(stream, counts, sizes[part]), retain)", "drawn = rounded_split(stream, counts, sizes[part])", "sps"),
    Mutant("perturbed before it is sampled", SPS, "perturb(stream, rounded_split(stream, counts, sizes[part]), retain)", "rounded_split(stream, perturb(stream, counts, retain), sizes[part])", "sps", survives=SAME_ROWS),
    Mutant("a sample rounded to its commonest values", "mechanisms.sps.sampling", "wins = below(stream, np.maximum(bound, 1)) < np.where(small, first, total - second)", "wins = first >= second", "sps", survives="each value is sampled within one record of its share, as it should be; which one is rounded up does not show behind a retention of 0.4"),
    Mutant("weights of one record more", SPS, "weight = size[part] / sizes[part]", "weight = (size[part] + 1) / sizes[part]", "sps"),
    Mutant("samples that are one too large", "mechanisms.sps.samples", "    sizes = sampling.of(size, groups.most)\n", "    sizes = np.minimum(sampling.of(size, groups.most) + 1, size)\n", "sps"),
    Mutant("buckets of one value less", ANATOMY, "most = [heapq.heappop(heap) for _ in range(diversity)]", "most = [heapq.heappop(heap) for _ in range(diversity - 1)]", "anatomy"),
    Mutant("buckets filled in the order of the source", ANATOMY, "    order = stream.permutation(len(codes))\n    order = order[np.argsort(codes[order]", "    order = np.arange(len(codes))\n    order = order[np.argsort(codes[order]", "anatomy"),
    Mutant("the first person of a box speaks for it", BOXES, "chosen = rows[np.cumsum(sizes) - sizes + below(stream, sizes)]", "chosen = rows[np.cumsum(sizes) - sizes]", "boxes"),
    Mutant("the value of a box is not perturbed", BOXES, "coins.flip(codes[chosen], stream)", "codes[chosen]", "boxes"),
    Mutant("boxes of one row less", BOXES, "rows, sizes = grouped(ranks, k)", "rows, sizes = grouped(ranks, k - 1)", "boxes"),
    Mutant("alpha in the place of alpha + beta", TUPLES, "len(tuples), self.alpha + self.beta)", "len(tuples), self.alpha)", "alpha_beta", survives="true tuples are published with 0.44 in the place of 0.5, which is toward more privacy; 3,700 tuples show about seven points"),
    Mutant("no tuples are made up", TUPLES, "wanted = int(binomial(stream, self.size - len(tuples), self.beta))", "wanted = 0", "alpha_beta"),
    Mutant("the first tuples are kept, not some by coins", TUPLES, "kept = tuples[stream.permutation(len(tuples))[:keep]]", "kept = np.sort(tuples)[:keep]", "alpha_beta"),
]  # fmt: skip
