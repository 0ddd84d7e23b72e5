import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, vi } from "vitest";
import { throwIfAborted } from "../../src/util/abort.ts";
import * as pauses from "../../src/util/pause.ts";

/** In the tests of a file that calls this, who waits before asking again, or for a lock to settle, goes on at once. */
export function withoutPauses(): void {
  beforeEach(() => {
    vi.spyOn(pauses, "pause").mockImplementation(async (_, signal) => {
      throwIfAborted(signal);
      await setImmediate();
      throwIfAborted(signal);
    });
  });
  afterEach(() => void vi.mocked(pauses.pause).mockRestore());
}
