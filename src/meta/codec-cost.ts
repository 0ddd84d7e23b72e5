import type { CostClass } from "../codecs/descriptor.ts";
import { codecNamed } from "../codecs/descriptors.ts";
import type { CodecConfig } from "./array-metadata.ts";
import { innerCodecs } from "./v3/sharding.ts";

/** From the fastest to the slowest. */
const CLASSES: readonly CostClass[] = ["none", "lz4", "zstd", "deflate", "other"];

/** The class of the codec that takes the most time, of those within shards too. */
export function slowestClass(codecs: readonly CodecConfig[]): CostClass {
  const slowest = codecs.map((codec) => CLASSES.indexOf(costClassOf(codec)));
  return CLASSES[Math.max(0, ...slowest)] ?? "other";
}

function costClassOf({ name, configuration }: CodecConfig): CostClass {
  const { costClass = "other", nested } = codecNamed(name) ?? {};
  if (nested !== undefined) return slowestClass(innerCodecs(configuration[nested]));
  return typeof costClass === "function" ? costClass(configuration) : costClass;
}

/** Whether a part of a chunk takes less time to decode than all of it, in a list of one codec after `bytes`. */
export function decodesParts([, compressor, ...others]: readonly CodecConfig[]): boolean {
  if (compressor === undefined || others.length > 0) return false;
  return codecNamed(compressor.name)?.decodesParts?.(compressor.configuration) ?? false;
}
