import type { CodecConfig } from "../meta/array-metadata.ts";
import { isFixed } from "../meta/data-type.ts";
import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { product } from "../util/shape.ts";
import type { ChunkSpec, Codec, CodecContext } from "./codec.ts";
import { makeCodec } from "./registry.ts";

/** The most bytes that one chunk may have, at any place of its chain. */
export const MAX_CHUNK_SIZE = 2 ** 31 - 1;

/** A codec at its place in a chain, with the sizes that are known there before any chunk is read. */
export interface PlacedCodec<C extends Codec = Codec> {
  readonly codec: C;
  /** Bytes of the decoded form where every chunk has the same; undefined behind a compressor and for variable data. */
  readonly decodedSize: number | undefined;
  /** The most bytes that the decoded form may have. */
  readonly maxDecodedSize: number;
}

export interface ChainOptions {
  /** The most bytes that a chunk of variable data may have; 2 GiB by default. */
  readonly maxVariableSize?: number | undefined;
}

/**
 * Makes the codecs of a chain, in encoding order, and computes what each is given: shapes, item sizes, bytes.
 *
 * @throws `invalid-metadata` at `/codecs` when they are not array -> array, then one array -> bytes, then bytes ->
 *   bytes codecs; `unsupported-codec`, `invalid-metadata` at the codec; `resource-limit` when chunks are above 2 GiB.
 * @see V3-40
 */
export async function loadCodecs(
  configs: readonly CodecConfig[],
  spec: ChunkSpec,
  { maxVariableSize = MAX_CHUNK_SIZE }: ChainOptions = {},
): Promise<readonly PlacedCodec[]> {
  const placed: PlacedCodec[] = [];
  let place = firstPlace(spec, maxVariableSize);
  for (const [i, config] of configs.entries()) {
    const codec = await makeAt(config, i, place.context);
    expectKind(codec, place.isBytes);
    placed.push({ codec, decodedSize: place.size, maxDecodedSize: place.maxSize });
    place = after(codec, place, config);
  }
  if (!place.isBytes) throw misplaced("no codec turns the array into bytes");
  return placed;
}

/** What stands between two codecs. */
interface Place {
  readonly context: CodecContext;
  readonly isBytes: boolean;
  readonly size: number | undefined;
  readonly maxSize: number;
}

function firstPlace(spec: ChunkSpec, maxVariableSize: number): Place {
  const { dataType, shape } = spec;
  const itemSize = isFixed(dataType) ? dataType.size : 1;
  const size = product(shape) * itemSize;
  if (size > MAX_CHUNK_SIZE) {
    throw new ZarrflowError("resource-limit", "chunks of this shape are above the limit of 2 GiB", {
      expected: MAX_CHUNK_SIZE,
      found: size,
    });
  }
  const context: CodecContext = { spec, itemSize, endian: "little" };
  if (isFixed(dataType)) return { context, isBytes: false, size, maxSize: size };
  return { context, isBytes: false, size: undefined, maxSize: maxVariableSize };
}

function after(codec: Codec, place: Place, { configuration }: CodecConfig): Place {
  const { context } = place;
  switch (codec.kind) {
    case "array-to-array":
      return { ...place, context: { ...context, spec: codec.encodedSpec(context.spec) } };
    case "array-to-bytes": {
      const size = codec.encodedSize;
      const endian = configuration.endian === "big" ? "big" : "little";
      return { context: { ...context, endian }, isBytes: true, size, maxSize: size ?? place.maxSize };
    }
    case "bytes-to-bytes": {
      const size = place.size === undefined ? undefined : codec.fixedEncodedSize?.(place.size);
      const maxSize = size ?? boundOfOthers(codec.maxEncodedSize(place.maxSize));
      return { context: { ...context, itemSize: codec.encodedItemSize ?? 1 }, isBytes: true, size, maxSize };
    }
  }
}

/** The most bytes that we take from encoders other than ours, which may write more frames or padding than we do. */
function boundOfOthers(ours: number): number {
  return Math.min(2 * ours + 65_536, MAX_CHUNK_SIZE);
}

async function makeAt(config: CodecConfig, index: number, context: CodecContext): Promise<Codec> {
  try {
    return await makeCodec(config, context);
  } catch (error) {
    const pointer = config.stated?.pointer ?? `/codecs/${index}`;
    if (isZarrflowError(error)) error.addContext({ codec: config.name, pointer });
    throw error;
  }
}

function expectKind({ kind, name }: Codec, isBytes: boolean): void {
  if (isBytes && kind !== "bytes-to-bytes") throw misplaced(`\`${name}\` needs an array, but is given bytes`);
  if (!isBytes && kind === "bytes-to-bytes")
    throw misplaced(`\`${name}\` needs bytes, but is given an array`);
}

function misplaced(reason: string): ZarrflowError {
  return new ZarrflowError("invalid-metadata", reason, {
    pointer: "/codecs",
    hint: "Codecs are listed as array -> array ones, then one array -> bytes, then bytes -> bytes ones.",
  });
}
