import { isNotKnown } from "../../hierarchy/open/open-node.ts";
import { isZarrflowError } from "../../util/errors.ts";

/** One problem or peculiarity of a hierarchy. */
export interface ValidateFinding {
  /**
   * `error`: readers fail or get wrong results; `warning`: some readers may, or data are where nobody looks; `info`:
   * worth knowing.
   */
  readonly level: "error" | "warning" | "info";
  readonly what:
    | "metadata"
    /** Readers of CF conventions treat stored values as missing, or cannot read the missing value. */
    | "missing-value"
    /** Arrays of one group have different lengths of one dimension: xarray cannot open the group. */
    | "dimension-lengths"
    | "implied-group"
    | "lone-attributes"
    | "inside-array"
    | "sibling-names"
    | "foreign-document"
    | "stale-consolidated"
    | "no-consolidated"
    | "outside-grid"
    | "other-separator"
    /** The key looks like a chunk, but there is no array that it could belong to. */
    | "orphan-chunk"
    | "unknown-key"
    | "zip-entry"
    /** Missing chunks, which read as the fill value; `count` is their number. */
    | "missing-chunks"
    | "chunk-size"
    | "broken-chunk"
    /** Neither a value nor a folder that can be read. */
    | "unreadable"
    | "open-upload"
    | "lock"
    | "leftover"
    | "not-checked";
  /** Path of the node in its store. */
  readonly path: string;
  readonly message: string;
  /** The key in question, or the first of several. */
  readonly key?: string;
  /** Number of keys, or of missing chunks; absent for one key. */
  readonly count?: number;
  readonly pointer?: string;
  /** Place of something that is not a key of the store, such as leftovers of runs. */
  readonly place?: string;
  /** With `fix`: set if this was fixed, or would be without `dryRun`. */
  readonly isFix?: true;
  /** With `fix`: the reason why this was not fixed. */
  readonly notFixed?: string;
}

/** True if an error says that something stored is wrong, rather than that it could not be read. */
export function isFault(error: unknown): boolean {
  if (!isZarrflowError(error)) return false;
  const { code } = error;
  return code.startsWith("unsupported-") || FAULTS.includes(code);
}

const FAULTS: readonly string[] = [
  "invalid-metadata",
  "invalid-node-name",
  "path-not-allowed",
  "resource-limit",
  "access-denied",
  "corrupt-store",
  "corrupt-chunk",
  "codec-error",
];

/** Turns an error into a finding. @throws the error itself if it is not a fault. */
export function faultFinding(error: unknown, what: ValidateFinding["what"], path: string): ValidateFinding {
  if (!isZarrflowError(error) || !isFault(error)) throw error;
  const { key, pointer, expected, found } = error.details;
  const figures = [
    expected !== undefined && `expected ${expected}`,
    found !== undefined && `found ${found}`,
  ].filter(Boolean);
  const isExtended = isNotKnown(error) && error.code !== "unsupported-format";
  return {
    level: what === "metadata" && isExtended ? "warning" : "error",
    what,
    path,
    message: `${error.reason}${figures.length > 0 ? ` (${figures.join(", ")})` : ""}`,
    ...(key !== undefined && { key }),
    ...(pointer !== undefined && { pointer }),
  };
}
