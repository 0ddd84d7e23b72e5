import { codecNamed } from "../codecs/catalog.ts";
import { type CostClass, describeSettings, slowestOf } from "../codecs/descriptor.ts";
import type { CodecConfig } from "./array-metadata.ts";
import { innerCodecs } from "./v3/sharding.ts";

/**
 * Returns the compressors of a list. Codecs may declare their role. Of the others, a codec from a v2 document has the
 * role that the document gives it, and a program's own codec is a compressor if it turns bytes into bytes.
 */
export function compressorsOf(codecs: readonly CodecConfig[]): ReadonlySet<CodecConfig> {
  const toBytes = codecs.findLastIndex(({ name }) => makesBytes(name));
  return new Set(codecs.filter((codec, i) => isCompressor(codec, toBytes >= 0 && i > toBytes)));
}

/** True if the codec turns items into bytes, at any position. */
export function makesBytes(name: string): boolean {
  return codecNamed(name)?.kind === "array-to-bytes";
}

/** @param isAfterBytes whether the codec certainly turns bytes into bytes */
export function isCompressor({ name, stated }: CodecConfig, isAfterBytes: boolean): boolean {
  const known = codecNamed(name);
  if (known?.role !== undefined) return known.role === "compressor";
  if (stated?.zarrFormat === "v2") return stated.pointer.startsWith("/compressor");
  return known !== undefined && isAfterBytes;
}

/** Name of a codec that is unknown or not implemented, also within shards; undefined if all can be created. */
export function unknownCodecIn(codecs: readonly CodecConfig[]): string | undefined {
  for (const { name, configuration } of codecs) {
    const known = codecNamed(name);
    if (known === undefined || known.refused !== undefined) return name;
    const inner = known.nested && unknownCodecIn(innerCodecs(configuration[known.nested]));
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** The cost class of a codec; one that contains others is as slow as the slowest of them. */
export function costClassOf({ name, configuration }: CodecConfig): CostClass {
  const { costClass = "other", nested } = codecNamed(name) ?? {};
  if (nested !== undefined) return slowestOf(innerCodecs(configuration[nested]).map(costClassOf));
  return typeof costClass === "function" ? costClass(configuration) : costClass;
}

/**
 * True if decoding part of a chunk is faster than decoding all of it. This needs a list of one codec after `bytes`.
 */
export function decodesParts([, compressor, ...others]: readonly CodecConfig[]): boolean {
  if (compressor === undefined || others.length > 0) return false;
  return codecNamed(compressor.name)?.decodesParts?.(compressor.configuration) ?? false;
}

/** Formats a codec for people: `blosc(lz4, 5, shuffle)`, `delta(dtype=<i4)`, `crc32c`. */
export function describeCodec({ name, configuration }: CodecConfig): string {
  const { describe = describeSettings, nested } = codecNamed(name) ?? {};
  const words = describe(configuration);
  const inner = nested === undefined ? [] : innerCodecs(configuration[nested]).map(describeCodec);
  const all = [words, inner.join(" + ")].filter(Boolean).join(", ");
  return all === "" ? name : `${name}(${all})`;
}
