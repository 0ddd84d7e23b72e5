import { ZarrflowError } from "../util/errors.ts";
import type { GetOptions } from "./store.ts";

/**
 * Reports the version that was found, and checks it against the expected one.
 *
 * @param found undefined if the store does not know it, which counts as equal
 * @throws `source-changed`
 */
export function assertVersion(
  { ifVersion, onVersion }: Pick<GetOptions, "ifVersion" | "onVersion">,
  found: string | undefined,
): void {
  if (found === undefined) return;
  if (ifVersion !== undefined && found !== ifVersion)
    throw sourceChanged("the value was replaced while it was being read");
  onVersion?.(found);
}

/** Checks that a missing value was not there before. @throws `source-changed` */
export function assertMissing({ ifVersion }: Pick<GetOptions, "ifVersion">): undefined {
  if (ifVersion !== undefined) throw sourceChanged("the value was removed while it was being read");
  return undefined;
}

/** Makes the error for a folder in the place of a value. */
export function folderInPlace(): ZarrflowError {
  return new ZarrflowError("corrupt-store", "there is a folder in place of a value", {
    hint: "Remove it, or move it out of the hierarchy.",
  });
}

/** Makes the error for a source that changed while it was read. */
export function sourceChanged(reason: string): ZarrflowError {
  return new ZarrflowError("source-changed", reason, {
    hint: "Run again while no other program changes the source.",
  });
}
