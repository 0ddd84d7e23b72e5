/** The number that a text of digits, perhaps after a minus, stands for; undefined for any other text, such as `1e1`. */
export function wholeNumber(text: string): number | undefined {
  if (!/^-?\d+$/.test(text)) return undefined;
  const number = Number(text) + 0; // -0 is 0
  return Number.isSafeInteger(number) ? number : undefined;
}
