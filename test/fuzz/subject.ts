import type { ErrorCode } from "../../src/util/errors.ts";

/** A frame that decodes, and how. */
export interface Seed {
  readonly frame: Uint8Array;
  /** Bytes that it decodes to. */
  readonly size: number;
  /**
   * Decodes `source` into `target`, which bounds the output, and checks whatever else must hold of the result. An error
   * that is no `ZarrflowError` is a finding.
   *
   * @returns the bytes written.
   */
  decode(source: Uint8Array, target: Uint8Array): number | Promise<number>;
  /** Makes checksums of a changed frame right again, in place, so that what they guard is reached. */
  mend?(frame: Uint8Array): void;
  /** Whether the source is the decoder's to change. */
  readonly ownsSource?: boolean;
}

/** A decoder under test. */
export interface Subject {
  readonly name: string;
  /** Error codes that it may end with. */
  readonly codes: readonly ErrorCode[];
  /** Frames to begin with; made when the turn comes. */
  seeds(): Promise<readonly Seed[]>;
}

/** What decoders of chunks may say. */
export const CHUNK_CODES: readonly ErrorCode[] = ["corrupt-chunk", "codec-error", "resource-limit"];

/** Something that must not be: found by a subject itself, and worth a report of its own. */
export class Fault extends Error {
  override readonly name = "Fault";
}
