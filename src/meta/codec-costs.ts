import { type CostClass, slowestOf } from "../codecs/descriptor.ts";
import { codecNamed } from "../codecs/descriptors.ts";
import type { CodecConfig } from "./array-metadata.ts";
import { innerCodecs } from "./v3/sharding.ts";

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
