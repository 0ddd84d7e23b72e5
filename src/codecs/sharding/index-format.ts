import type { CodecConfig } from "../../meta/array-metadata.ts";
import { INDEX_CODECS, innerCodecs } from "../../meta/v3/sharding.ts";
import { plainBuffers } from "../../util/bytes.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { JsonNumber, type JsonObject } from "../../util/json-value.ts";
import { product } from "../../util/shape.ts";
import type { CodecPipeline, PipelineMaker } from "../codec.ts";
import { ConfigReader } from "../config-reader.ts";
import { corrupt, partFailure } from "../limits.ts";
import { INDEX_ENTRY_SIZE, ShardIndex } from "./entries.ts";

/** The deepest nesting of shards in shards that is accepted. */
const MAX_DEPTH = 8;
/** The largest index in bytes; an index is held in memory as a whole. */
const MAX_INDEX_SIZE = 2 ** 28;

/** The layout of the shards of one `sharding_indexed` codec. */
export interface ShardFormat {
  /** Inner chunks in a shard along each of its dimensions. */
  readonly grid: readonly number[];
  /** Shape of an inner chunk, in the dimensions of the shard. */
  readonly chunkShape: readonly number[];
  /** Codecs of an inner chunk. */
  readonly codecs: readonly CodecConfig[];
  readonly indexLocation: "start" | "end";
  /** Bytes of the encoded index. */
  readonly indexSize: number;
  /** Creates an index without any chunks. */
  emptyIndex(): ShardIndex;
  /**
   * Decodes an index of `indexSize` bytes and takes ownership of them.
   *
   * @throws `corrupt-chunk`
   */
  decodeIndex(bytes: Uint8Array): Promise<ShardIndex>;
  encodeIndex(index: ShardIndex): Promise<Uint8Array>;
}

/**
 * The layout that a configuration of `sharding_indexed` describes for shards of `shape`.
 *
 * @throws `invalid-metadata`; `resource-limit` for shards nested too deep or with too many inner chunks.
 */
export async function shardFormat(
  configuration: JsonObject,
  shape: readonly number[],
  pipelineOf: PipelineMaker,
): Promise<ShardFormat> {
  assertDepth(configuration);
  const chunkShape = innerShape(configuration, shape);
  const grid = shape.map((n, d) => n / (chunkShape[d] ?? 1));
  const chunks = product(grid);
  if (chunks * INDEX_ENTRY_SIZE > MAX_INDEX_SIZE) {
    throw new ZarrflowError("resource-limit", "a shard has too many inner chunks", {
      expected: MAX_INDEX_SIZE / INDEX_ENTRY_SIZE,
      found: chunks,
    });
  }
  const index = await indexPipeline(configuration, grid, pipelineOf);
  const indexSize = index.maxEncodedSize;
  return {
    grid,
    chunkShape,
    codecs: innerCodecs(configuration.codecs),
    indexLocation: new ConfigReader(configuration).word("index_location", ["start", "end"], "end"),
    indexSize,
    emptyIndex: () => ShardIndex.empty(chunks),
    async decodeIndex(bytes) {
      if (bytes.length !== indexSize) {
        throw corrupt("the shard is shorter than its index", { expected: indexSize, found: bytes.length });
      }
      try {
        return new ShardIndex((await index.decode(bytes, plainBuffers)).bytes);
      } catch (error) {
        throw isZarrflowError(error) ? partFailure("the shard's index", error) : error;
      }
    },
    encodeIndex({ bytes }) {
      const data = { kind: "fixed", bytes: bytes.slice(), itemSize: 8 } as const;
      const { spec, strides } = index;
      return index.encode({ ...data, shape: spec.shape, strides }, plainBuffers);
    },
  };
}

async function indexPipeline(
  { index_codecs }: JsonObject,
  grid: readonly number[],
  pipelineOf: PipelineMaker,
): Promise<CodecPipeline> {
  const codecs = innerCodecs(index_codecs);
  const other = codecs.find(({ name }) => !INDEX_CODECS.includes(name));
  if (other) throw invalid(`\`${other.name}\` cannot encode a shard index, because its encoded size varies`);
  return pipelineOf(codecs, { shape: [...grid, 2], dataType: { kind: "uint", size: 8 }, fillValue: null });
}

function innerShape({ chunk_shape }: JsonObject, shape: readonly number[]): number[] {
  const list = Array.isArray(chunk_shape) ? chunk_shape : [];
  const numbers = list.map((n) => (n instanceof JsonNumber ? Number(n.text) : n));
  const divides = (n: unknown, d: number) =>
    typeof n === "number" && Number.isSafeInteger(n) && n >= 1 && (shape[d] ?? 0) % n === 0;
  if (Array.isArray(chunk_shape) && numbers.length === shape.length && numbers.every(divides)) {
    return numbers as number[];
  }
  throw invalid(`\`chunk_shape\` must divide the shard's shape, ${shape.join(" x ") || "that of a scalar"}`);
}

function assertDepth(configuration: JsonObject): void {
  let depth = 0;
  let codecs: CodecConfig[] = [{ name: "sharding_indexed", configuration }];
  while (codecs.length > 0) {
    if (depth++ > MAX_DEPTH) throw new ZarrflowError("resource-limit", "shards are nested too deeply");
    codecs = codecs.flatMap(({ name, configuration: { codecs: inner } }) =>
      name === "sharding_indexed" ? innerCodecs(inner) : [],
    );
  }
}

function invalid(reason: string): ZarrflowError {
  return new ZarrflowError("invalid-metadata", reason);
}
