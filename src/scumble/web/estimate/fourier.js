/** The fast Fourier transform of as many numbers as a power of two, and what is done with it. */

/** Transforms both parts in place; `sign` -1 forwards, 1 backwards without the division. */
function transform(real, imaginary, sign) {
  const size = real.length;
  for (let i = 1, j = 0; i < size; i++) {
    let bit = size >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [real[i], real[j]] = [real[j], real[i]];
      [imaginary[i], imaginary[j]] = [imaginary[j], imaginary[i]];
    }
  }
  for (let half = 1; half < size; half <<= 1) butterflies(real, imaginary, half, (sign * Math.PI) / half);
}

function butterflies(real, imaginary, half, angle) {
  const cos = Float64Array.from({ length: half }, (_, k) => Math.cos(angle * k));
  const sin = Float64Array.from({ length: half }, (_, k) => Math.sin(angle * k));
  for (let start = 0; start < real.length; start += 2 * half) {
    for (let k = 0; k < half; k++) {
      const [a, b] = [start + k, start + k + half];
      const re = real[b] * cos[k] - imaginary[b] * sin[k];
      const im = real[b] * sin[k] + imaginary[b] * cos[k];
      real[b] = real[a] - re;
      imaginary[b] = imaginary[a] - im;
      real[a] += re;
      imaginary[a] += im;
    }
  }
}

/** The numbers whose transform is real and even, given by its first half: an inverse transform. */
export function inverseOfEven(half) {
  const size = 2 * (half.length - 1);
  const real = new Float64Array(size);
  for (let i = 0; i < size; i++) real[i] = half[i < half.length ? i : size - i];
  transform(real, new Float64Array(size), 1);
  return real.map((x) => x / size);
}

/** out[y] = sum over s of a[y - s] b[s], around a circle of as many places as both have. */
export function convolved(a, b) {
  const count = a.length;
  let size = 1;
  while (size < 2 * count) size <<= 1;
  const [ra, ia, rb, ib] = [a, null, b, null].map((numbers) => {
    const wide = new Float64Array(size);
    if (numbers) wide.set(numbers);
    return wide;
  });
  transform(ra, ia, -1);
  transform(rb, ib, -1);
  const re = ra.map((x, i) => x * rb[i] - ia[i] * ib[i]);
  const im = ra.map((x, i) => x * ib[i] + ia[i] * rb[i]);
  transform(re, im, 1);
  return Float64Array.from({ length: count }, (_, y) => (re[y] + re[y + count]) / size);
}
