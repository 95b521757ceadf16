/** Binomial probabilities, accurate for rare and for many trials (Loader's saddle point form). */

const HALF_LOG_2PI = 0.918938533204672741780329736406;

/** The error of Stirling's formula: ln n! less (n + 1/2) ln n - n + ln(2 pi) / 2. */
function stirlingError(n) {
  if (n < 16) {
    let factorial = 1;
    for (let i = 2; i <= n; i++) factorial *= i;
    return n === 0 ? 0 : Math.log(factorial) - (n + 0.5) * Math.log(n) + n - HALF_LOG_2PI;
  }
  const square = n * n;
  return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / n;
}

/** x ln(x / np) + np - x, without cancellation where x is near np. */
function deviance(x, np) {
  if (Math.abs(x - np) < 0.1 * (x + np)) {
    const v = (x - np) / (x + np);
    let sum = (x - np) * v;
    let term = 2 * x * v;
    for (let j = 1; ; j++) {
      term *= v * v;
      const next = sum + term / (2 * j + 1);
      if (next === sum) return next;
      sum = next;
    }
  }
  return x * Math.log(x / np) + np - x;
}

/** P[Bin(n, p) = k]. */
export function mass(k, n, p) {
  if (k < 0 || k > n) return 0;
  const q = 1 - p;
  if (p === 0) return k === 0 ? 1 : 0;
  if (q === 0) return k === n ? 1 : 0;
  if (k === 0) return Math.exp(n * Math.log1p(-p));
  if (k === n) return Math.exp(n * Math.log(p));
  const exponent =
    stirlingError(n) - stirlingError(k) - stirlingError(n - k) - deviance(k, n * p) - deviance(n - k, n * q);
  return Math.exp(exponent) * Math.sqrt(n / (2 * Math.PI * k * (n - k)));
}

/** P[Bin(n, p) <= k]: summed from k downwards, or what is above it, whichever is the shorter tail. */
export function atMost(k, n, p) {
  if (k < 0) return 0;
  if (k >= n) return 1;
  return k <= n * p ? tail(k, -1, n, p) : 1 - tail(k + 1, 1, n, p);
}

/** The sum of masses from k on, in steps of one, until they no longer count. */
function tail(k, step, n, p) {
  let term = mass(k, n, p);
  let sum = 0;
  const odds = p / (1 - p);
  while (k >= 0 && k <= n) {
    sum += term;
    if (term <= 1e-18 * sum) break;
    term *= step > 0 ? ((n - k) / (k + 1)) * odds : k / (n - k + 1) / odds;
    k += step;
  }
  return sum;
}
