import { ZarrflowError } from "../../util/errors.ts";
import type { CodecFactory } from "../codec.ts";
import { ConfigReader, type EncoderSetting, encoderSetting } from "../config-reader.ts";
import { corrupt } from "../limits.ts";
import type { DecoderPosition } from "./decoder.ts";
import { matchFinderSize } from "./encoder.ts";
import { decodeDelta, encodeDelta, type FilterChain, filterChain, presetChain } from "./filters.ts";
import {
  CHUNK_SPACE,
  decodeAlone,
  decodeLzma1,
  decodeLzma2,
  encodeAlone,
  encodeLzma1,
  encodeLzma2,
  maxLzma1Size,
  maxLzma2Size,
} from "./lzma.ts";
import { MODEL_SPACE } from "./model.ts";
import { decodeXz } from "./xz-decode.ts";
import { encodeXz, XZ_OVERHEAD } from "./xz-encode.ts";
import { DEFAULT_CHECK, HEADER_MAGIC, hasMagic, xzCheck } from "./xz-format.ts";

/** Formats by their number in Python. */
const FORMATS: readonly LzmaFormat[] = ["auto", "xz", "alone", "raw"];
const MAX_CHECK = 15;

/**
 * `lzma`: .xz, .lzma or raw LZMA, as in Python's `lzma`. Settings for writing are checked against the format only when
 * something is written, because other writers may state settings that they ignore.
 */
export const createLzma: CodecFactory = (configuration) => {
  const settings = new ConfigReader(configuration);
  const format = FORMATS[settings.integer("format", 0, FORMATS.length - 1, 1)] ?? "xz";
  const check = encoderSetting(() => settings.integer("check", -1, MAX_CHECK, -1), -1);
  // Only `raw` needs the filters to decode; the other formats state them.
  const chain = format === "raw" ? certain(chainOf(settings, format)) : chainForEncoding(settings, format);
  return {
    kind: "bytes-to-bytes",
    name: "lzma",
    maxEncodedSize: (decodedSize) => maxLzmaSize(decodedSize, chain.value),
    scratchSize: (decodedSize) => encoderSpace(decodedSize, chain.value),
    assertEncodable: () => {
      check.check();
      chain.check();
    },
    encodeInto: (source, target) => encodeLzma(source, target, format, chain.value, check.value),
    decodeInto: (source, target) => decodeLzma(source, target, format, chain.value),
  };
};

function certain(chain: FilterChain): EncoderSetting<FilterChain> {
  return { value: chain, check() {} };
}

function chainForEncoding(settings: ConfigReader, format: LzmaFormat): EncoderSetting<FilterChain> {
  return encoderSetting(() => chainOf(settings, format), presetChain("lzma2", undefined));
}

/** @throws `invalid-metadata`, `unsupported-codec` */
function chainOf(settings: ConfigReader, format: LzmaFormat): FilterChain {
  const filters = settings.value("filters");
  if (filters !== undefined) return filterChain(filters);
  if (format === "raw") return filterChain([]);
  const preset = settings.value("preset") === undefined ? undefined : settings.number("preset");
  return presetChain(format === "alone" ? "lzma1" : "lzma2", preset);
}

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
  if (source.length === 0) throw corrupt("there is no LZMA data", { found: 0 });
  let progress: DecoderPosition = { read: 0, written: 0 };
  do progress = decodeStream(source, target, progress, format, chain);
  while (progress.read < source.length);
  return progress.written;
}

function decodeStream(
  source: Uint8Array,
  target: Uint8Array,
  progress: DecoderPosition,
  format: LzmaFormat,
  chain: FilterChain,
): DecoderPosition {
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
  progress: DecoderPosition,
  { compressor, deltas }: FilterChain,
): DecoderPosition {
  const end =
    compressor.kind === "lzma2"
      ? decodeLzma2(source, target, progress)
      : decodeLzma1(source, target, progress, compressor);
  const bytes = target.subarray(progress.written, end.written);
  for (const distance of deltas.toReversed()) decodeDelta(bytes, distance);
  return end;
}

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
  throw new ZarrflowError("codec-error", "the output buffer is too small", {
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
      throw refused("format 0 (auto) is for reading only", "1 (xz), 2 (alone) or 3 (raw)", 0);
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
