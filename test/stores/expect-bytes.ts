import { expect } from "vitest";

/** Compares long values quickly, and shows of them what differs first. */
export function assertBytes(found: Uint8Array | undefined, expected: Uint8Array): void {
  if (found && Buffer.compare(found, expected) === 0) return;
  expect(found?.length).toBe(expected.length);
  const at = expected.findIndex((byte, i) => found?.[i] !== byte);
  expect({ at, found: found?.[at] }).toEqual({ at: -1, found: undefined });
}
