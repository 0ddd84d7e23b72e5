import { nameOf } from "../hierarchy/node.ts";
import { insideOf, type Slice } from "../hierarchy/slice.ts";
import { type DataType, isFixed, withoutFieldOrders } from "../meta/data-type.ts";
import { numberKindOf } from "../meta/number-kinds.ts";
import { writeNumpyType } from "../meta/v2/numpy-type.ts";
import { type FormatSliceOptions, rawPieces, type ValueDecodingOptions } from "../run/slabs/raw.ts";
import { StoredEncoder } from "../stores/zip/stored-encoder.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { JsonValue } from "../util/json-value.ts";
import { uniqueName } from "../util/names.ts";

/** Writes a slice as an `.npy` file: header, then items. Each piece is valid until the next one is requested. */
export async function* npyPieces(
  slice: Slice,
  options: ValueDecodingOptions = {},
): AsyncGenerator<Uint8Array> {
  if (!options.decode) {
    yield npyHeader(await slice.dataType(), await slice.shape());
    return yield* rawPieces(slice.slabs());
  }
  const { assertNumbers, decodedSlabs, sliceDecoder } = await import("./decoded-slice.ts");
  const decoded = await sliceDecoder(slice, options);
  assertNumbers(decoded.decoder);
  yield npyHeader(decoded.decoder.dataType, await slice.shape());
  yield* rawPieces(decodedSlabs(decoded));
}

const ALIGNMENT = 64;
const MAX_V1_LENGTH = 0xffff;

/**
 * Writes the header of an `.npy` file for little-endian items in C order. The version is 1.0, or 2.0 for longer
 * headers, or 3.0 for field names beyond Latin-1. The length is a multiple of 64.
 *
 * @throws `unsupported-operation` for strings and objects, which NumPy could only pickle.
 * @see https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
export function npyHeader(dataType: DataType, shape: readonly number[]): Uint8Array {
  if (!isFixed(dataType)) {
    throw new ZarrflowError("unsupported-operation", "npy files cannot contain strings or objects", {
      hint: "Use --format json, or csv for strings.",
    });
  }
  assertNumpyType(dataType);
  const descr = pythonLiteral(writeNumpyType(withoutFieldOrders(dataType), "little"), "field list");
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const dict = `{'descr': ${descr}, 'fortran_order': False, 'shape': (${sizes}), }`;
  const isLatin1 = [...dict].every((character) => character <= "\u00ff");
  const text = isLatin1 ? Uint8Array.from(dict, (c) => c.charCodeAt(0)) : new TextEncoder().encode(dict);
  const version = !isLatin1 ? 3 : paddedLength(text.length, 2) > MAX_V1_LENGTH ? 2 : 1;
  const lengthBytes = version === 1 ? 2 : 4;
  const padded = paddedLength(text.length, lengthBytes);

  const header = new Uint8Array(8 + lengthBytes + padded).fill(0x20);
  header.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, version, 0]);
  const view = new DataView(header.buffer);
  if (version === 1) view.setUint16(8, padded, true);
  else view.setUint32(8, padded, true);
  header.set(text, 8 + lengthBytes);
  header[header.length - 1] = 0x0a;
  return header;
}

/** @throws `unsupported-operation` for numbers that NumPy lacks, also as fields */
function assertNumpyType(dataType: DataType): void {
  if (dataType.kind === "struct") for (const field of dataType.fields) assertNumpyType(field.dataType);
  const kind = numberKindOf(dataType);
  if (kind === undefined || kind.numpy !== undefined) return;
  throw new ZarrflowError("unsupported-operation", `npy files cannot contain ${kind.name}`, {
    hint: "Use --format raw, or another data type.",
  });
}

/** Length of the text with padding and line feed, which makes the whole header a multiple of 64. */
function paddedLength(length: number, lengthBytes: number): number {
  const before = 8 + lengthBytes;
  return Math.ceil((before + length + 1) / ALIGNMENT) * ALIGNMENT - before;
}

/** A NumPy type as a Python literal: a string, or a list of tuples of name, type and possibly a shape. */
function pythonLiteral(json: JsonValue, as: "field list" | "field" | "shape"): string {
  if (typeof json === "string") return pythonString(json);
  if (!Array.isArray(json)) return String(json);
  if (as === "field list") return `[${json.map((field) => pythonLiteral(field, "field")).join(", ")}]`;
  if (as === "shape") return `(${json.map(String).join(", ")}${json.length === 1 ? "," : ""})`;
  const [name = "", type = "", shape] = json;
  const parts = [pythonLiteral(name, "field"), pythonLiteral(type, "field list")];
  return `(${[...parts, ...(shape === undefined ? [] : [pythonLiteral(shape, "shape")])].join(", ")})`;
}

function pythonString(text: string): string {
  const escaped = text.replace(/[\\']|\p{C}/gu, (character) => {
    if (character === "\\" || character === "'") return `\\${character}`;
    return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;
  });
  return `'${escaped}'`;
}

/** Writes slices as an `.npz` file: a zip with an `.npy` file for each slice, named after its array. */
export async function* npzPieces(
  slices: readonly Slice[],
  options: FormatSliceOptions,
): AsyncGenerator<Uint8Array> {
  const written: Uint8Array[] = [];
  const encoder = new StoredEncoder({
    write: async (bytes) => {
      written.push(bytes);
    },
    close: async () => {},
    abort: async () => {},
  });
  const names = new Set<string>();
  for (const slice of slices) {
    const name = await uniqueNameOf(slice, names);
    await encoder.begin(`${name}.npy`);
    yield* written.splice(0);
    for await (const piece of npyPieces(slice, options)) {
      await encoder.write(piece);
      yield* written.splice(0);
    }
    await encoder.end();
  }
  await encoder.finish();
  yield* written.splice(0);
}

async function uniqueNameOf(slice: Slice, taken: Set<string>): Promise<string> {
  const { array, close } = await insideOf(slice).open();
  await close();
  const name = uniqueName(nameOf(array), taken);
  taken.add(name);
  return name;
}
