import type { CodecConfig } from "../../meta/array-metadata.ts";
import { isJsonObject } from "../../meta/assert-json.ts";
import { type FixedDataType, isFixed } from "../../meta/data-type.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { pointerTo } from "../../util/json-value.ts";
import { assertKnown, type OptionNames } from "../../util/options.ts";
import { product } from "../../util/shape.ts";
import type {
  BytesToBytesCodec,
  ChunkSpec,
  Codec,
  CodecContext,
  CodecPipeline,
  PipelineMaker,
  PlacedCodec,
} from "../codec.ts";
import { foreignSizeBound, MAX_CHUNK_SIZE } from "../limits.ts";
import { makeCodec } from "../registry.ts";
import { assertLength } from "./codec-step.ts";
import { fuseCodecs } from "./fuse-codecs.ts";

export type { PlacedCodec };

export interface ChainOptions {
  /** True if chunks will be encoded: settings that only encoding uses are then checked too. */
  readonly isWritten?: boolean | undefined;
  /** The most bytes that a chunk of variable data may have; 2 GiB by default. */
  readonly maxVariableSize?: number | undefined;
  /** Average size of an item of varying size, in bytes; only for estimates. */
  readonly variableItemSize?: number | undefined;
}

const CHAIN_OPTIONS: OptionNames<ChainOptions> = {
  isWritten: true,
  maxVariableSize: true,
  variableItemSize: true,
};

/**
 * Creates the codecs of a chain, in encoding order, and computes the input of each: shapes, item sizes, bytes.
 *
 * @param list JSON pointer to the list of codecs
 * @throws `invalid-metadata` at the list unless it contains array -> array codecs, then one array -> bytes codec, then
 *   bytes -> bytes codecs; `unsupported-codec`, `invalid-metadata` at the codec; `resource-limit` if chunks are above 2
 *   GiB.
 */
export async function loadCodecs(
  configs: readonly CodecConfig[],
  spec: ChunkSpec,
  options: ChainOptions = {},
  list = "/codecs",
): Promise<readonly PlacedCodec[]> {
  assertKnown(options, CHAIN_OPTIONS);
  const placed: PlacedCodec[] = [];
  let place = firstPlace(spec, options);
  for (const [i, config] of configs.entries()) {
    const pointer = config.stated?.pointer ?? pointerTo(list, i);
    const context = {
      ...place.context,
      pipelineOf: pipelineMaker(`${pointer}/configuration/codecs`, options),
    };
    const codec = await at(config, pointer, () => makeCodec(config, context)).catch(skipped(config, place));
    assertKind(codec, place.isBytes, list);
    if (options.isWritten) await at(config, pointer, () => assertEncodable(codec));
    placed.push({ codec, decodedSize: place.size, maxDecodedSize: place.maxSize });
    place = await at(config, pointer, () => after(codec, place, config));
  }
  if (!place.isBytes) throw misplaced("no codec encodes the array as bytes", list);
  return placed;
}

/** @throws `invalid-metadata`, `unsupported-codec` for a codec that can only decode. */
export function assertEncodable(codec: Codec): void {
  if (codec.kind === "array-to-array") return;
  try {
    codec.assertEncodable?.();
  } catch (error) {
    if (!isZarrflowError(error)) throw error;
    throw error.addContext({ hint: "Chunks can still be decoded; to write them, choose another codec." });
  }
}

/**
 * Returns a function that creates the chains of a codec's nested codecs. `list` is the pointer to their list, for
 * errors.
 */
function pipelineMaker(list: string, options: ChainOptions): PipelineMaker {
  return async (configs, spec) => fuseCodecs(await loadCodecs(configs, spec, options, list), spec, options);
}

/** Handles the error for an unknown codec: ignores it if the document allows readers to skip the codec. */
function skipped({ mayBeSkipped }: CodecConfig, { isBytes }: Place): (error: unknown) => Codec {
  return (error) => {
    if (mayBeSkipped && isBytes && isZarrflowError(error, "unsupported-codec")) return unknownCodec(error);
    throw error;
  };
}

/** The data between two codecs. */
interface Place {
  readonly context: CodecContext;
  readonly isBytes: boolean;
  readonly size: number | undefined;
  readonly maxSize: number;
}

function firstPlace(spec: ChunkSpec, options: ChainOptions): Place {
  const size = assertAllowed(spec);
  const context: CodecContext = { spec, itemSize: itemSizeOf(spec), endian: "little" };
  if (isFixed(spec.dataType)) return { context, isBytes: false, size, maxSize: size };
  const { maxVariableSize = MAX_CHUNK_SIZE } = options;
  return { context, isBytes: false, size: undefined, maxSize: maxVariableSize };
}

function after(codec: Codec, place: Place, { configuration }: CodecConfig): Place {
  const { context } = place;
  switch (codec.kind) {
    case "array-to-array":
      return { ...place, context: contextOf(context, codec.encodedSpec(context.spec)) };
    case "array-to-bytes": {
      const size = codec.encodedSize;
      const endian = configuration.endian === "big" ? "big" : "little";
      const { maxEncodedSize } = codec;
      const isBounded = maxEncodedSize !== undefined && isFixed(context.spec.dataType);
      const maxSize = isBounded ? foreignSizeBound(maxEncodedSize) : place.maxSize;
      const next = inItems(context, codec.encodedDataType);
      return { context: { ...next, endian }, isBytes: true, size, maxSize: size ?? maxSize };
    }
    case "bytes-to-bytes": {
      const bound = assertLength(
        codec.maxEncodedSize(place.maxSize),
        Number.MAX_SAFE_INTEGER,
        "maximum encoded size",
      );
      const fixed = place.size === undefined ? undefined : codec.fixedEncodedSize?.(place.size);
      const size = fixed === undefined ? undefined : assertLength(fixed, bound, "encoded size");
      const maxSize = size ?? foreignSizeBound(bound);
      return { context: inItems(context, codec.encodedDataType), isBytes: true, size, maxSize };
    }
  }
}

function inItems(context: CodecContext, dataType: FixedDataType = { kind: "raw", size: 1 }): CodecContext {
  return contextOf(context, { ...context.spec, dataType });
}

function contextOf(context: CodecContext, spec: ChunkSpec): CodecContext {
  assertAllowed(spec);
  return { ...context, spec, itemSize: itemSizeOf(spec) };
}

/** @throws `resource-limit` if the items of a chunk exceed the limit. */
function assertAllowed(spec: ChunkSpec): number {
  const size = product(spec.shape) * itemSizeOf(spec);
  if (size <= MAX_CHUNK_SIZE) return size;
  throw new ZarrflowError("resource-limit", "chunks of this shape exceed the limit of 2 GiB", {
    expected: MAX_CHUNK_SIZE,
    found: size,
  });
}

function itemSizeOf({ dataType }: ChunkSpec): number {
  return isFixed(dataType) ? dataType.size : 1;
}

/** Calls `run` and adds the codec at `pointer` to its errors, with the wrong setting if there is one. */
async function at<T>(config: CodecConfig, pointer: string, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!isZarrflowError(error)) throw error;
    const { setting } = error.details;
    throw error.addContext({
      codec: config.name,
      pointer: setting === undefined ? pointer : settingPointer(config, pointer, setting),
    });
  }
}

function assertKind({ kind, name }: Codec, isBytes: boolean, list: string): void {
  if (isBytes && kind !== "bytes-to-bytes")
    throw misplaced(`\`${name}\` needs an array, but gets bytes`, list);
  if (!isBytes && kind === "bytes-to-bytes")
    throw misplaced(`\`${name}\` needs bytes, but gets an array`, list);
}

function misplaced(reason: string, list: string): ZarrflowError {
  return new ZarrflowError("invalid-metadata", reason, {
    pointer: list,
    hint: "List the array-to-array codecs first, then one array-to-bytes codec, then the bytes-to-bytes codecs.",
  });
}

/** JSON pointer to a setting of a codec, present or not, in the document that names the codec at `pointer`. */
function settingPointer({ stated }: CodecConfig, pointer: string, setting: string): string {
  switch (stated?.zarrFormat) {
    case "v1":
      return isJsonObject(stated.json) && isJsonObject(stated.json.compression_opts)
        ? pointerTo("/compression_opts", setting)
        : "/compression_opts";
    case "v2":
      return pointerTo(pointer.replace(/\/id$/, ""), setting);
    case "v3-draft-2019":
    case "v3-draft-2020":
      return pointerTo(pointer.replace(/\/codec$/, "/configuration"), setting);
    default:
      return pointerTo(`${pointer}/configuration`, setting);
  }
}

/**
 * Takes the place of an unknown codec that a document allows readers to skip. Missing chunks still read as the fill
 * value; all other chunks can be neither read nor written.
 *
 * @param refusal the error for the codec
 */
function unknownCodec(refusal: ZarrflowError): BytesToBytesCodec {
  // Each chunk needs its own error, because its key and coords are added later.
  const fail = (): never => {
    throw ZarrflowError.like(refusal, { cause: refusal });
  };
  return {
    kind: "bytes-to-bytes",
    name: refusal.details.codec ?? "",
    maxEncodedSize: (decodedSize) => decodedSize,
    encodeInto: fail,
    decodeInto: fail,
  };
}

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
