/** Returns the entry of the nearest path at or above the folder of a key. */
export function nearest<T>(key: string, byPath: ReadonlyMap<string, T>): T | undefined {
  for (let end = key.lastIndexOf("/"); end > 0; end = key.lastIndexOf("/", end - 1)) {
    const found = byPath.get(key.slice(0, end));
    if (found !== undefined) return found;
  }
  return byPath.get("");
}
