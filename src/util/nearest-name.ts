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
