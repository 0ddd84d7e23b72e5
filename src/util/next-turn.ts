/** Lets what is due run first: timers, signals, calls that have ended. For loops that wait for nothing. */
export function nextTurn(): Promise<void> {
  const { setImmediate: soon = setTimeout } = globalThis;
  return new Promise((resolve) => {
    soon(resolve);
  });
}
