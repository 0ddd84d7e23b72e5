import type { Store } from "../../stores/store.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { isFault } from "../validate/finding.ts";
import type { ValueDifference } from "./compare-values.ts";

/** One thing in which two nodes differ. */
export interface Difference {
  /** Path of the node, below both. */
  readonly path: string;
  readonly what:
    | "node"
    /** A node that cannot be read on one side or both, and was not compared. */
    | "broken"
    /** Of a node that is not known here on both sides: its keys, or their bytes. */
    | "stored bytes"
    | "shape"
    | "data type"
    | "fill value"
    /** What readers of CF conventions take for missing, of an array in v2 and one in v3; as JSON texts. */
    | "missing value"
    | "dimension names"
    | "attribute"
    | "values"
    /** A key that is neither a document nor a chunk; `path` is the key, `a` and `b` are its sizes. */
    | "key"
    | "zarrFormat"
    | "chunks"
    | "inner chunks"
    | "codecs";
  /** Whether it makes the two different; how the same is stored does so only where `strict` asks for it. */
  readonly counts: boolean;
  /** What is in the first and in the second; undefined where there is nothing. */
  readonly a: unknown;
  readonly b: unknown;
  /** JSON pointer of an attribute. */
  readonly pointer?: string;
  /** Where the values differ. */
  readonly values?: Omit<ValueDifference, "a" | "b">;
}

/** One side of what was compared. */
interface ComparedSide {
  readonly store: Store;
  readonly kind: string;
  readonly path?: string;
}

/**
 * What two things that were compared are: the one that cannot be read, by the reason.
 *
 * @throws the error itself where it says nothing of what is stored
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
