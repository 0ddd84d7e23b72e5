import { isNotKnown } from "../../hierarchy/open/open-node.ts";
import { isZarrflowError } from "../../util/errors.ts";

/** One thing that is odd about a hierarchy. */
export interface ValidateFinding {
  /**
   * `error`: readers fail, or get something wrong; `warning`: some readers may, or data lie where nobody looks;
   * `info`: worth knowing.
   */
  readonly level: "error" | "warning" | "info";
  readonly what:
    | "metadata"
    /** Readers of CF conventions take stored values for missing, or cannot read what is. */
    | "missing-value"
    /** Arrays side by side have different lengths of one dimension: xarray cannot open their group. */
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
    /** It has the form of a chunk, and there is no array that it could be of. */
    | "orphan-chunk"
    | "unknown-key"
    | "zip-entry"
    /** They read as the fill value; `count` says how many. */
    | "missing-chunks"
    | "chunk-size"
    | "broken-chunk"
    /** What is there is neither a value nor a folder that can be read. */
    | "unreadable"
    | "open-upload"
    | "lock"
    | "leftover"
    | "not-checked";
  /** Path of the node inside its store. */
  readonly path: string;
  readonly message: string;
  /** The key in question; the first of them where there are several. */
  readonly key?: string;
  /** How many keys, or missing chunks; absent for one key. */
  readonly count?: number;
  readonly pointer?: string;
  /** Where it is, where that is no key of the store: of what runs have left. */
  readonly place?: string;
  /** With `fix`: whether this was mended, or would be without `dryRun`. */
  readonly isFix?: true;
  /** With `fix`: why this was not mended. */
  readonly notFixed?: string;
}

/** Whether an error says what is wrong with what is stored, and not that it could not be read. */
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

/** An error as a finding. @throws the error itself when it is no fault. */
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
