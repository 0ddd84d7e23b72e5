import type { Buffers } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { JsonNumber, type JsonValue } from "../../util/json-value.ts";
import { cStrides } from "../../util/shape.ts";
import type { ChunkData, FixedData, VariableData } from "../chunk-data.ts";
import type { ArrayToArrayCodec, ChunkSpec, CodecFactory } from "../codec.ts";
import { ConfigReader } from "../config-reader.ts";

/**
 * `transpose`: dimension `i` of the encoded array is dimension `order[i]` of the decoded array. Fixed data only get
 * other strides. Variable data are always in C order, so their items are moved.
 */
export const createTranspose: CodecFactory = (configuration, { spec }) => {
  const order = permutation(new ConfigReader(configuration).value("order"), spec.shape.length);
  const inverse = order.map((_, d) => order.indexOf(d));
  return {
    kind: "array-to-array",
    name: "transpose",
    encodedSpec: (decoded): ChunkSpec => ({ ...decoded, shape: permute(decoded.shape, order) }),
    encode: (data, buffers) => transpose(data, order, buffers),
    decode: (data, buffers) => transpose(data, inverse, buffers),
  } satisfies ArrayToArrayCodec;
};

function transpose(data: ChunkData, order: readonly number[], buffers: Buffers): ChunkData {
  return data.kind === "fixed" ? permuteStrides(data, order) : move(data, order, buffers);
}

function permuteStrides(data: FixedData, order: readonly number[]): FixedData {
  return { ...data, shape: permute(data.shape, order), strides: permute(data.strides, order) };
}

function move(data: VariableData, order: readonly number[], buffers: Buffers): VariableData {
  const shape = permute(data.shape, order);
  const strides = permute(cStrides(data.shape), order);
  const bytes = buffers.take(data.bytes.length);
  const offsets = new Uint32Array(data.offsets.length);
  const coords = shape.map(() => 0);
  let item = 0;
  let end = 0;
  for (let i = 0; i + 1 < offsets.length; i++) {
    const start = data.offsets[item] ?? 0;
    const stop = data.offsets[item + 1] ?? 0;
    bytes.set(data.bytes.subarray(start, stop), end);
    end += stop - start;
    offsets[i + 1] = end;
    item = next(item, coords, shape, strides);
  }
  buffers.give(data.bytes);
  return { kind: "variable", bytes: bytes.subarray(0, end), offsets, shape };
}

/** Advances `coords` by one item in C order. Returns the index of that item, given the index of the previous item. */
function next(item: number, coords: number[], shape: readonly number[], strides: readonly number[]): number {
  let index = item;
  for (let d = shape.length - 1; d >= 0; d--) {
    const stride = strides[d] ?? 0;
    const coord = (coords[d] ?? 0) + 1;
    if (coord < (shape[d] ?? 0)) {
      coords[d] = coord;
      return index + stride;
    }
    coords[d] = 0;
    index -= (coord - 1) * stride;
  }
  return index;
}

function permute(values: readonly number[], order: readonly number[]): number[] {
  return order.map((d) => values[d] ?? 0);
}

/** Reads `order`: a permutation, or `"C"` or `"F"` as written by older software. */
function permutation(order: JsonValue | undefined, rank: number): number[] {
  const dimensions = Array.from({ length: rank }, (_, d) => d);
  if (order === "C") return dimensions;
  if (order === "F") return dimensions.reverse();
  const numbers = Array.isArray(order)
    ? order.map((d) => (d instanceof JsonNumber ? Number(d.text) : d))
    : [];
  const isPermutation = numbers.length === rank && dimensions.every((d) => numbers.includes(d));
  if (Array.isArray(order) && isPermutation) return numbers as number[];
  throw new ZarrflowError(
    "invalid-metadata",
    `\`order\` must list each dimension from 0 to ${rank - 1} once`,
    { setting: "order", value: JSON.stringify(order) },
  );
}
