import { vi } from "vitest";

// To be imported before all else: whoever waits for a lock to settle, or asks again, waits a twentieth of the time.
vi.mock("../../src/util/pause.ts", async (original) => {
  const { pause } = await original<typeof import("../../src/util/pause.ts")>();
  return { pause: (milliseconds: number, signal?: AbortSignal) => pause(milliseconds / 20, signal) };
});
