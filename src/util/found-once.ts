import { throwIfAborted, unlessAborted } from "./abort.ts";

/**
 * Returns the result of `find` for `key`, which runs once for all callers. A signal ends only its own caller's wait.
 * After a failure the next caller runs `find` again.
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
