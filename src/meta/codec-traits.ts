import { codecNamed } from "../codecs/descriptors.ts";
import type { CodecConfig } from "./array-metadata.ts";
import { innerCodecs } from "./v3/sharding.ts";

/**
 * Which codecs of a list are compressors: those that say so, and codecs of the program's that say nothing where they turn
 * bytes into bytes. A codec that says nothing is what its document of v2 takes it for.
 */
export function compressorsOf(codecs: readonly CodecConfig[]): ReadonlySet<CodecConfig> {
  const toBytes = codecs.findLastIndex(({ name }) => makesBytes(name));
  return new Set(codecs.filter((codec, i) => isCompressor(codec, toBytes >= 0 && i > toBytes)));
}

/** Whether the codec turns items into bytes, wherever it stands. */
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

/** Name of a codec that is not known here or refused, perhaps in shards; undefined if all of them can be made. */
export function unknownCodecIn(codecs: readonly CodecConfig[]): string | undefined {
  for (const { name, configuration } of codecs) {
    const known = codecNamed(name);
    if (known === undefined || known.refused !== undefined) return name;
    const inner = known.nested && unknownCodecIn(innerCodecs(configuration[known.nested]));
    if (inner !== undefined) return inner;
  }
  return undefined;
}
