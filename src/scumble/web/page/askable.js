/** What may be clicked: which columns can be added up, grouped by and filtered, and how. */

const HIDDEN = ["stratum", "weight", "copies"];

export function askableOf(release) {
  const columns = [...release.columns.values()].filter((column) => column.kind && !column.beyond && !HIDDEN.includes(column.role));
  const { user, pattern } = release.counted?.transactions ?? {};
  const shown = columns.filter(({ name }) => name !== user && name !== pattern);
  return {
    summed: shown.filter(isNumber).map(({ name }) => name),
    grouped: shown.map(({ name }) => name),
    filtered: shown.filter((column) => filterOf(column) !== null).map(({ name }) => name),
  };
}

/** Whether a column has numbers, or codes for numbers. */
export function isNumber(column) {
  if (column.domain) return column.domain.numeric;
  return ["whole", "uint32", "uint64", "real", "decimal"].includes(column.kind);
}

/** Whether the values of a column have an order that a line can follow. */
export function isOrdered(column) {
  return isNumber(column) || ["day", "moment", "time"].includes(column.value_kind?.kind ?? column.kind);
}

/** How a column is filtered: "listed" by its values, "between" two numbers or "days"; where there may be either, by how many values there are. */
export function filterOf(column) {
  if (column.domain) return column.domain.grid ? "between" : "listed";
  if (column.steps || column.merged) return "listed";
  if (isNumber(column)) return "either";
  return column.kind === "day" ? "days" : "listed";
}
