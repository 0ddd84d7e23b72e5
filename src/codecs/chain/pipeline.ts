import type { CodecConfig } from "../../meta/array-metadata.ts";
import type { ChunkSpec, CodecPipeline } from "../codec.ts";
import { type ChainOptions, loadCodecs } from "./codec-chain.ts";
import { fuseCodecs } from "./fuse-codecs.ts";

export type PipelineOptions = ChainOptions;

/**
 * Creates the fused codecs of an array. Sizes are computed through the chain before any chunk is read.
 *
 * @throws as `loadCodecs`.
 */
export async function createPipeline(
  configs: readonly CodecConfig[],
  spec: ChunkSpec,
  options: PipelineOptions = {},
): Promise<CodecPipeline> {
  return fuseCodecs(await loadCodecs(configs, spec, options), spec, options);
}
