import { toPlain } from "../util/json-plain.ts";
import type { JsonValue } from "../util/json-value.ts";
import type { CodecConfig } from "./array-metadata.ts";
import type { DataType, Field } from "./data-type.ts";
import { innerCodecs } from "./v3-sharding.ts";

/** Members that say the most, named by their value alone. */
const TELLING = new Map<string, readonly string[]>([
  ["blosc", ["cname", "clevel", "shuffle"]],
  ["bytes", ["endian"]],
  ["transpose", ["order"]],
  ["zep0007", ["offset_size"]],
  ...["gzip", "zlib", "zstd", "bz2"].map((name): [string, readonly string[]] => [name, ["level"]]),
]);

/** A codec in words for people: `blosc(lz4, 5, shuffle)`, `delta(dtype=<i4)`, `crc32c`. */
export function describeCodec({ name, configuration }: CodecConfig): string {
  const telling = TELLING.get(name);
  if (name === "sharding_indexed") {
    const inner = innerCodecs(configuration.codecs).map(describeCodec);
    return `${name}(${describeValue(configuration.chunk_shape ?? null)}, ${inner.join(" + ")})`;
  }
  const words = telling
    ? telling.flatMap((member) =>
        configuration[member] === undefined ? [] : describeValue(configuration[member]),
      )
    : Object.entries(configuration).map(([member, value]) => `${member}=${describeValue(value)}`);
  return words.length === 0 ? name : `${name}(${words.join(", ")})`;
}

function describeValue(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(describeValue).join(", ")}]`;
  const plain = toPlain(value);
  return typeof plain === "object" ? JSON.stringify(plain) : String(plain);
}

/**
 * A data type in words for people: v3's names, and NumPy's where v3 has none as short: `float32`,
 * `datetime64[ns]`, `S12`, `U5`, `struct{x: int32, y: float64}`.
 */
export function describeDataType(dataType: DataType): string {
  switch (dataType.kind) {
    case "bool":
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
      return `${dataType.kind}${dataType.size * 8}`;
  }
}

function describeField({ name, dataType, shape }: Field): string {
  return `${name || "padding"}: ${describeDataType(dataType)}${shape ? `[${shape.join(", ")}]` : ""}`;
}
