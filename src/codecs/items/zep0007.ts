import type { Buffers } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { product } from "../../util/shape.ts";
import type { ChunkData, VariableData } from "../chunk-data.ts";
import type { ArrayToBytesCodec, CodecFactory } from "../codec.ts";
import { ConfigReader } from "../config-reader.ts";
import { wordView } from "../kernels/swap-bytes.ts";
import { corrupt } from "../limits.ts";
import { assertStrings, assertVariable } from "./packed-items.ts";

/** The items start at a multiple of this. */
const ALIGNMENT = 64;
const MAX_OFFSET = 2 ** 31 - 1;

/**
 * The layout of ZEP 7 for strings and bytes of any length:
 *
 * - the start of each item and the end of the last one, as signed integers of `offset_size` bytes
 * - zeros up to a multiple of 64
 * - the items
 *
 * Checks all offsets before it returns any item.
 */
export const createZep0007: CodecFactory = (configuration, { spec: { dataType, shape } }) => {
  const width = new ConfigReader(configuration).integer("offset_size", 4, 8, 4);
  if (width !== 4 && width !== 8) {
    throw new ZarrflowError("invalid-metadata", "`offset_size` must be 4 or 8", { found: width });
  }
  if (dataType.kind !== "string" && dataType.kind !== "binary") {
    throw new ZarrflowError(
      "invalid-metadata",
      `the ZEP 7 layout cannot hold items of type ${dataType.kind}`,
    );
  }
  const items = product(shape);
  return {
    kind: "array-to-bytes",
    name: "zep0007",
    encodedSize: undefined,
    decode(bytes) {
      const data: VariableData = { kind: "variable", ...takeItems(bytes, items, width), shape };
      if (dataType.kind === "string") assertStrings(data);
      return data;
    },
    encode: (data, buffers) => allocate(data, width, buffers),
  } satisfies ArrayToBytesCodec;
};

function takeItems(bytes: Uint8Array, items: number, width: 4 | 8): Pick<VariableData, "bytes" | "offsets"> {
  const offsetsSize = (items + 1) * width;
  if (bytes.length < offsetsSize) {
    throw corrupt("the offsets are truncated", { expected: `${offsetsSize} bytes`, found: bytes.length });
  }
  const start = dataStart(items, width);
  const available = Math.max(0, bytes.length - start);
  const offsets = readOffsets(bytes, items, width, available);
  const first = offsets[0] ?? 0;
  for (let i = 0; first > 0 && i <= items; i++) offsets[i] = (offsets[i] as number) - first;
  const from = Math.min(start + first, bytes.length);
  return { bytes: bytes.subarray(from, from + (offsets[items] ?? 0)), offsets };
}

/** @throws `corrupt-chunk` naming the first offset that is negative, below the previous one, or beyond the data. */
function readOffsets(bytes: Uint8Array, items: number, width: 4 | 8, available: number): Uint32Array {
  const words = wordView(bytes);
  const offsets = new Uint32Array(items + 1);
  let previous = 0;
  for (let i = 0; i <= items; i++) {
    const offset = words.getUint32(i * width, true);
    const high = width === 8 ? words.getInt32(i * width + 4, true) : offset | 0;
    if (high < 0) throw corrupt(`offset ${i} is negative`);
    if ((width === 8 && high > 0) || offset > available) {
      const found = width === 8 ? String(words.getBigInt64(i * width, true)) : offset;
      throw corrupt(`offset ${i} is beyond the data`, { expected: `at most ${available}`, found });
    }
    if (offset < previous) {
      throw corrupt(`offset ${i} is less than the previous one`, {
        expected: `at least ${previous}`,
        found: offset,
      });
    }
    offsets[i] = offset;
    previous = offset;
  }
  return offsets;
}

function allocate(chunk: ChunkData, width: 4 | 8, buffers: Buffers): Uint8Array {
  const { bytes, offsets } = assertVariable("zep0007", chunk);
  const items = offsets.length - 1;
  const first = offsets[0] ?? 0;
  const size = (offsets[items] ?? 0) - first;
  const start = dataStart(items, width);
  if (size > MAX_OFFSET) {
    throw new ZarrflowError("codec-error", "the items are too large for 4-byte offsets", {
      expected: `at most ${MAX_OFFSET} bytes`,
      found: size,
      hint: "Use smaller chunks, or the data type LargeString or LargeBinary.",
    });
  }
  const encoded = buffers.take(start + size);
  const words = wordView(encoded);
  for (let i = 0; i <= items; i++) {
    words.setUint32(i * width, (offsets[i] as number) - first, true);
    if (width === 8) words.setUint32(i * width + 4, 0, true);
  }
  encoded.fill(0, (items + 1) * width, start);
  encoded.set(bytes.subarray(first, first + size), start);
  buffers.give(bytes);
  return encoded;
}

function dataStart(items: number, width: number): number {
  return Math.ceil(((items + 1) * width) / ALIGNMENT) * ALIGNMENT;
}
