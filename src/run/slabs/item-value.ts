import type { DataType, Field } from "../../meta/data-type.ts";
import { decodeCodePoints, readString, trimZeros } from "../../meta/fill-values.ts";
import { numberKindOf } from "../../meta/number-kinds.ts";
import { JSON_VALUES, parseJson } from "../../util/json-parse.ts";
import { toPlain } from "../../util/json-value.ts";
import { product } from "../../util/shape.ts";

/**
 * Returns a function that converts the little-endian bytes of an item to a JavaScript value: boolean, number, bigint
 * (64-bit integers, datetimes), `[re, im]`, string, Uint8Array (bytes; trailing zeros of fixed-size bytes are removed),
 * or an object with a structure's named fields.
 */
export function itemReader(dataType: DataType): (view: DataView) => unknown {
  switch (dataType.kind) {
    case "bool":
      return (view) => view.getUint8(0) !== 0;
    case "complex": {
      const { read } = numberKindOf(dataType);
      return (view) => [read(view, 0), read(view, dataType.size / 2)];
    }
    case "fixed-bytes":
      return (view) => trimZeros(bytesOf(view)).slice();
    case "fixed-text":
      return (view) => decodeCodePoints(bytesOf(view)) ?? "";
    case "struct":
      return structReader(dataType.fields);
    case "string":
      return (view) => readString(bytesOf(view));
    case "object":
      return (view) => (view.byteLength === 0 ? null : toPlain(parseJson(bytesOf(view), JSON_VALUES)));
    case "raw":
    case "binary":
      return (view) => bytesOf(view).slice();
    default: {
      const { read } = numberKindOf(dataType);
      return (view) => read(view, 0);
    }
  }
}

function structReader(all: readonly Field[]): (view: DataView) => Record<string, unknown> {
  const fields = all.map(({ name, dataType, shape }) => ({
    name,
    size: "size" in dataType ? dataType.size : 0,
    items: shape && product(shape),
    toValue: itemReader(dataType),
  }));
  return (view) => {
    const values: [string, unknown][] = [];
    let at = view.byteOffset;
    for (const { name, size, items, toValue } of fields) {
      const read = () => {
        const value = toValue(new DataView(view.buffer, at, size));
        at += size;
        return value;
      };
      const value = items === undefined ? read() : Array.from({ length: items }, read);
      if (name !== "") values.push([name, value]);
    }
    return Object.fromEntries(values);
  };
}

function bytesOf(view: DataView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
