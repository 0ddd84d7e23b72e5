import { describeDataType } from "../../../meta/describe.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import { toFloat16Bits } from "../../../util/float16.ts";
import { cStrides } from "../../../util/shape.ts";
import { insideOf, type Slice } from "../../slice.ts";
import type { Slab } from "../slab-queue.ts";
import { typedValues } from "../typed-values.ts";
import { type DecodeOptions, type Decoder, decoderOf } from "./decoder.ts";

/** How a slice's values are decoded. @throws as `decoderOf` */
export async function sliceDecoder(slice: Slice, options: DecodeOptions): Promise<Decoder> {
  const { array, close } = await insideOf(slice).open();
  try {
    return decoderOf(array, options);
  } finally {
    await close();
  }
}

/** @throws `unsupported-operation` for values that become text */
export function assertNumbers({
  dataType,
  decode,
  whyText = "decoded values are texts, which have no raw bytes",
}: Decoder): void {
  if (decode === undefined || dataType.kind !== "string") return;
  throw new ZarrflowError("unsupported-operation", whyText, {
    hint: "Omit --decode and --flags (in code decode, flags) for stored numbers, or use --format csv or json.",
  });
}

/**
 * The slabs of a slice with decoded values.
 *
 * @throws `unsupported-operation` for values that become text
 */
export async function* decodedSlabs(slice: Slice, decoder: Decoder): AsyncGenerator<Slab> {
  const { dataType, decode } = decoder;
  if (decode === undefined) {
    yield* slice.slabs();
    return;
  }
  assertNumbers(decoder);
  const stored = await slice.dataType();
  for await (const { region, data } of slice.slabs()) {
    const values = decode(typedValues(data, stored));
    const numbers =
      dataType.kind === "float" && dataType.size === 2
        ? Uint16Array.from(values as Float32Array, toFloat16Bits)
        : values;
    if (!ArrayBuffer.isView(numbers)) throw new TypeError(`${describeDataType(dataType)} are no numbers`);
    const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
    const { shape } = data;
    const itemSize = "size" in dataType ? dataType.size : 1;
    yield { region, data: { kind: "fixed", bytes, itemSize, shape, strides: cStrides(shape) } };
  }
}
