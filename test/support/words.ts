/** A JSON value as a title of a test shows it: `level 1, cname zstd` for an object, without quotes and braces. */
export function inWords(value: unknown): string {
  if (value instanceof Uint8Array) return value.length === 0 ? "no bytes" : `bytes ${[...value].join(" ")}`;
  if (Array.isArray(value))
    return value.length === 0 ? "an empty list" : `a list of ${value.map(inWords).join(" and ")}`;
  if (typeof value !== "object" || value === null) return value === "" ? "an empty text" : String(value);
  const members = Object.entries(value).map(([name, member]) => `${name} ${inWords(member)}`);
  return members.length === 0 ? "no settings" : members.join(", ");
}

/** Rows of `test.each`, each after its title. */
export function titled<R extends readonly unknown[]>(
  rows: readonly R[],
  title: (...row: R) => string,
): (readonly [title: string, ...row: R])[] {
  return rows.map((row) => [title(...row), ...row] as const);
}
