import { setImmediate } from "node:timers/promises";

/** Waits until something is so, for as long as its test may take, by no clock that a test may have stopped. */
export async function until(isSo: () => unknown): Promise<void> {
  while (!isSo()) await setImmediate();
}

/** Lets all be done that waits for nothing but its turn, and for the sockets of this process. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await setImmediate();
}
