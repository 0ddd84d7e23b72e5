import type { ZarrNode } from "../../hierarchy/node.ts";
import { joinKey } from "../../meta/join-key.ts";
import type { ListableStore } from "../../stores/store.ts";
import { holderOf, readLock } from "../../stores/target/prefix-lock.ts";
import { isZarrflowError } from "../../util/errors.ts";
import type { ValidateFinding } from "./finding.ts";

/** What runs have left, or have there while they are at work: the lock of a target, uploads that were not ended. */
export async function* leftoverFindings(
  { path }: ZarrNode,
  store: ListableStore,
  signal: AbortSignal | undefined,
): AsyncGenerator<ValidateFinding> {
  if (store.listUploads === undefined) return;
  const lock = await readLock(store, { signal });
  if (lock) {
    const message = `a run is writing here, or was killed while it did: ${holderOf(lock)}; replace what it was writing`;
    yield { level: "warning", what: "lock", path, message };
  }
  try {
    for await (const { key, begun, hint } of store.listUploads(joinKey(path, ""), { signal })) {
      const message = `an upload that was begun ${begun.toISOString()} and not ended takes up room; ${hint}`;
      yield { level: "warning", what: "open-upload", path, message, key };
    }
  } catch (error) {
    if (!isZarrflowError(error, "access-denied") && !isZarrflowError(error, "unsupported-operation"))
      throw error;
    const message = "the store does not tell of uploads that were not ended, so these were not looked for";
    yield { level: "info", what: "not-checked", path, message };
  }
}
