/** The name that differs least from `name`, if it is near enough to be a typing error; case is ignored. */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let least = Math.max(2, Math.ceil(name.length / 3)) + 1;
  for (const candidate of names) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (
      distance < least ||
      (distance === least && nearest === undefined && isAbbreviation(name, candidate))
    ) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest ?? [...names].find((candidate) => isAbbreviation(name, candidate));
}

function isAbbreviation(name: string, candidate: string): boolean {
  return name.length > 1 && candidate.toLowerCase().startsWith(name.toLowerCase());
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
