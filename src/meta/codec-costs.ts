import { type CostClass, slowestOf } from "../codecs/descriptor.ts";
import { codecNamed } from "../codecs/descriptors.ts";
import type { CodecConfig } from "./array-metadata.ts";
import { innerCodecs } from "./v3/sharding.ts";

/** How long a codec takes: one that holds others, as long as the slowest of these. */
export function costClassOf({ name, configuration }: CodecConfig): CostClass {
  const { costClass = "other", nested } = codecNamed(name) ?? {};
  if (nested !== undefined) return slowestOf(innerCodecs(configuration[nested]).map(costClassOf));
  return typeof costClass === "function" ? costClass(configuration) : costClass;
}

/** Whether a part of a chunk takes less time to decode than all of it, in a list of one codec after `bytes`. */
export function decodesParts([, compressor, ...others]: readonly CodecConfig[]): boolean {
  if (compressor === undefined || others.length > 0) return false;
  return codecNamed(compressor.name)?.decodesParts?.(compressor.configuration) ?? false;
}
