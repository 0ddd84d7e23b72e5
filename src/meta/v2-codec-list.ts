import { pointerTo } from "../util/json-pointer.ts";
import type { JsonObject, JsonValue } from "../util/json-value.ts";
import type { CodecConfig } from "./array-metadata.ts";
import { type DataType, type Endian, isFixed } from "./data-type.ts";
import { hasByteOrder } from "./element-order.ts";
import { expectList, invalid } from "./expect.ts";
import type { Losses } from "./losses.ts";
import { type MemoryOrder, orderOf, transposesOf } from "./memory-order.ts";
import { parseV2Codec, writeV2Codec } from "./v2-codec.ts";
import type { StoredType } from "./v2-data-type.ts";

/** The members of `.zarray` that become codecs. */
export interface V2Coding {
  readonly order: MemoryOrder;
  readonly filters: JsonValue;
  readonly compressor: JsonValue;
}

/** What `|O` holds, by the filter that must come first. @see V2-56 */
const OBJECT_CODECS = new Map<string, DataType>([
  ["vlen-utf8", { kind: "string" }],
  ["vlen-bytes", { kind: "binary" }],
  ["categorize", { kind: "string" }],
  ["vlen-array", { kind: "object" }],
  ["json2", { kind: "object" }],
  ["msgpack2", { kind: "object" }],
]);

/** The type of the objects that a codec turns into bytes; undefined for other codecs. */
export function objectType(codec: string): DataType | undefined {
  return OBJECT_CODECS.get(codec);
}

/** Codecs that store items by their coords: a first filter of these leaves nothing to the order. */
const ORDERLESS = ["json2", "msgpack2"];

const COMPRESSORS = ["blosc", "zlib", "gzip", "bz2", "lzma", "zstd", "lz4"];

/**
 * The normal codec list: `order` as a transpose, the byte order or the object codec, filters, compressor; and the
 * data type, of which `|O` alone does not tell.
 *
 * @throws `invalid-metadata`, `unsupported-codec`.
 */
export function parseV2Codecs(
  { order, filters, compressor }: V2Coding,
  { dataType, endian }: StoredType,
  rank: number,
): { readonly codecs: CodecConfig[]; readonly dataType: DataType } {
  const list = filters === null ? [] : expectList(filters, "/filters");
  const parsed = list.map((filter, i) => parseV2Codec(filter, pointerTo("/filters", i)));
  if (compressor !== null) parsed.push(parseV2Codec(compressor, "/compressor"));
  const [first] = list.length > 0 ? parsed : [];
  const transpose = first && ORDERLESS.includes(first.name) ? [] : transposesOf(order, rank);
  if (isFixed(dataType)) {
    const bytes: CodecConfig = { name: "bytes", configuration: endian ? { endian } : {} };
    return { codecs: [...transpose, bytes, ...parsed], dataType };
  }
  const objects = first && OBJECT_CODECS.get(first.name);
  if (objects === undefined) {
    throw invalid(
      "/filters",
      `objects need a first filter: ${[...OBJECT_CODECS.keys()].join(", ")}`,
      filters,
    );
  }
  return { codecs: [...transpose, ...parsed], dataType: objects };
}

/** The coding of a normal codec list, and the byte order that it gives to elements. */
export function writeV2Codecs(
  codecs: readonly CodecConfig[],
  dataType: DataType,
  rank: number,
  losses: Losses,
): V2Coding & { readonly endian: Endian | undefined } {
  const pointerAt = (i: number) => codecs[i]?.stated?.pointer ?? pointerTo("/codecs", i);
  const toBytes = codecs.findIndex((codec) => makesBytes(codec, dataType));
  const inFront = toBytes < 0 ? codecs : codecs.slice(0, toBytes);
  const stranger = inFront.findIndex(({ name }) => name !== "transpose");
  if (stranger >= 0) losses.require(pointerAt(stranger), `the codec \`${codecs[stranger]?.name}\``);
  const order = orderOf(inFront, rank);
  if (order === undefined) losses.require(pointerAt(0), "an order other than C and F");
  const bytes = codecs[toBytes];
  if (bytes === undefined) return { order: "C", filters: null, compressor: null, endian: undefined };

  // The codec of objects is the first filter; the byte order is part of the data type.
  const start = bytes.name === "bytes" ? toBytes + 1 : toBytes;
  if (order === "F" && ORDERLESS.includes(codecs[start]?.name ?? "")) {
    losses.require(pointerAt(0), `an order in front of \`${codecs[start]?.name}\``);
  }
  const written = codecs.slice(start).map((codec, i) => writeV2Codec(codec, pointerAt(start + i), losses));
  const last = codecs.at(-1);
  const compressor = last !== bytes && last !== undefined && isCompressor(last) ? written.pop() : undefined;
  return {
    order: order ?? "C",
    filters: written.length > 0 ? written : null,
    compressor: compressor ?? null,
    endian: endianOf(bytes, dataType),
  };
}

function makesBytes({ name }: CodecConfig, dataType: DataType): boolean {
  return isFixed(dataType) ? name === "bytes" : OBJECT_CODECS.get(name)?.kind === dataType.kind;
}

/** Compressors stand last; one that a document had among its filters stays there. */
function isCompressor({ name, stated }: CodecConfig): boolean {
  if (stated?.dialect === "v2") return stated.pointer.startsWith("/compressor");
  return COMPRESSORS.includes(name);
}

function endianOf({ configuration }: { configuration: JsonObject }, dataType: DataType): Endian | undefined {
  if (!isFixed(dataType) || !hasByteOrder(dataType)) return undefined;
  return configuration.endian === "big" ? "big" : "little";
}
