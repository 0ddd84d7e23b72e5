import { codecNamed } from "../codecs/catalog.ts";
import { describeSettings } from "../codecs/descriptor.ts";
import type { CodecConfig } from "./array-metadata.ts";
import type { DataType, Field } from "./data-type.ts";
import { numberKindOf } from "./number-kinds.ts";
import { innerCodecs } from "./v3/sharding.ts";

/** Formats a codec for people: `blosc(lz4, 5, shuffle)`, `delta(dtype=<i4)`, `crc32c`. */
export function describeCodec({ name, configuration }: CodecConfig): string {
  const { describe = describeSettings, nested } = codecNamed(name) ?? {};
  const words = describe(configuration);
  const inner = nested === undefined ? [] : innerCodecs(configuration[nested]).map(describeCodec);
  const all = [words, inner.join(" + ")].filter(Boolean).join(", ");
  return all === "" ? name : `${name}(${all})`;
}

/**
 * Formats a data type for people, with v3's names, or NumPy's if v3 has none as short: `float32`, `datetime64[ns]`,
 * `S12`, `U5`, `struct{x: int32, y: float64}`.
 */
export function describeDataType(dataType: DataType): string {
  switch (dataType.kind) {
    case "string":
    case "binary":
    case "object":
      return dataType.kind;
    case "datetime":
    case "timedelta":
      return `${dataType.kind}64[${dataType.scale === 1 ? "" : dataType.scale}${dataType.unit}]`;
    case "fixed-bytes":
      return `S${dataType.size}`;
    case "fixed-text":
      return `U${dataType.size / 4}`;
    case "raw":
      return `r${dataType.size * 8}`;
    case "struct":
      return `struct{${dataType.fields.map(describeField).join(", ")}}`;
    default:
      return numberKindOf(dataType).name;
  }
}

function describeField({ name, dataType, shape }: Field): string {
  return `${name || "padding"}: ${describeDataType(dataType)}${shape ? `[${shape.join(", ")}]` : ""}`;
}
