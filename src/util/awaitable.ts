import { throwIfAborted, unlessAborted } from "./abort.ts";

/** A value, or a promise of one. */
export type Awaitable<T> = T | Promise<T>;

/** True if a value is still pending. Checks for `then`, so promises of other realms and libraries count too. */
export function isPromise<T>(value: Awaitable<T>): value is Promise<T> {
  return typeof value === "object" && value !== null && "then" in value;
}

/** Passes a value to `next`: synchronously if it is available, otherwise once its promise resolves. */
export function after<T, R>(value: Awaitable<T>, next: (value: T) => R): Awaitable<R> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value);
}

/** Calls `visit` for each item in turn, waiting for each call. */
export async function visitEach<T>(
  items: AsyncIterable<T>,
  visit: (item: T) => Awaitable<void>,
): Promise<void> {
  for await (const item of items) await visit(item);
}

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
