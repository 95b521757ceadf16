/** Days, times and moments as text, from how many days or parts of a second they are away from the start of 1970 or of a day. */

const A_SECOND = { s: 1, ms: 1000, us: 1_000_000, ns: 1_000_000_000 };

/** A day as 2024-02-29; years before 0 and after 9999 as they come. */
export function isoOf(days) {
  // days since 0000-03-01, in eras of 400 years, so that leap days come last
  const shifted = days + 719468;
  const era = Math.floor(shifted / 146097);
  const ofEra = shifted - era * 146097;
  const year = Math.floor((ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36524) - Math.floor(ofEra / 146096)) / 365);
  const ofYear = ofEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const month = Math.floor((5 * ofYear + 2) / 153);
  const day = ofYear - Math.floor((153 * month + 2) / 5) + 1;
  const calendar = month < 10 ? month + 3 : month - 9;
  const full = year + era * 400 + (calendar <= 2 ? 1 : 0);
  return `${String(full).padStart(4, "0")}-${two(calendar)}-${two(day)}`;
}

const two = (number) => String(number).padStart(2, "0");

/** A time of day as 08:30:00, with as many decimals as it needs. */
export function timeOf(value, unit) {
  const second = A_SECOND[unit];
  const seconds = Number(BigInt(value) / BigInt(second));
  const rest = Number(BigInt(value) % BigInt(second));
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(":");
  if (rest === 0) return clock;
  const digits = String(second).length - 1;
  return `${clock}.${String(rest).padStart(digits, "0").padEnd(Math.max(digits, 6), "0")}`;
}

/** A moment as 2024-02-29 08:30:00. */
export function momentOf(value, unit) {
  const aDay = BigInt(86400 * A_SECOND[unit]);
  let [days, rest] = [BigInt(value) / aDay, BigInt(value) % aDay];
  if (rest < 0n) [days, rest] = [days - 1n, rest + aDay];
  return `${isoOf(Number(days))} ${timeOf(rest, unit)}`;
}
