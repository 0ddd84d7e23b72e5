import type { DataType } from "../../meta/data-type.ts";
import type { Buffers } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { product } from "../../util/shape.ts";
import type { ChunkData, VariableData } from "../chunk-data.ts";
import type { ArrayToBytesCodec, CodecContext, CodecFactory } from "../codec.ts";
import { wordsOf } from "../kernels/swap-bytes.ts";
import { corrupt } from "../limits.ts";
import { assertStrings, assertVariable } from "./packed-items.ts";

const COUNT_SIZE = 4;
const LENGTH_SIZE = 4;

export interface VlenCodec extends ArrayToBytesCodec {
  decode(bytes: Uint8Array, buffers: Buffers): VariableData;
  encode(data: ChunkData, buffers: Buffers): Uint8Array;
}

/**
 * Items of varying length: their count as u32le, then each item after its length as u32le. Decoding packs the items in
 * place.
 *
 * @param check called with the packed items before they are returned.
 */
export function vlenCodec(
  name: string,
  { spec: { dataType, shape } }: CodecContext,
  kind: DataType["kind"],
  check: (data: VariableData) => void,
): VlenCodec {
  if (dataType.kind !== kind) {
    throw new ZarrflowError("invalid-metadata", `\`${name}\` cannot hold items of type ${dataType.kind}`);
  }
  const items = product(shape);
  return {
    kind: "array-to-bytes",
    name,
    encodedSize: undefined,
    statedItems: countOf,
    decode(bytes) {
      const data: VariableData = { kind: "variable", ...pack(bytes, items), shape };
      check(data);
      return data;
    },
    encode: (data, buffers) => unpack(name, data, buffers),
  };
}

/** Moves the items together, over their lengths. Checks all lengths before it moves a byte. */
function pack(bytes: Uint8Array, items: number): { bytes: Uint8Array; offsets: Uint32Array } {
  const count = countOf(bytes);
  if (count !== items) {
    throw corrupt("the chunk has a wrong number of items", { expected: items, found: count });
  }
  const words = wordsOf(bytes);
  const offsets = new Uint32Array(items + 1);
  let s = COUNT_SIZE;
  for (let i = 0; i < items; i++) {
    const length = s + LENGTH_SIZE <= bytes.length ? words.getUint32(s, true) : Number.POSITIVE_INFINITY;
    s += LENGTH_SIZE + length;
    if (s > bytes.length) throw corrupt(`item ${i} extends beyond the chunk`, { found: bytes.length });
    offsets[i + 1] = (offsets[i] as number) + length;
  }
  if (s < bytes.length) {
    throw corrupt("bytes follow the last item", { expected: s, found: bytes.length });
  }
  for (let i = 0; i < items; i++) {
    const start = offsets[i] as number;
    const from = COUNT_SIZE + LENGTH_SIZE * (i + 1) + start;
    bytes.copyWithin(start, from, from + (offsets[i + 1] as number) - start);
  }
  return { bytes: bytes.subarray(0, offsets[items]), offsets };
}

/** Reads the count at the start and checks it against the available bytes: each item has at least a length. */
function countOf(bytes: Uint8Array): number {
  if (bytes.length < COUNT_SIZE) {
    throw corrupt("the count of items is cut off", { expected: COUNT_SIZE, found: bytes.length });
  }
  const count = wordsOf(bytes).getUint32(0, true);
  const least = COUNT_SIZE + LENGTH_SIZE * count;
  if (bytes.length >= least) return count;
  throw corrupt("the items are cut off", { expected: `at least ${least} bytes`, found: bytes.length });
}

function unpack(name: string, data: ChunkData, buffers: Buffers): Uint8Array {
  const { offsets } = assertVariable(name, data);
  const items = offsets.length - 1;
  const first = offsets[0] ?? 0;
  const encoded = buffers.take(COUNT_SIZE + LENGTH_SIZE * items + (offsets[items] ?? 0) - first);
  const words = wordsOf(encoded);
  words.setUint32(0, items, true);
  let t = COUNT_SIZE;
  for (let i = 0; i < items; i++) {
    const start = offsets[i] as number;
    const end = offsets[i + 1] as number;
    words.setUint32(t, end - start, true);
    encoded.set(data.bytes.subarray(start, end), t + LENGTH_SIZE);
    t += LENGTH_SIZE + end - start;
  }
  buffers.give(data.bytes);
  return encoded;
}

/** `vlen-bytes`: any bytes. */
export const createVlenBytes: CodecFactory = (_, context) =>
  vlenCodec("vlen-bytes", context, "binary", () => {});

/** `vlen-utf8`: strings as UTF-8, each checked on its own. */
export const createVlenUtf8: CodecFactory = (_, context) =>
  vlenCodec("vlen-utf8", context, "string", assertStrings);
