import type { ZarrNode } from "../../hierarchy/node.ts";
import { joinKey } from "../../meta/join-key.ts";
import type { ListableStore, StoreSpec } from "../../stores/store.ts";
import type { LeftoverOptions } from "../../stores/target/leftover.ts";
import { leftoversAt } from "../../stores/target/leftovers.ts";
import { holderOf, readLock } from "../../stores/target/lock-record.ts";
import { isZarrflowError } from "../../util/errors.ts";
import type { ValidateFinding } from "./finding.ts";

/** Reports what runs left behind, or keep there while active: the lock of a target, and unfinished uploads. */
export async function* leftoverFindings(
  { path, spec }: ZarrNode,
  store: ListableStore,
  signal: AbortSignal | undefined,
): AsyncGenerator<ValidateFinding> {
  const lock = await readLock(store, { signal });
  if (lock) {
    const message = `a run is writing here, or was killed while it did: ${holderOf(lock)}; if it was killed, run the same command again: an append completes what it left, other runs continue with --resume`;
    yield { level: "warning", what: "lock", path, message };
  }
  yield* ownLeftoverFindings({ store: spec, path }, { signal });
  if (store.listUploads === undefined) return;
  try {
    for await (const { key, begun, hint } of store.listUploads(joinKey(path, ""), { signal })) {
      const message = `an unfinished upload, started ${begun.toISOString()}, takes up space. ${hint}`;
      yield { level: "warning", what: "open-upload", path, message, key, place: key };
    }
  } catch (error) {
    if (!isZarrflowError(error, "access-denied") && !isZarrflowError(error, "unsupported-operation"))
      throw error;
    const message = "the store cannot list unfinished uploads, so these were not checked";
    yield { level: "info", what: "not-checked", path, message };
  }
}

/** Reports leftovers of runs at a place, with or without a node, except locks and uploads. */
export async function* ownLeftoverFindings(
  place: { readonly store: StoreSpec; readonly path: string },
  options: Pick<LeftoverOptions, "below" | "signal">,
): AsyncGenerator<ValidateFinding> {
  for await (const { kind, place: where, isDead } of leftoversAt(place, { ...options, withUploads: false })) {
    if (kind === "lock") continue;
    const state = isDead
      ? "belongs to a run that was killed"
      : "belongs to a run that is active or was killed";
    const message = `${where} (${kind}) ${state}; \`zarrflow clean\` removes it`;
    yield { level: "warning", what: "leftover", path: place.path, message, place: where };
  }
}
