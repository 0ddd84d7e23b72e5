import { nextTurn } from "../../../util/next-turn.ts";

/** A thread that blocks sees to events so often. */
const LOOK_UP_MS = 15;

/** For loops of calls that block: what to wait for, where it is time to let events be seen to. */
export function yieldToEventLoop(): () => Promise<void> | undefined {
  let looked = performance.now();
  return () => {
    if (performance.now() - looked < LOOK_UP_MS) return undefined;
    return nextTurn().then(() => {
      looked = performance.now();
    });
  };
}
