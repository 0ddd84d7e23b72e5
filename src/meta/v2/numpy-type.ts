import type { JsonValue } from "../../util/json-value.ts";
import { type DataType, type Endian, isFixed } from "../data-type.ts";
import { hasByteOrder } from "../element-order.ts";

const LETTERS = { bool: "b", int: "i", uint: "u", float: "f", complex: "c", "fixed-bytes": "S", raw: "V" };

/** The NumPy form of a type stored in `endian`; a time's unit is written unchanged. */
export function writeNumpyType(dataType: DataType, endian: Endian | undefined): JsonValue {
  if (!isFixed(dataType)) return "|O";
  if (dataType.kind === "struct") {
    return dataType.fields.map((field) => {
      const type = writeNumpyType(field.dataType, field.endian ?? endian);
      return field.shape ? [field.name, type, [...field.shape]] : [field.name, type];
    });
  }
  const mark = !hasByteOrder(dataType) ? "|" : endian === "big" ? ">" : "<";
  switch (dataType.kind) {
    case "datetime":
    case "timedelta": {
      const letter = dataType.kind === "datetime" ? "M" : "m";
      return `${mark}${letter}8[${dataType.scale === 1 ? "" : dataType.scale}${dataType.unit}]`;
    }
    case "fixed-text":
      return `${mark}U${dataType.size / 4}`;
    default:
      return `${mark}${LETTERS[dataType.kind]}${dataType.size}`;
  }
}

/** Bytes per element of a NumPy type string; undefined if it is not one. */
export function numpyItemSize(type: JsonValue | undefined): number | undefined {
  const [, , kind, digits] = typeof type === "string" ? (TYPE.exec(type) ?? []) : [];
  return kind === undefined ? undefined : Number(digits) * (kind === "U" ? 4 : 1);
}

export const TYPE = /^([<>|])([biufcmMSUV])([0-9]+)(?:\[([0-9]*)([^\]]*)\])?$/;
