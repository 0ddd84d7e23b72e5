import { streamFrom } from "../../src/streams/web.ts";
import { type Deferred, deferred, settle, untilAborted } from "./support.ts";

/** Items 0, 1, 2, ... and whether the one who gave them was told to stop. */
export function source(count: number) {
  const state = { given: 0, closed: false };
  async function* items() {
    try {
      for (; state.given < count; state.given++) yield state.given;
    } finally {
      state.closed = true;
    }
  }
  return { state, stream: streamFrom(items()) };
}

/** A function whose calls the test ends one by one, and which ends by itself when aborted. */
export function gatedCalls() {
  const calls: (Deferred<string> & { readonly item: number; readonly signal: AbortSignal })[] = [];
  let running = 0;
  const fn = async (item: number, { signal }: { signal: AbortSignal }) => {
    const gate = deferred<string>();
    calls.push({ ...gate, item, signal });
    running++;
    try {
      return await Promise.race([gate.promise, untilAborted(signal)]);
    } finally {
      await settle(1);
      running--;
    }
  };
  return { calls, fn, running: () => running };
}
