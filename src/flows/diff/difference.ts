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
