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
