import type { ErrorCode } from "../../src/index.ts";

/** Cases that are rejected, or read although their manifest expects an error, and why. */
export interface Exception {
  readonly id: RegExp;
  /** Code of the error that they give; `read` where they give none. */
  readonly gives: ErrorCode | "read";
  /** What they are, in a few words. */
  readonly what: string;
  readonly reason: string;
}

/** All of them when read: every other case must be right. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    id: /^v1\/blosc-zstd-bitshuffle$|^v1-blosc-zstd07$/,
    gives: "codec-error",
    what: "blosc chunks of zarr-python 1 with `zstd` inside",
    reason:
      "their frames have the format of zstd 0.7, which later releases read only in special builds; all other compressors of v1 can be read",
  },
  {
    id: /^v3\/layout\/rectilinear$/,
    gives: "unsupported-extension",
    what: "the chunk grid `rectilinear` of v3",
    reason: "a proposed extension; all chunks of an array must have one shape",
  },
  {
    id: /^v3\/numcodecs\/pcodec$/,
    gives: "unsupported-codec",
    what: "the codec `pcodec`",
    reason: "there is no implementation in JavaScript; zarr-python converts such arrays",
  },
  {
    id: /^v3\/numcodecs\/zfpy$/,
    gives: "unsupported-codec",
    what: "the codec `zfpy`",
    reason: "there is no implementation in JavaScript; zarr-python converts such arrays",
  },
  {
    id: /^bad\/v3\/meta-transpose-C$/,
    gives: "read",
    what: 'a v3 `transpose` whose `order` is `"C"` or `"F"`',
    reason: "zarrita and early zarr-python wrote it while v3 was a draft; `validate` reports it",
  },
  {
    id: /^bad\/v3\/meta-codec-unknown-must-understand-false$/,
    gives: "read",
    what: "an unknown bytes-to-bytes codec of v3 with `must_understand: false`",
    reason: "missing chunks read as the fill value; reading a stored chunk is an error",
  },
  {
    id: /^bad\/zip\/path-proto$/,
    gives: "read",
    what: "a zip with an entry below `__proto__`",
    reason: "keys are never used as names of JavaScript objects",
  },
  {
    id: /^bad\/zip\/(name-mismatch|overlapping-entries)$/,
    gives: "read",
    what: "zip entries whose local header has another name, or that share bytes",
    reason: "only the central directory counts; lengths and checksums are compared with it",
  },
  {
    id: /^bad\/v3\/shard-(overlap|into-index)$/,
    gives: "read",
    what: "shards whose chunks overlap, or reach into the index",
    reason: "v3 allows it, and some writers share equal chunks; undecodable bytes are `corrupt-chunk`",
  },
];

/**
 * Arrays that zarr-python reads as they are, but not as we write them: its release in requirements.txt knows structures
 * in their old form alone, and V3-26 has them written in the new one.
 */
export const NEWER_THAN_PYTHON = /^v3\/dtype-zarr31\/structured/;

/** All of them when written anew in their own format: every other array that is read must be. */
export const WRITE_EXCEPTIONS: readonly Exception[] = [
  {
    id: /^v2\/layout\/attrs-python-nan$|^ogc-geo-tas$/,
    gives: "loss-refused",
    what: "bare `NaN` and `Infinity` in attributes",
    reason: "they can be read, but are not JSON; `--allow-loss /attributes/NAME` writes them as `null`",
  },
];
