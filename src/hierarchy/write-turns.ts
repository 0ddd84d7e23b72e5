import type { Store } from "../stores/store.ts";

/** Who has, or waits for, the turn at each key of a store: the end of the line. */
const lines = new WeakMap<Store, Map<string, Promise<void>>>();

/**
 * Waits for one's turn at a key of a store, in this process: reading a chunk, changing and writing it must not be cut
 * into by another who does the same. Returns what ends the turn; it may be called more than once.
 */
export async function takeTurn(store: Store, key: string): Promise<() => void> {
  const line = lines.get(store) ?? new Map<string, Promise<void>>();
  lines.set(store, line);
  const before = line.get(key);
  let end = () => {};
  const turn = new Promise<void>((resolve) => {
    end = resolve;
  });
  line.set(key, turn);
  void turn.then(() => {
    if (line.get(key) === turn) line.delete(key);
  });
  await before;
  return end;
}
