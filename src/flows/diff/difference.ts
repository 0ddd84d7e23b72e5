import type { Store } from "../../stores/store.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { isFault } from "../validate/finding.ts";
import type { ValueDifference } from "./compare-values.ts";

/** One difference between two nodes. */
export interface Difference {
  /** Path of the node, below both roots. */
  readonly path: string;
  readonly what:
    | "node"
    /** A node that cannot be read on one or both sides, and was not compared. */
    | "broken"
    /** Stored keys or bytes of a node that neither side supports. */
    | "stored bytes"
    | "shape"
    | "data type"
    | "fill value"
    /** The value that CF readers treat as missing, of an array in v2 and one in v3; as JSON text. */
    | "missing value"
    | "dimension names"
    | "attribute"
    | "values"
    /** A key that is neither a document nor a chunk: `path` is the key, `a` and `b` are its sizes. */
    | "key"
    | "zarrFormat"
    | "chunks"
    | "inner chunks"
    | "codecs";
  /** True if it makes the two sides different. Differences in storage count only with `strict`. */
  readonly counts: boolean;
  /** The first and the second side; undefined for nothing. */
  readonly a: unknown;
  readonly b: unknown;
  /** JSON pointer of an attribute. */
  readonly pointer?: string;
  /** Details of values that differ. */
  readonly values?: Omit<ValueDifference, "a" | "b">;
}

/** One side of a comparison. */
interface ComparedSide {
  readonly store: Store;
  readonly kind: string;
  readonly path?: string;
}

/**
 * Describes both sides of a failed comparison: the unreadable one by its error, the other by its kind.
 *
 * @throws the error itself if it says nothing about the stored data
 */
export function brokenStates(
  error: unknown,
  a: ComparedSide,
  b: ComparedSide,
): Pick<Difference, "counts" | "a" | "b"> {
  if (!isZarrflowError(error) || !(isFault(error) || error.code === "short-read")) throw error;
  const { store, path } = error.details;
  const isOf = (side: ComparedSide) =>
    store === side.store.description && (path === undefined || side.path === undefined || path === side.path);
  const [isOfA, isOfB] = [isOf(a), isOf(b)];
  const isOfOne = isOfA !== isOfB;
  return {
    counts: true,
    a: isOfOne && isOfB ? a.kind : error.message,
    b: isOfOne && isOfA ? b.kind : error.message,
  };
}
