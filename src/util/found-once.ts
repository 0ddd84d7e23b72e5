import { throwIfAborted, unlessAborted } from "./abort.ts";

/**
 * What `find` gives for `key`: once for all who ask, so that a signal ends the wait of its own caller alone. What failed
 * is looked for again by who asks next.
 */
export async function foundOnce<Key extends object, Value>(
  known: WeakMap<Key, Promise<Value>>,
  key: Key,
  find: () => Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  throwIfAborted(signal);
  const before = known.get(key);
  if (before) return unlessAborted(before, signal);
  const found = find();
  known.set(key, found);
  found.catch(() => {
    if (known.get(key) === found) known.delete(key);
  });
  return unlessAborted(found, signal);
}
