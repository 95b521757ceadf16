/** A perturbed column of a question, cut into cells: sets of values that the question treats alike and that have one retention. */

export const TRUE = 1;
export const FALSE = 0;
export const UNKNOWN = 2;

/** From here on values that are published as codes are not put into cells. */
const MANY_CELLS = 64;

/**
 * A condition has the truth value of each value (states), and what tells values apart in it (features).
 *
 * name, domain    the column
 * cells, count    the cell of each value, and how many there are
 * truth           whether values of each cell meet the condition on the column
 * present         whether values of each cell are not missing
 * codes           the cell of each published code, and how many there are
 */
export class Axis {
  constructor(domain, channels, condition, { byValue = false, apart = false } = {}) {
    Object.assign(this, { name: domain.name, domain });
    const states = condition ? condition.states : new Int8Array(domain.size).fill(TRUE);
    const features = [...(condition ? condition.features : []), ...(apart && domain.missing ? [domain.missing] : [])];
    const traits = channels.map((channel) => channel.traits).filter(Boolean);
    [this.cells, this.count] = byValue ? each(domain.size) : cut(domain.size, [...features, ...traits]);
    const recoded = channels.some((channel) => channel.recoded);
    if (!byValue && recoded && this.count > MANY_CELLS) [this.cells, this.count] = each(domain.size);
    this.truth = this._byCell((value) => Number(states[value] === TRUE));
    this.present = this._byCell((value) => Number(!(domain.missing && domain.missing[value])));
    this.codes = recoded ? coded(channels[0], this.cells, this.count) : { places: this.cells, count: this.count };
    this.recoded = recoded;
  }

  _byCell(number) {
    const numbers = new Uint8Array(this.count);
    for (let value = 0; value < this.cells.length; value++) numbers[this.cells[value]] = number(value);
    return numbers;
  }

  /** How many values each cell has. */
  get sizes() {
    const sizes = new Float64Array(this.count);
    for (const cell of this.cells) sizes[cell]++;
    return sizes;
  }

  collapsed(channel) {
    return channel.collapse(this.cells, this.count);
  }
}

function each(size) {
  return [Int32Array.from({ length: size }, (_, i) => i), size];
}

/** Values that are alike in every feature. */
function cut(size, features) {
  if (features.length === 0) return [new Int32Array(size), 1];
  const known = new Map();
  const cells = Int32Array.from({ length: size }, (_, value) => {
    const key = features.length === 1 ? features[0][value] : features.map((feature) => feature[value]).join();
    if (!known.has(key)) known.set(key, known.size);
    return known.get(key);
  });
  return [cells, known.size];
}

function coded(channel, cells, count) {
  const places = channel.places(cells, count);
  let most = 0;
  for (const place of places) most = Math.max(most, place);
  return { places, count: most + 1 };
}
