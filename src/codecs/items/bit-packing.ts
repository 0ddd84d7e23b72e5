import { isNumber, numbersPerItem } from "../../meta/number-kinds.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { cStrides, product } from "../../util/shape.ts";
import type { ArrayToBytesCodec, CodecFactory } from "../codec.ts";
import { ConfigReader } from "../config-reader.ts";
import { corrupt } from "../limits.ts";

/**
 * `packbits` of v3: packs the bits `first_bit` to `last_bit` of each number, lowest first within each byte. With
 * `padding_encoding`, a byte before or after them counts the zero bits that pad the last byte. Decoded signed integers
 * keep their sign; bits outside the range are lost.
 */
export const createBitPacking: CodecFactory = (configuration, { spec: { dataType, shape } }) => {
  const settings = new ConfigReader(configuration);
  if (!isNumber(dataType) || "unit" in dataType) {
    throw new ZarrflowError("invalid-metadata", `\`packbits\` cannot hold items of type ${dataType.kind}`);
  }
  const parts = numbersPerItem(dataType);
  const width = dataType.kind === "bool" ? 1 : (8 * dataType.size) / parts;
  const first = settings.integer("first_bit", 0, width - 1, 0);
  const last = settings.integer("last_bit", first, width - 1, width - 1);
  const padding = settings.word("padding_encoding", ["none", "first_byte", "last_byte"], "none");
  const layout: Layout = {
    items: product(shape) * parts,
    bytes: dataType.size / parts,
    first,
    bits: last - first + 1,
    isSigned: dataType.kind === "int",
  };
  const decodedSize = layout.items * layout.bytes;
  const packedSize = Math.ceil((layout.items * layout.bits) / 8);
  const encodedSize = packedSize + (padding === "none" ? 0 : 1);
  const start = padding === "first_byte" ? 1 : 0;
  const countAt = padding === "first_byte" ? 0 : packedSize;
  const paddingBits = packedSize * 8 - layout.items * layout.bits;
  return {
    kind: "array-to-bytes",
    name: "packbits",
    encodedSize,
    maxEncodedSize: encodedSize,
    decode(bytes, buffers) {
      if (bytes.length !== encodedSize) {
        throw corrupt("the length of the chunk does not match its number of bits", {
          expected: encodedSize,
          found: bytes.length,
        });
      }
      if (padding !== "none" && bytes[countAt] !== paddingBits) {
        throw corrupt("the stated number of padding bits is wrong", {
          expected: paddingBits,
          found: bytes[countAt] ?? 0,
        });
      }
      const items = buffers.take(decodedSize);
      items.fill(0);
      unpack(bytes.subarray(start, start + packedSize), items, layout);
      buffers.give(bytes);
      return { kind: "fixed", bytes: items, itemSize: dataType.size, shape, strides: cStrides(shape) };
    },
    encode(data, buffers) {
      if (data.kind !== "fixed" || data.bytes.length !== decodedSize) {
        throw new ZarrflowError("codec-error", "the data is not a complete chunk of fixed-size items", {
          expected: decodedSize,
          found: data.bytes.length,
        });
      }
      const encoded = buffers.take(encodedSize);
      encoded.fill(0);
      pack(data.bytes, encoded.subarray(start, start + packedSize), layout);
      if (padding !== "none") encoded[countAt] = paddingBits;
      buffers.give(data.bytes);
      return encoded;
    },
  } satisfies ArrayToBytesCodec;
};

interface Layout {
  /** Numbers in the chunk; a complex number counts as two. */
  readonly items: number;
  /** Bytes of a number. */
  readonly bytes: number;
  /** The lowest stored bit of each number. */
  readonly first: number;
  /** Stored bits of each number. */
  readonly bits: number;
  readonly isSigned: boolean;
}

function pack(items: Uint8Array, packed: Uint8Array, { items: count, bytes, first, bits }: Layout): void {
  copyBits(items, packed, count, { from: 8 * bytes, to: bits, skip: first, keep: 0, bits });
}

function unpack(
  packed: Uint8Array,
  items: Uint8Array,
  { items: count, bytes, first, bits, isSigned }: Layout,
): void {
  copyBits(packed, items, count, { from: bits, to: 8 * bytes, skip: 0, keep: first, bits });
  const sign = first + bits - 1;
  if (!isSigned || sign === 8 * bytes - 1) return;
  for (let item = 0; item < items.length; item += bytes) {
    const byte = item + (sign >>> 3);
    if (((items[byte] as number) >>> (sign & 7)) & 1) {
      items[byte] = (items[byte] as number) | (0xfe << (sign & 7));
      items.fill(0xff, byte + 1, item + bytes);
    }
  }
}

interface BitRuns {
  /** Distance in bits from one run to the next, in the source and in the target. */
  readonly from: number;
  readonly to: number;
  /** Bits before each run in its slot, in the source and in the target. */
  readonly skip: number;
  readonly keep: number;
  /** Bits of a run. */
  readonly bits: number;
}

/** Copies runs of bits to a target filled with zeros; the lowest bit of a byte comes first. */
function copyBits(
  source: Uint8Array,
  target: Uint8Array,
  runs: number,
  { from, to, skip, keep, bits }: BitRuns,
): void {
  for (let run = 0; run < runs; run++) {
    let s = run * from + skip;
    let t = run * to + keep;
    for (let left = bits; left > 0; ) {
      const n = Math.min(left, 8 - (s % 8), 8 - (t % 8));
      const piece = ((source[Math.floor(s / 8)] as number) >>> (s % 8)) & (0xff >>> (8 - n));
      const at = Math.floor(t / 8);
      target[at] = (target[at] as number) | (piece << (t % 8));
      s += n;
      t += n;
      left -= n;
    }
  }
}
