/** A value that is there, or will be. */
export type Awaitable<T> = T | Promise<T>;

/** Whether a value is still to come: anything with a `then`, as promises of other realms and libraries. */
export function isPromise<T>(value: Awaitable<T>): value is Promise<T> {
  return typeof value === "object" && value !== null && "then" in value;
}

/** What `next` makes of a value: at once where the value is there. */
export function after<T, R>(value: Awaitable<T>, next: (value: T) => R): Awaitable<R> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value);
}

/** Hands items on, one after the other. */
export async function visitEach<T>(
  items: AsyncIterable<T>,
  visit: (item: T) => Awaitable<void>,
): Promise<void> {
  for await (const item of items) await visit(item);
}
