// What is promised to who answers, in one sentence: made from the factor of the channels, never taken from the survey.

const BEFORE = [1n, 10n];
const WEAK = 1000n;

/** The sentence for a factor [numerator, denominator] of the odds, in the words of a message file; null is no bound. */
export function promise(gamma, messages, overTime) {
  if (gamma === null || gamma[0] > WEAK * gamma[1]) return messages.promise_weak;
  const [up, down] = gamma;
  const [part, whole] = BEFORE;
  const after = [up * part, down * (whole - part) + up * part];
  const point = (text) => text.replace(".", messages.point ?? ".");
  const numbers = {
    factor: point(roundedUp(up, down, 2)),
    before: `${roundedUp(100n * part, whole, 1)}%`,
    after: `${point(roundedUp(100n * after[0], after[1], 1))}%`,
  };
  return filled(messages[overTime ? "promise_over_time" : "promise"], numbers);
}

/** A message with its numbers. */
export function filled(message, numbers) {
  return message.replace(/\{(\w+)\}/g, (_, name) => numbers[name] ?? "");
}

/** A number with so many decimals at most, not below the exact one: a bound that is printed must hold. */
export function roundedUp(up, down, decimals) {
  const scale = 10n ** BigInt(decimals);
  const whole = (up * scale + down - 1n) / down;
  const text = `${whole / scale}.${String(whole % scale).padStart(decimals, "0")}`;
  return text.replace(/0+$/, "").replace(/\.$/, "");
}
