import type { ArrayMetadata, CodecConfig, ZarrFormat } from "../../meta/array-metadata.ts";
import { costClassOf, decodesParts } from "../../meta/codec-costs.ts";
import type { ChunkSizes } from "../../streams/chunk-sizes.ts";
import { toPlain } from "../../util/json-plain.ts";
import type { GridSide, PlannedCodec } from "./plan.ts";

export type SideSizes = ChunkSizes & Pick<GridSide, "pooledScratchSize">;

/** An array at the level of the chunks that are read or written. */
export interface SideArray {
  readonly zarrFormat: ZarrFormat;
  readonly metadata: ArrayMetadata;
  readonly chunkShape: readonly number[];
  readonly shardShape?: readonly number[] | undefined;
}

export function gridSide(
  { zarrFormat, metadata, chunkShape, shardShape }: SideArray,
  { decodedSize, maxEncodedSize, scratchSize, pooledScratchSize }: SideSizes,
): GridSide {
  return {
    zarrFormat,
    chunkKeyEncoding: metadata.chunkKeyEncoding,
    shape: metadata.shape,
    chunkShape,
    ...(shardShape && { shardShape }),
    codecs: metadata.codecs.map(plannedCodec),
    ...(decodesParts(metadata.codecs) && { decodesParts: true }),
    decodedSize,
    maxEncodedSize,
    scratchSize,
    pooledScratchSize,
  };
}

function plannedCodec(codec: CodecConfig): PlannedCodec {
  const configuration = JSON.parse(JSON.stringify(toPlain(codec.configuration), withoutBigints));
  return { name: codec.name, configuration, costClass: costClassOf(codec) };
}

/** Converts bigints to numbers, as a plan is JSON. */
function withoutBigints(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
