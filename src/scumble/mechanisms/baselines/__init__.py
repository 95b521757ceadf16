"""What others publish, to compare with: each from codes to a release in memory that answers counts, with what it guarantees.

    anatomy.py                    l-diverse buckets: public columns and values in two tables
    frapp.py                      one gamma-diagonal channel over the cross product of the sensitive columns
    perturbed_generalization.py   perturb, generalise to k-anonymous groups (boxes.py), publish one row of each
    alpha_beta.py                 keep some of the rows, add rows that nobody has

They are for comparison and audits: an interval that holds for each is not known. `scumble publish` offers them all.
"""
