/** A whole number with thousands separators: `1,048,576`. */
export function grouped(number: number): string {
  return String(number).replace(/(?<=\d)(?=(\d{3})+$)/g, ",");
}

/** `1 chunk`, `1,024 chunks`. */
export function counted(number: number, noun: string): string {
  return `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** A duration in words: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 05 min`. */
export function formatDuration(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${twoDigits(whole % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}

/** A shape: `(720, 121)`, or with names `(time 720, latitude 121)`; `()` for a scalar. */
export function formatShape(shape: readonly number[], names?: readonly (string | null)[] | null): string {
  const sizes = shape.map((size, d) => [names?.[d], size].filter((part) => part != null).join(" "));
  return `(${sizes.join(", ")})`;
}
