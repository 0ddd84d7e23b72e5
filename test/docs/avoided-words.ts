/** Words of CONTRIBUTING.md's last column, and phrases that mean something else to a reader than to their writer. */
const AVOIDED = [
  /\bre-?cuts?\b/i,
  /\bsweeps?\b|\bswept\b/i,
  /\bdialects?\b/i,
  /\btells?\b|\btold\b|\btelling\b/i,
  /\banew\b/i,
  /\bby name\b/i,
  /\bfor now\b/i,
  /\bof ours\b|\bof yours\b|\bof a caller's\b|\bof the program's\b/i,
  /\bis none\b|\bare none\b/i,
  /\bhalf written\b/i,
  /\ba second at most\b/i,
  /\bsize of chunks?\b/i,
  /\bbehind\b/i,
  /\d [KM]b?\b(?!\/)/,
];

export function avoidedIn(text: string): string[] {
  return AVOIDED.flatMap((word) => word.exec(text)?.[0] ?? []);
}
