/** Finds the name nearest to `name` if it may be a typing error, or one that it abbreviates; ignores case. */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let least = mostMistakes(name) + 1;
  for (const candidate of names) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest ?? [...names].find((candidate) => isAbbreviation(name, candidate));
}

/** Number of mistakes accepted: none in a single letter, one in two to five letters. */
function mostMistakes(name: string): number {
  return name.length < 2 ? 0 : Math.max(1, Math.floor(name.length / 3));
}

function isAbbreviation(name: string, candidate: string): boolean {
  return name.length > 1 && candidate.toLowerCase().startsWith(name.toLowerCase());
}

/** Number of letters to insert, delete, change, or swap with the next, to turn one name into the other. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? (before[j - 2] ?? Number.POSITIVE_INFINITY) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}

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

/**
 * Compares strings by their UTF-8 bytes, which is code point order. JavaScript compares UTF-16 code units, which
 * differs for characters beyond U+FFFF against U+E000 to U+FFFF.
 */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/**
 * Sorts strings by their UTF-8 bytes, in place. Uses JavaScript's faster built-in order if there are no surrogates.
 */
export function sortUtf8(strings: string[]): string[] {
  return strings.some((text) => SURROGATE.test(text)) ? strings.sort(compareUtf8) : strings.sort();
}

const SURROGATE = /[\ud800-\udfff]/;

/** Ranks surrogates, which encode the highest code points, above all others. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** The name itself, or the name with a number if it is taken. */
export function uniqueName(name: string, taken: ReadonlySet<string>): string {
  let unique = name;
  for (let i = 1; taken.has(unique); i++) unique = `${name}_${i}`;
  return unique;
}

/** A whole number with thousands separators: `1,048,576`. */
export function grouped(number: number): string {
  return String(number).replace(/(?<=\d)(?=(\d{3})+$)/g, ",");
}

/** True for a text as `crypto.randomUUID` makes it. */
export function isUuid(text: string): boolean {
  return /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(text);
}

/** A word of a command line, quoted for a shell if necessary. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : shellQuoted(word);
}

/** Text in single quotes, in a form that bash, zsh and fish accept. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** `1 chunk`, `1,024 chunks`. */
export function counted(number: number, noun: string): string {
  return `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
}
