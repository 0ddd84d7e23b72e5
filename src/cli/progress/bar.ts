/** Characters that a text is expected to take; the bar keeps its width while the text changes. */
const TEXT_ROOM = 68;
const WIDEST = 30;
const NARROWEST = 8;

/** A bar and its text in one line of fewer than `columns` characters. */
export function drawBar(text: string, fraction: number | undefined, columns: number): string {
  const room = columns - 1;
  if (fraction === undefined || room < TEXT_ROOM / 2) return text.trimStart().slice(0, room);
  const width = Math.max(NARROWEST, Math.min(WIDEST, room - TEXT_ROOM - 3));
  const full = Math.round(width * fraction);
  return `[${"#".repeat(full)}${"-".repeat(width - full)}] ${text}`.slice(0, room);
}
