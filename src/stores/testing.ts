import { invalidOption } from "../util/options.ts";
import type { Filled, StoreCheck, StoreHarness } from "./testing/harness.ts";
import { listChecks, readChecks } from "./testing/read-checks.ts";
import { writeChecks } from "./testing/write-checks.ts";

export type { StoreCheck, StoreHarness } from "./testing/harness.ts";

/**
 * Checks of the rules that every store keeps, for any test runner. A failed check names the call, the expected
 * result, and the actual one.
 *
 * @throws `invalid-option` for a harness with neither `filled` nor `empty`.
 * @example
 * ```ts
 * import { MemoryStore } from "zarrflow/stores/memory";
 * import { storeChecks } from "zarrflow/stores/testing";
 *
 * const checks = storeChecks({ lists: true, empty: async () => new MemoryStore() });
 * for (const { run } of checks) await run(); // in a test runner: test(name, run)
 * ```
 */
export function storeChecks(harness: StoreHarness): StoreCheck[] {
  const { empty, lists, filled = filledBy(harness) } = harness;
  return [
    ...readChecks(filled),
    ...(lists ? listChecks(filled) : []),
    ...(empty ? writeChecks(harness, empty) : []),
  ];
}

function filledBy({ empty, reopened }: StoreHarness): Filled {
  if (!empty) throw invalidOption("the harness makes no stores", "`filled`, `empty` or both", undefined);
  return async (values) => {
    const store = await empty();
    for (const [key, value] of values) await store.set(key, value);
    return reopened ? reopened(store) : store;
  };
}
