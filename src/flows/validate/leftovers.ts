import type { ZarrNode } from "../../hierarchy/node.ts";
import { joinKey } from "../../meta/join-key.ts";
import type { ListableStore, StoreSpec } from "../../stores/store.ts";
import { leftoversAt } from "../../stores/target/leftovers.ts";
import { holderOf, readLock } from "../../stores/target/prefix-lock.ts";
import { isZarrflowError } from "../../util/errors.ts";
import type { ValidateFinding } from "./finding.ts";

/** What runs have left, or have there while they are at work: the lock of a target, uploads that were not ended. */
export async function* leftoverFindings(
  { path, spec }: ZarrNode,
  store: ListableStore,
  signal: AbortSignal | undefined,
): AsyncGenerator<ValidateFinding> {
  const lock = await readLock(store, { signal });
  if (lock) {
    const message = `a run is writing here, or was killed while it did: ${holderOf(lock)}; replace what it was writing`;
    yield { level: "warning", what: "lock", path, message };
  }
  yield* ownLeftoverFindings({ store: spec, path }, signal);
  if (store.listUploads === undefined) return;
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

/** What runs have left at a place, be there a node or not, but for locks and uploads. */
export async function* ownLeftoverFindings(
  place: { readonly store: StoreSpec; readonly path: string },
  signal: AbortSignal | undefined,
): AsyncGenerator<ValidateFinding> {
  for await (const { kind, place: where, isDead } of leftoversAt(place, { signal, withUploads: false })) {
    if (kind === "lock") continue;
    const state = isDead ? "is of a run that was killed" : "is of a run that is at work, or was killed";
    const message = `${where} (${kind}) ${state}; \`zarrflow clean\` removes it`;
    yield { level: "warning", what: "leftover", path: place.path, message };
  }
}
