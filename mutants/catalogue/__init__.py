"""The list of mutants, by name."""

from mutants.catalogue import coins, counts, files, groups, randomness, rows
from mutants.mutant import Mutant

MUTANTS: dict[str, Mutant] = {
    mutant.name: mutant for part in (coins, rows, groups, counts, files, randomness) for mutant in part.MUTANTS
}
