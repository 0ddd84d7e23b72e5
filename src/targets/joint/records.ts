import type { ListableStore, StoreOptions, WritableStore } from "../../stores/store.ts";
import { crc32 } from "../../util/crc32.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { Claim } from "../build.ts";
import { hasRecordedValue } from "../contents.ts";
import type { JointRecords, ShareName } from "../options.ts";

/**
 * Records of a joint run, each a file or a value:
 * - `run` describes the run;
 * - `ledger-STAGE-INDEX-COUNT-RANDOM` is the progress of one process on a share; no two processes write to the
 *   same one;
 * - `ended-STAGE-INDEX-COUNT` marks a share as done.
 */
const NAME = /^(ledger|ended)-(\d{1,10})-(\d{1,10})-(\d{1,10})(?:-[0-9a-f]{12})?$/;

export const RUN_RECORD = "run";

/** Returns a name for a ledger that no other process uses. */
export function ledgerName(share: ShareName, random: string): string {
  return `ledger-${shareText(share)}-${random}`;
}

export function endedName(share: ShareName): string {
  return `ended-${shareText(share)}`;
}

function shareText({ stage, index, count }: ShareName): string {
  return `${stage}-${index}-${count}`;
}

/** Parses names of records. @param open opens the ledger with a given name */
export function jointRecords(
  names: readonly string[],
  boot: string | undefined,
  open: (name: string) => AsyncIterable<string>,
): JointRecords {
  const found = names.flatMap((name) => {
    const [, kind, ...numbers] = NAME.exec(name) ?? [];
    const [stage = 0, index = 0, count = 0] = numbers.map(Number);
    return kind === undefined || index >= count ? [] : { name, kind, share: { stage, index, count } };
  });
  return {
    ended: found.flatMap(({ kind, share }) => (kind === "ended" ? share : [])),
    journal: (isWanted = () => true) => ({
      boot,
      async *lines() {
        for (const { kind, name, share } of found)
          if (kind === "ledger" && isWanted(share)) yield* open(name);
      },
    }),
  };
}

/**
 * Makes the claim of one of the processes that hold a place together. None of them frees it before the run is finished.
 *
 * @param leave ends this process's part in it
 */
export function sharedClaim(lost: AbortSignal | undefined, leave: () => Promise<void>): Claim {
  return {
    ...(lost && { lost }),
    assertHeld: async () => {},
    isHeld: async () => true,
    release: leave,
    leave,
  };
}

/** Makes the error for work of a joint run that is no longer where this process had it. */
export function jointRunGone(store: string): ZarrflowError {
  return new ZarrflowError("locked", "the run was finished or removed", {
    store,
    hint: "If the target exists, there is nothing to do. Otherwise start over with a new plan.",
  });
}

export function jointRunClosed(store: string): ZarrflowError {
  return new ZarrflowError("locked", "`zarrflow finish` is completing the run", {
    store,
    hint: "Wait for it. If it was killed, run it again.",
  });
}

/** Makes the error for a target that exists although no run of the plan is active. Most likely, the plan is finished. */
export function targetIsThere(store: string): ZarrflowError {
  return new ZarrflowError("target-exists", "the target exists, but no run of this plan is active there", {
    store,
    hint: "If the target is the result of this plan, there is nothing to do. Otherwise choose another target, or delete this one before the jobs start.",
  });
}

/** Makes the error for a run that cannot be finished because it has left no work. */
export function notBegun(store: string): ZarrflowError {
  return new ZarrflowError("not-found", "no process has started this plan at the target", {
    store,
    hint: "Run `zarrflow run` first. If the target exists, the plan is already finished.",
  });
}

/**
 * Wraps a store so that values are only created. A value that is present with the same bytes counts as written; a
 * different one is kept, and the call fails. Streamed values are compared before they are committed, so if two are
 * committed at once, the last one stays.
 */
export function createOnly(store: WritableStore & ListableStore): WritableStore & ListableStore {
  const isThere = async (key: string, size: number, checksum: () => number, options: StoreOptions) => {
    const found = await store.size(key, options);
    if (found === undefined) return false;
    const expected = found === size ? checksum() : 0;
    if (
      found === size &&
      (await hasRecordedValue(store, { key, size, crc32: expected }, { readBack: true, ...options }))
    )
      return true;
    throw new ZarrflowError("differs", "a value of the target exists with different bytes", {
      store: store.description,
      key,
      expected: `${size} bytes`,
      found: `${found} bytes`,
      hint: "It was written by another program, or by another version of zarrflow or Node. Start over with another target.",
    });
  };
  const { ageOf, deleteMany } = store;
  return {
    description: store.description,
    get: (key, options) => store.get(key, options),
    size: (key, options) => store.size(key, options),
    list: (prefix, options) => store.list(prefix, options),
    listDirectory: (prefix, options) => store.listDirectory(prefix, options),
    ...(ageOf && { ageOf: (key, options) => ageOf.call(store, key, options) }),
    async set(key, bytes, options = {}) {
      const isNew = await store.setIfAbsent?.(key, bytes, options);
      // if the value has been deleted since, the process that misses it writes it again
      if (!isNew) await isThere(key, bytes.length, () => crc32(bytes), options);
    },
    async openWriter(key, options = {}) {
      const writer = await store.openWriter(key, options);
      let size = 0;
      let checksum = 0;
      return {
        async write(bytes) {
          checksum = crc32(bytes, checksum);
          size += bytes.length;
          await writer.write(bytes);
        },
        async commit() {
          if (await isThere(key, size, () => checksum, { signal: options.signal })) await writer.abort();
          else await writer.commit();
        },
        abort: (reason) => writer.abort(reason),
      };
    },
    setIfAbsent: async (key, bytes, options) => (await store.setIfAbsent?.(key, bytes, options)) ?? false,
    delete: (key, options) => store.delete(key, options),
    ...(deleteMany && { deleteMany: (keys, options) => deleteMany.call(store, keys, options) }),
  };
}
