/** Joins names for a sentence: `a, b and c`. */
export function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** The most names to list as choices. */
const MOST = 10;

/** Lists the first of many names: `a, b, c and 7 others`. */
export function firstOf(names: readonly string[]): string {
  const others = names.length - MOST;
  return `${names.slice(0, MOST).join(", ")}${others > 0 ? ` and ${others} others` : ""}`;
}
