/** A whole number with its thousands apart: `1,048,576`. */
export function grouped(number: number): string {
  return String(number).replace(/(?<=\d)(?=(\d{3})+$)/g, ",");
}

/** `1 chunk`, `1,024 chunks`. */
export function counted(number: number, noun: string): string {
  return `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
}
