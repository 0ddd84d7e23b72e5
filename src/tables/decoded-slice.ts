import type { ZarrArray } from "../hierarchy/node.ts";
import { type DecodedSliceValues, insideOf, type Slice } from "../hierarchy/slice.ts";
import { packingOf } from "../meta/conventions/cf/packing.ts";
import { describeDataType } from "../meta/data-type-name.ts";
import { numberKindOf } from "../meta/number-kinds.ts";
import { type Decoder, decoderOf } from "../run/slabs/decoder.ts";
import type { Slab } from "../run/slabs/growing-slab.ts";
import type { ValueDecodingOptions } from "../run/slabs/raw.ts";
import { typedValues } from "../run/slabs/typed-values.ts";
import type { Shift } from "../streams/selection.ts";
import { ZarrflowError } from "../util/errors.ts";
import { cStrides, product } from "../util/shape.ts";
import { writeSmallFloats } from "../util/small-floats.ts";

/** A slice with its decoder, which must receive all values once, in C order. */
export interface DecodedSlice {
  readonly slice: Slice;
  readonly decoder: Decoder;
}

/** Returns a slice with its decoder. @throws as `decoderOf` */
export function sliceDecoder(slice: Slice, options: ValueDecodingOptions): Promise<DecodedSlice> {
  return decodedSlice(slice, (array) => decoderOf(array, options));
}

/**
 * Returns a slice with its decoder. Shifted numbers, such as longitudes beyond a seam, are shifted after decoding if
 * that gives floats: a packed integer may be too small for them, and the valid range refers to stored numbers.
 */
export async function decodedSlice(
  slice: Slice,
  decoderFor: (array: ZarrArray) => Decoder,
): Promise<DecodedSlice> {
  const { array, resolved, close } = await insideOf(slice).open();
  try {
    const decoder = decoderFor(array);
    const { shift, shape } = resolved.selection;
    const isAfter = shift && decoder.decode && decoder.dataType.kind === "float";
    if (!isAfter) return { slice, decoder };
    const scale = packingOf(array.metadata.dataType, array.attributes)?.scale ?? 1;
    return { slice: insideOf(slice).stored(), decoder: shiftedAfter(decoder, shift, { shape, scale }) };
  } finally {
    await close();
  }
}

/** Reads a whole slice into memory and decodes it. @throws as `decoderOf`, and as `read` of the slice */
export async function decodedValues(
  slice: Slice,
  options: ValueDecodingOptions,
): Promise<DecodedSliceValues> {
  const { slice: stored, decoder } = await sliceDecoder(slice, options);
  const { data, shape, stride } = await stored.read();
  const dataType = describeDataType(decoder.dataType);
  return { data: decoder.decode ? decoder.decode(data) : data, dataType, shape, stride };
}

/** Shifts values after decoding. @param scale decoded size of one stored unit */
function shiftedAfter(
  decoder: Decoder,
  { dimension, runs }: Shift,
  { shape, scale }: { readonly shape: readonly number[]; readonly scale: number },
): Decoder {
  const stride = product(shape.slice(dimension + 1));
  const count = shape[dimension] ?? 1;
  let at = 0;
  return {
    ...decoder,
    decode(values) {
      const decoded = Float64Array.from((decoder.decode?.(values) ?? []) as Float64Array, (value, i) => {
        const result = Math.floor((at + i) / stride) % count;
        return value + (runs.findLast(({ from }) => from <= result)?.add ?? 0) * scale;
      });
      at += decoded.length;
      const isDouble = decoder.dataType.kind === "float" && decoder.dataType.size === 8;
      return isDouble ? decoded : Float32Array.from(decoded);
    },
  };
}

/** @throws `unsupported-operation` for values that become text */
export function assertNumbers({
  dataType,
  decode,
  whyText = "decoded values are text, which has no raw bytes",
}: Decoder): void {
  if (decode === undefined || dataType.kind !== "string") return;
  throw new ZarrflowError("unsupported-operation", whyText, {
    hint: "Omit --decode and --flags (in code decode, flags) to write stored numbers, or use --format csv or json.",
  });
}

/**
 * Iterates over the slabs of a slice with decoded values.
 *
 * @throws `unsupported-operation` for values that become text
 */
export async function* decodedSlabs({ slice, decoder }: DecodedSlice): AsyncGenerator<Slab> {
  const { dataType, decode } = decoder;
  if (decode === undefined) {
    yield* slice.slabs();
    return;
  }
  assertNumbers(decoder);
  const stored = await slice.dataType();
  for await (const { region, data } of slice.slabs()) {
    const values = decode(typedValues(data, stored));
    if (!ArrayBuffer.isView(values))
      throw new TypeError(`${describeDataType(dataType)} values are not numbers`);
    const { bits } = numberKindOf(dataType) ?? {};
    const { shape } = data;
    const itemSize = "size" in dataType ? dataType.size : 1;
    const bytes = bits
      ? new Uint8Array(itemSize * product(shape))
      : new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    if (bits) writeSmallFloats(values as Float32Array, bytes, bits);
    yield { region, data: { kind: "fixed", bytes, itemSize, shape, strides: cStrides(shape) } };
  }
}
