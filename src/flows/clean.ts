import { removeLeftScratch } from "../run/scratch/open-scratch.ts";
import { STORE_ACCESS, type StoreAccess } from "../stores/access.ts";
import type { StoreSpec } from "../stores/store.ts";
import { type Leftover, leftoversAt } from "../targets/leftovers.ts";
import { throwIfAborted } from "../util/abort.ts";
import { ZarrflowError } from "../util/errors.ts";
import { checkedOptions, type OptionNames } from "../util/options.ts";
import { type FlowTarget, targetSpec } from "./target/flow-target.ts";

export interface CleanOptions extends StoreAccess {
  /** Lists leftovers without removing them. */
  readonly dryRun?: boolean | undefined;
  /** Also removes what may belong to a running job. Only for callers who know that none is running. */
  readonly breakLock?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

const CLEAN_OPTIONS: OptionNames<CleanOptions> = {
  ...STORE_ACCESS,
  dryRun: true,
  breakLock: true,
  signal: true,
};

/** Something that a run left at a place, or keeps there while it is running. */
export interface CleanedLeftover extends Pick<Leftover, "kind" | "place"> {
  /** True if it was removed, or would be without `dryRun`; false if its run may still be active. */
  readonly isRemoved: boolean;
}

/**
 * Removes what killed runs left at a target and beside it: unfinished targets, incomplete files and uploads, locks, and
 * scratch objects in a bucket. It also completes an interrupted replacement.
 *
 * What may belong to an active run is reported but kept. A run counts as over if its lock has not been renewed for 5
 * minutes, or its own files and folders for 15.
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

/** @throws `unsupported-operation` for a web server, which is read-only and lists nothing */
function assertCleanable(spec: StoreSpec): void {
  if (spec.kind === "zip-value") assertCleanable(spec.store);
  if (spec.kind !== "http") return;
  throw new ZarrflowError("unsupported-operation", "a web server is read-only and cannot list leftovers", {
    store: spec.url,
    hint: "Clean the folder or bucket that it serves.",
  });
}
