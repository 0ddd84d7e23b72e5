/** A shape: `(720, 121)`, or with names `(time 720, latitude 121)`; `()` is a scalar. */
export function formatShape(shape: readonly number[], names?: readonly (string | null)[] | null): string {
  const sizes = shape.map((size, d) => [names?.[d], size].filter((part) => part != null).join(" "));
  return `(${sizes.join(", ")})`;
}
