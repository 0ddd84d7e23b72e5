import type { StoreCheck, StoreHarness } from "./testing/harness.ts";
import { listChecks } from "./testing/list-checks.ts";
import { readChecks } from "./testing/read-checks.ts";
import { writeChecks } from "./testing/write-checks.ts";

export type { StoreCheck, StoreHarness } from "./testing/harness.ts";

/**
 * What every store must keep, as checks for any test runner: for authors of stores, and for those of zarrflow.
 *
 * @example
 * ```ts
 * import { MemoryStore } from "zarrflow/stores/memory";
 * import { type StoreHarness, storeChecks } from "zarrflow/stores/testing";
 *
 * const harness: StoreHarness = {
 *   lists: true,
 *   empty: async () => new MemoryStore(),
 *   async filled(values) {
 *     const store = new MemoryStore();
 *     for (const [key, value] of values) await store.set(key, value);
 *     return store;
 *   },
 * };
 * for (const { run } of storeChecks(harness)) await run(); // in a test runner: test(name, run)
 * ```
 */
export function storeChecks(harness: StoreHarness): StoreCheck[] {
  return [
    ...readChecks(harness),
    ...(harness.lists ? listChecks(harness) : []),
    ...(harness.empty ? writeChecks(harness, harness.empty) : []),
  ];
}
