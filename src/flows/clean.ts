import { STORE_ACCESS, type StoreAccess } from "../stores/access.ts";
import type { StoreSpec } from "../stores/store.ts";
import type { Leftover } from "../stores/target/leftover.ts";
import { leftoversAt } from "../stores/target/leftovers.ts";
import { throwIfAborted } from "../util/abort.ts";
import { checkedOptions, type OptionNames } from "../util/check-options.ts";
import { ZarrflowError } from "../util/errors.ts";
import { removeLeftScratch } from "./run/scratch/open-scratch.ts";
import { type FlowTarget, targetSpec } from "./target/flow-target.ts";

export interface CleanOptions extends StoreAccess {
  /** Removes nothing. */
  readonly dryRun?: boolean | undefined;
  /** Removes what may be of a run that is at work, too: whoever asks for that knows that no run is. */
  readonly breakLock?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

const CLEAN_OPTIONS: OptionNames<CleanOptions> = {
  ...STORE_ACCESS,
  dryRun: true,
  breakLock: true,
  signal: true,
};

/** Something that a run has left at a place, or has there while it is at work. */
export interface CleanedLeftover extends Pick<Leftover, "kind" | "place"> {
  /** Whether it was removed, or would be without `dryRun`; else its run may be at work. */
  readonly isRemoved: boolean;
}

/**
 * Removes what runs that were killed have left at a target, and beside it: what they were building, files and uploads
 * that were not ended, locks, scratch objects in a bucket. What may belong to a run that is at work is reported and stays: a
 * run counts as over when it has not been heard of for 5 minutes (a lock), or 15 (its own files and folders). A
 * replacement that was cut is ended.
 *
 * @throws whatever keeps the place from being read or written.
 * @example
 * ```ts
 * import { clean } from "zarrflow";
 *
 * for await (const { kind, place, isRemoved } of clean("era5.zarr")) console.log(kind, place, isRemoved);
 * ```
 */
export async function* clean(
  target: FlowTarget,
  options: CleanOptions = {},
): AsyncGenerator<CleanedLeftover> {
  const { dryRun = false, breakLock = false, signal, ...access } = checkedOptions(options, CLEAN_OPTIONS);
  const at = targetSpec(target, access);
  assertCleanable(at.store);
  for await (const { kind, place, isDead, remove } of leftoversAt(at, { signal })) {
    throwIfAborted(signal);
    const isRemoved = isDead || breakLock;
    if (isRemoved && !dryRun) {
      await remove();
      if (kind === "build") await removeLeftScratch(undefined);
    }
    yield { kind, place, isRemoved };
  }
}

/** @throws `unsupported-operation` for a web server, which lists nothing and is never written */
function assertCleanable(spec: StoreSpec): void {
  if (spec.kind === "zip-value") assertCleanable(spec.store);
  if (spec.kind !== "http") return;
  throw new ZarrflowError("unsupported-operation", "a web server is read-only, and lists no leftovers", {
    store: spec.url,
    hint: "Clean the folder or the bucket that it shows.",
  });
}
