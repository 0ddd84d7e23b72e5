import type { JsonValue } from "../../util/json-value.ts";
import { type DataType, type Endian, hasByteOrder, isFixed } from "../data-type.ts";
import { numberKindOf } from "../number-kinds.ts";

/**
 * The NumPy form of a type stored in `endian`; a time's unit is written unchanged. Numbers of a type that NumPy lacks
 * are raw bytes.
 */
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
    case "fixed-text":
      return `${mark}U${dataType.size / 4}`;
    case "fixed-bytes":
      return `|S${dataType.size}`;
    case "raw":
      return `|V${dataType.size}`;
    default: {
      const { numpy } = numberKindOf(dataType);
      if (numpy === undefined) return `|V${dataType.size}`;
      const unit =
        "unit" in dataType ? `[${dataType.scale === 1 ? "" : dataType.scale}${dataType.unit}]` : "";
      return `${mark}${numpy}${unit}`;
    }
  }
}

/** Bytes per item of a NumPy type string; undefined if it is not one. */
export function numpyItemSize(type: JsonValue | undefined): number | undefined {
  const [, , kind, digits] = typeof type === "string" ? (TYPE.exec(type) ?? []) : [];
  return kind === undefined ? undefined : Number(digits) * (kind === "U" ? 4 : 1);
}

export const TYPE = /^([<>|])([biufcmMSUV])([0-9]+)(?:\[([0-9]*)([^\]]*)\])?$/;
