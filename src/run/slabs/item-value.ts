import type { DataType, Field } from "../../meta/data-type.ts";
import { decodeCodePoints, readString, trimZeros } from "../../meta/fill-values.ts";
import { JSON_VALUES, parseJson } from "../../util/json-parse.ts";
import { toPlain } from "../../util/json-value.ts";
import { fromFloat16Bits } from "../../util/numbers.ts";
import { product } from "../../util/shape.ts";

/**
 * Converts an item to a JavaScript value: boolean, number, bigint (64-bit integers, datetimes), `[re, im]`, string,
 * Uint8Array (bytes; trailing zeros of fixed-size bytes are removed), or an object with a structure's named fields.
 *
 * @param view its little-endian bytes
 */
export function itemValue(dataType: DataType, view: DataView): unknown {
  switch (dataType.kind) {
    case "bool":
      return view.getUint8(0) !== 0;
    case "int":
      return readInt(view, dataType.size);
    case "uint":
      return readUint(view, dataType.size);
    case "float":
      return readFloat(view, 0, dataType.size);
    case "complex":
      return [readFloat(view, 0, dataType.size / 2), readFloat(view, dataType.size / 2, dataType.size / 2)];
    case "datetime":
    case "timedelta":
      return view.getBigInt64(0, true);
    case "fixed-bytes":
      return trimZeros(bytesOf(view)).slice();
    case "fixed-text":
      return decodeCodePoints(bytesOf(view)) ?? "";
    case "struct":
      return readFields(dataType.fields, view);
    case "string":
      return readString(bytesOf(view));
    case "object":
      return view.byteLength === 0 ? null : toPlain(parseJson(bytesOf(view), JSON_VALUES));
    case "raw":
    case "binary":
      return bytesOf(view).slice();
  }
}

function readInt(view: DataView, size: 1 | 2 | 4 | 8): number | bigint {
  if (size === 8) return view.getBigInt64(0, true);
  if (size === 4) return view.getInt32(0, true);
  return size === 2 ? view.getInt16(0, true) : view.getInt8(0);
}

function readUint(view: DataView, size: 1 | 2 | 4 | 8): number | bigint {
  if (size === 8) return view.getBigUint64(0, true);
  if (size === 4) return view.getUint32(0, true);
  return size === 2 ? view.getUint16(0, true) : view.getUint8(0);
}

function readFloat(view: DataView, at: number, size: number): number {
  if (size === 8) return view.getFloat64(at, true);
  return size === 4 ? view.getFloat32(at, true) : fromFloat16Bits(view.getUint16(at, true));
}

function readFields(fields: readonly Field[], view: DataView): Record<string, unknown> {
  const values: [string, unknown][] = [];
  let at = view.byteOffset;
  for (const { name, dataType, shape } of fields) {
    const size = "size" in dataType ? dataType.size : 0;
    const read = () => {
      const value = itemValue(dataType, new DataView(view.buffer, at, size));
      at += size;
      return value;
    };
    const value = shape ? Array.from({ length: product(shape) }, read) : read();
    if (name !== "") values.push([name, value]);
  }
  return Object.fromEntries(values);
}

function bytesOf(view: DataView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
