/** Arrays of numbers: flat, row by row; a shape says how many numbers each axis has. */

export function filled(size, value = 0) {
  return new Float64Array(size).fill(value);
}

export function product(shape) {
  return shape.reduce((size, count) => size * count, 1);
}

export function total(numbers) {
  let sum = 0;
  for (let i = 0; i < numbers.length; i++) sum += numbers[i];
  return sum;
}

export function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** A function of numbers at the same places of several arrays. */
export function zip(f, first, ...others) {
  const out = new Float64Array(first.length);
  if (others.length === 0) for (let i = 0; i < out.length; i++) out[i] = f(first[i]);
  else if (others.length === 1) for (let i = 0; i < out.length; i++) out[i] = f(first[i], others[0][i]);
  else for (let i = 0; i < out.length; i++) out[i] = f(first[i], ...others.map((other) => other[i]));
  return out;
}

export const add = (a, b) => zip((x, y) => x + y, a, b);
export const times = (a, b) => zip((x, y) => x * y, a, b);

/** A quotient that is 0 where the divisor is not above 0. */
export function quotient(top, bottom) {
  return zip((a, b) => (b > 0 ? a / b : 0), top, bottom);
}

/** The largest and the least of numbers. */
export function most(numbers) {
  let found = -Infinity;
  for (let i = 0; i < numbers.length; i++) if (numbers[i] > found) found = numbers[i];
  return found;
}

export function least(numbers) {
  let found = Infinity;
  for (let i = 0; i < numbers.length; i++) if (numbers[i] < found) found = numbers[i];
  return found;
}

export function some(flags) {
  return flags.some(Boolean);
}

/** The places of one axis of a table: for each line along it the first place, and how far its numbers lie apart. */
function* lines(shape, axis) {
  const inner = product(shape.slice(axis + 1));
  const outer = product(shape.slice(0, axis));
  for (let o = 0; o < outer; o++) for (let i = 0; i < inner; i++) yield [o, i, inner];
}

/** A table after a map of vectors was applied to every line along one axis; the map may change how many numbers a line has. */
export function along({ data, shape }, axis, map) {
  const count = shape[axis];
  const line = new Float64Array(count);
  let out = null;
  let size = 0;
  for (const [o, i, inner] of lines(shape, axis)) {
    for (let k = 0; k < count; k++) line[k] = data[(o * count + k) * inner + i];
    const changed = map(line);
    if (out === null) {
      size = changed.length;
      out = new Float64Array((data.length / Math.max(count, 1)) * size);
    }
    for (let k = 0; k < size; k++) out[(o * size + k) * inner + i] = changed[k];
  }
  const changedShape = shape.map((kept, place) => (place === axis ? size : kept));
  return { data: out ?? new Float64Array(product(changedShape)), shape: changedShape };
}

/** The Kronecker product of vectors. */
export function outer(parts) {
  let whole = Float64Array.of(1);
  for (const part of parts) {
    const next = new Float64Array(whole.length * part.length);
    for (let i = 0; i < whole.length; i++)
      for (let j = 0; j < part.length; j++) next[i * part.length + j] = whole[i] * part[j];
    whole = next;
  }
  return whole;
}

/** A matrix has rows of numbers. */
export function matrix(rows, columns, entry) {
  return Array.from({ length: rows }, (_, i) => Float64Array.from({ length: columns }, (_, j) => entry(i, j)));
}

export function identity(size) {
  return matrix(size, size, (i, j) => (i === j ? 1 : 0));
}

export function transposed(a) {
  return matrix(a[0].length, a.length, (i, j) => a[j][i]);
}

export function multiplied(a, b) {
  return matrix(a.length, b[0].length, (i, j) => {
    let sum = 0;
    for (let k = 0; k < b.length; k++) sum += a[i][k] * b[k][j];
    return sum;
  });
}

/** The Kronecker product of matrices. */
export function kron(parts) {
  return parts.reduce(
    (whole, part) =>
      matrix(
        whole.length * part.length,
        whole[0].length * part[0].length,
        (i, j) =>
          whole[Math.floor(i / part.length)][Math.floor(j / part[0].length)] * part[i % part.length][j % part[0].length],
      ),
    [Float64Array.of(1)],
  );
}

/** The inverse of a square matrix, by elimination with the largest pivot. */
export function inverse(a) {
  const n = a.length;
  const left = a.map((row) => Float64Array.from(row));
  const right = identity(n);
  for (let k = 0; k < n; k++) {
    let best = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(left[i][k]) > Math.abs(left[best][k])) best = i;
    [left[k], left[best]] = [left[best], left[k]];
    [right[k], right[best]] = [right[best], right[k]];
    const pivot = left[k][k];
    for (let j = 0; j < n; j++) {
      left[k][j] /= pivot;
      right[k][j] /= pivot;
    }
    for (let i = 0; i < n; i++) {
      const factor = left[i][k];
      if (i === k || factor === 0) continue;
      for (let j = 0; j < n; j++) {
        left[i][j] -= factor * left[k][j];
        right[i][j] -= factor * right[k][j];
      }
    }
  }
  return right;
}

/** The pseudo-inverse of a matrix whose columns are independent. */
export function pseudoInverse(a) {
  if (a.length === a[0].length) return inverse(a);
  const turned = transposed(a);
  return multiplied(inverse(multiplied(turned, a)), turned);
}

/** A whole number with commas. */
export function many(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}
