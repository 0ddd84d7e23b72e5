import type { CodecConfig } from "../meta/array-metadata.ts";
import type { DataType } from "../meta/data-type.ts";
import { readString } from "../meta/fill-values.ts";
import { objectType } from "../meta/v2-codec-list.ts";
import { plainBuffers } from "../util/buffers.ts";
import { ZarrflowError } from "../util/errors.ts";
import { fromPlain, toPlain } from "../util/json-plain.ts";
import { writeJson } from "../util/json-write.ts";
import { packItems } from "./array-to-bytes/packed-items.ts";
import { parseItem } from "./array-to-bytes/tree-codec.ts";
import type { ChunkData } from "./chunk-data.ts";
import type { ArrayToBytesCodec, CodecContext } from "./codec.ts";
import { codecStep } from "./codec-step.ts";
import { MAX_CHUNK_SIZE } from "./limits.ts";
import { makeCodec } from "./registry.ts";

/** Strings, `Uint8Array`s or whatever JSON holds, as a codec of objects takes and gives them. */
export type ObjectValues = readonly unknown[];

/** What the values are that `config` encodes; undefined where it encodes bytes. */
export function valueTypeOf({ name, configuration }: CodecConfig): DataType | undefined {
  return name === "categorize" && configuration.dtype !== "|O" ? undefined : objectType(name);
}

/** The values that `bytes` hold, `count` where that is given. @throws as the codec. */
export async function decodeValues(
  config: CodecConfig,
  dataType: DataType,
  bytes: Uint8Array,
  count: number | undefined,
): Promise<unknown[]> {
  const { statedItems } = await objectCodec(config, dataType, 0);
  const codec = await objectCodec(config, dataType, count ?? statedItems?.(bytes) ?? 0);
  const step = codecStep(placed(codec), "decode", plainBuffers);
  // Decoding may work in place.
  const data = (await step(bytes.slice())) as ChunkData;
  if (data.kind !== "variable") return [];
  const { offsets } = data;
  return Array.from({ length: offsets.length - 1 }, (_, i) =>
    plainValue(data.bytes.subarray(offsets[i], offsets[i + 1]), dataType),
  );
}

/** @throws as the codec; `invalid-option` for what is no value of the codec's kind. */
export async function encodeValues(
  config: CodecConfig,
  dataType: DataType,
  values: ObjectValues,
): Promise<Uint8Array> {
  const codec = await objectCodec(config, dataType, values.length);
  const items = values.map((value) => bytesOf(value, dataType));
  const data = packItems(items, [values.length], plainBuffers);
  return (await codecStep(placed(codec), "encode", plainBuffers)(data)) as Uint8Array;
}

async function objectCodec(
  config: CodecConfig,
  dataType: DataType,
  items: number,
): Promise<ArrayToBytesCodec> {
  const spec = { shape: [items], dataType, fillValue: null };
  const context: CodecContext = { spec, itemSize: 1, endian: "little" };
  const codec = await makeCodec(config, context);
  if (codec.kind === "array-to-bytes") return codec;
  throw new ZarrflowError("invalid-option", "the codec does not hold values", { codec: config.name });
}

function placed(codec: ArrayToBytesCodec) {
  return { codec, decodedSize: undefined, maxDecodedSize: MAX_CHUNK_SIZE };
}

function plainValue(bytes: Uint8Array, { kind }: DataType): unknown {
  if (kind === "binary") return bytes.slice();
  return kind === "string" ? readString(bytes) : toPlain(parseItem(bytes));
}

function bytesOf(value: unknown, { kind }: DataType): Uint8Array {
  if (kind === "object") {
    return new TextEncoder().encode(writeJson(fromPlain(value), { nonFinite: "token" }));
  }
  if (kind === "binary" && value instanceof Uint8Array) return value;
  if (kind === "string" && typeof value === "string" && !/\p{Surrogate}/u.test(value)) {
    return new TextEncoder().encode(value);
  }
  throw new ZarrflowError("invalid-option", `this is no ${kind} value`, { value });
}
