import { ZarrflowError } from "../../../util/errors.ts";
import type { LzmaFormat } from "./decode.ts";
import { encodeDelta, type FilterChain } from "./filters.ts";
import { encodeAlone, encodeLzma1, maxLzma1Size } from "./lzma1-encode.ts";
import { CHUNK_SPACE, encodeLzma2, maxLzma2Size } from "./lzma2-encode.ts";
import { matchFinderSize } from "./match-finder.ts";
import { MODEL_SPACE } from "./model.ts";
import { DEFAULT_CHECK, xzCheck } from "./xz-checks.ts";
import { encodeXz, XZ_OVERHEAD } from "./xz-encode.ts";

/** The most bytes that `size` bytes can become in any format. */
export function maxLzmaSize(size: number, { compressor }: FilterChain): number {
  return compressor.kind === "lzma1" ? maxLzma1Size(size) : maxLzma2Size(size) + XZ_OVERHEAD;
}

/** Bytes that encoding `size` bytes takes besides source and target. */
export function encoderSpace(size: number, { deltas, compressor }: FilterChain): number {
  const finder = matchFinderSize(size, compressor.dictionarySize);
  return MODEL_SPACE + CHUNK_SPACE + finder + (deltas.length > 0 ? size : 0);
}

/**
 * Encodes `source` as one stream.
 *
 * @param check the number of the check that xz stores.
 * @returns the bytes written.
 * @throws `codec-error` if the format does not support these filters or this check, or `target` is too small.
 */
export function encodeLzma(
  source: Uint8Array,
  target: Uint8Array,
  format: LzmaFormat,
  chain: FilterChain,
  check: number,
): number {
  const filtered = withDeltas(source, chain.deltas);
  const written = encodeAs(format, source, filtered, target, chain, check);
  if (written <= target.length) return written;
  throw new ZarrflowError("codec-error", "the target is too small", {
    expected: written,
    found: target.length,
  });
}

function encodeAs(
  format: LzmaFormat,
  source: Uint8Array,
  filtered: Uint8Array,
  target: Uint8Array,
  chain: FilterChain,
  check: number,
): number {
  const { compressor, deltas } = chain;
  if (format !== "xz" && check > 0) throw refused("only format 1 (xz) stores a check", "-1 or 0", check);
  switch (format) {
    case "auto":
      throw refused("format 0 (auto) is only for reading", "1 (xz), 2 (alone) or 3 (raw)", 0);
    case "xz":
      if (compressor.kind === "lzma1")
        throw refused("format 1 (xz) supports LZMA2 only", "filter 33", "LZMA1");
      return encodeXz(source, filtered, target, chain, xzCheck(check < 0 ? DEFAULT_CHECK : check));
    case "alone":
      if (compressor.kind === "lzma2" || deltas.length > 0) {
        throw refused("format 2 (alone) supports LZMA1 and no other filter", "LZMA1", "other filters");
      }
      return encodeAlone(source, target, compressor);
    case "raw":
      return compressor.kind === "lzma1"
        ? encodeLzma1(filtered, target, 0, compressor)
        : encodeLzma2(filtered, target, 0, compressor);
  }
}

function withDeltas(source: Uint8Array, deltas: readonly number[]): Uint8Array {
  if (deltas.length === 0) return source;
  const filtered = source.slice();
  for (const distance of deltas) encodeDelta(filtered, distance);
  return filtered;
}

function refused(reason: string, expected: string, found: number | string): ZarrflowError {
  return new ZarrflowError("codec-error", reason, { expected, found });
}
