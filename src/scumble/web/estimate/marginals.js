/**
 * Marginals put together for a question: each cell of its columns, estimated by all tables that have them (forms/tuples/marginals.py).
 *
 * Estimates are weighted by the inverse of their variances, as far as these do not depend on counts.
 */

import { product } from "./arrays.js";

/** marginals: [{ names, v, s, noise }], each with an estimate and its variance for every tuple of its domains. */
export function together(marginals, names, domains) {
  const sizes = (own) => own.map((name) => domains.get(name).size);
  const tuples = marginals.map((marginal) => product(sizes(marginal.names.filter((name) => !names.includes(name)))));
  const inverse = marginals.map(({ noise }, i) => 1 / (tuples[i] * noise.variance_above));
  const whole = inverse.reduce((a, b) => a + b, 0);
  const weights = inverse.map((own) => own / whole);
  const rows = new Float64Array(product(sizes(names)));
  const variances = new Float64Array(rows.length);
  marginals.forEach(({ names: own, v, s }, i) => {
    const cells = cellsOf(own, sizes(own), names, sizes(names));
    for (let key = 0; key < v.length; key++) {
      rows[cells(key)] += weights[i] * v[key];
      variances[cells(key)] += weights[i] ** 2 * s[key];
    }
  });
  const squares = marginals.map(({ noise }, i) => weights[i] ** 2 * noise.variance_above);
  const second = squares.reduce((sum, square, i) => sum + tuples[i] * square, 0);
  const fourth = squares.reduce((sum, square, i) => sum + tuples[i] * square ** 2, 0);
  const rates = marginals.map((marginal) => marginal.noise.rate);
  const noise = { floor: 0, rates, variance_above: second, worth: second ** 2 / fourth };
  return { rows, variances, noise };
}

/** The cell of some columns that a tuple falls into, both numbered in the order of their codes. */
function cellsOf(own, shape, names, kept) {
  const parts = names.map((name, k) => {
    const place = own.indexOf(name);
    return { inner: product(shape.slice(place + 1)), size: shape[place], outer: product(kept.slice(k + 1)) };
  });
  return (key) => parts.reduce((cell, { inner, size, outer }) => cell + (Math.floor(key / inner) % size) * outer, 0);
}
