/** A condition on a column: values by their labels, or numbers between two. Where values were rounded, they lie up to a reach away, either way. */

export class Filter {
  constructor({ column, labels = null, low = null, high = null, reach = 0, may = false }) {
    Object.assign(this, { column, labels: labels && new Set(labels), low, high, reach, may });
  }

  /** The same of values that were rounded: as it may be met, or as it surely is. */
  loosened(reach, may) {
    return new Filter({ ...this, reach, may });
  }

  meets(value, kind) {
    if (this.labels) return this.labels.has(value === null ? null : kind.label(value));
    return value !== null && this.between(value);
  }

  /** The same of a number of a domain, which has no kind. */
  among(x) {
    return this.labels ? this.labels.has(String(x)) : this.between(x);
  }

  /** Whether a number lies between both ends. */
  between(x) {
    const { low, high, reach, may } = this;
    if (!reach) return (low === null || x >= low) && (high === null || x <= high);
    const ends = [x - reach, x + reach];
    const holds = (test) => (may ? ends.some(test) : ends.every(test));
    return (low === null || holds((end) => end >= low)) && (high === null || holds((end) => end <= high));
  }
}
