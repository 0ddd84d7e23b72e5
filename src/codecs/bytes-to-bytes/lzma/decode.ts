import { corrupt } from "../../failures.ts";
import { decodeDelta, type FilterChain } from "./filters.ts";
import type { Progress } from "./lzma-decoder.ts";
import { decodeAlone, decodeLzma1 } from "./lzma1.ts";
import { decodeLzma2 } from "./lzma2.ts";
import { decodeXz } from "./xz-decode.ts";
import { HEADER_MAGIC, hasMagic } from "./xz-format.ts";

/** The container of a value; `auto` detects `xz` and `alone`. Raw data take their filters from the configuration. */
export type LzmaFormat = "auto" | "xz" | "alone" | "raw";

/**
 * Decodes all streams of `source`, one after another.
 *
 * @param chain the filters of raw data; the other formats state their own.
 * @returns the bytes written.
 * @throws `corrupt-chunk` if the source is truncated or broken, a check differs, other bytes follow, or `target` is too
 *   small; `codec-error`, `unsupported-codec` for unsupported data.
 */
export function decodeLzma(
  source: Uint8Array,
  target: Uint8Array,
  format: LzmaFormat,
  chain: FilterChain,
): number {
  if (source.length === 0) throw corrupt("there are no LZMA data", { found: 0 });
  let progress: Progress = { read: 0, written: 0 };
  do progress = decodeStream(source, target, progress, format, chain);
  while (progress.read < source.length);
  return progress.written;
}

function decodeStream(
  source: Uint8Array,
  target: Uint8Array,
  progress: Progress,
  format: LzmaFormat,
  chain: FilterChain,
): Progress {
  switch (format) {
    case "auto":
      return hasMagic(source, progress.read, HEADER_MAGIC)
        ? decodeXz(source, target, progress)
        : decodeAlone(source, target, progress);
    case "xz":
      return decodeXz(source, target, progress);
    case "alone":
      return decodeAlone(source, target, progress);
    case "raw":
      return decodeRaw(source, target, progress, chain);
  }
}

function decodeRaw(
  source: Uint8Array,
  target: Uint8Array,
  progress: Progress,
  { compressor, deltas }: FilterChain,
): Progress {
  const end =
    compressor.kind === "lzma2"
      ? decodeLzma2(source, target, progress)
      : decodeLzma1(source, target, progress, compressor);
  const bytes = target.subarray(progress.written, end.written);
  for (const distance of deltas.toReversed()) decodeDelta(bytes, distance);
  return end;
}
