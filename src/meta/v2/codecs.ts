import { codecNamed, knownCodecs, nameOfV2 } from "../../codecs/catalog.ts";
import { type JsonObject, type JsonValue, jsonEqual, pointerTo } from "../../util/json-value.ts";
import type { ArrayMetadata, CodecConfig } from "../array-metadata.ts";
import { assertCodecList, assertObject, invalidMetadata, member, refusal } from "../assert-json.ts";
import { isCompressor } from "../codec-traits.ts";
import { type DataType, type Endian, hasByteOrder, isFixed } from "../data-type.ts";
import type { Losses } from "../documents.ts";
import { canonicalConfiguration, isNumberAsText, numcodecsConfiguration } from "./configuration.ts";
import type { StoredType } from "./data-type.ts";

/** The members of `.zarray` that become codecs. */
export interface V2Coding {
  readonly order: MemoryOrder;
  readonly filters: JsonValue;
  readonly compressor: JsonValue;
}

/** The type of the objects that a codec turns into bytes; undefined for other codecs. */
export function objectType(codec: string): DataType | undefined {
  const kind = codecNamed(codec)?.objects;
  return kind && { kind };
}

/**
 * Filters that zarr-python 3.0 gave to text and bytes of fixed length; the filter defines the encoding, not the
 * length.
 */
const VLEN_OF = { "fixed-text": "vlen-utf8", "fixed-bytes": "vlen-bytes" } as const;

function isStoredByLength({ kind }: DataType, first: CodecConfig | undefined): boolean {
  return (kind === "fixed-text" || kind === "fixed-bytes") && first?.name === VLEN_OF[kind];
}

/**
 * Reads the codec list: a transpose for `order`, the byte order or the object codec, filters, compressor. Also
 * returns the data type. It depends on the first filter for `|O`, and for text or bytes of fixed length that this
 * filter stores as objects.
 *
 * @throws `invalid-metadata`, `unsupported-codec`.
 */
export function parseV2Codecs(
  { order, filters, compressor }: V2Coding,
  { dataType, endian }: StoredType,
  rank: number,
): { readonly codecs: CodecConfig[]; readonly dataType: DataType } {
  const list = filters === null ? [] : assertCodecList(filters, "/filters");
  const parsed = list.map((filter, i) => parseV2Codec(filter, pointerTo("/filters", i)));
  if (compressor !== null) parsed.push(parseV2Codec(compressor, "/compressor"));
  const [first] = list.length > 0 ? parsed : [];
  const transpose = first && codecNamed(first.name)?.orderless ? [] : transposesOf(order, rank);
  if (isFixed(dataType) && !isStoredByLength(dataType, first)) {
    const bytes: CodecConfig = { name: "bytes", configuration: endian ? { endian } : {} };
    return { codecs: [...transpose, bytes, ...parsed], dataType };
  }
  const objects = first && objectType(first.name);
  if (objects === undefined) {
    const names = knownCodecs().flatMap((codec) => (codec.objects ? codec.name : []));
    throw invalidMetadata("/filters", `objects need a first filter: ${names.join(", ")}`, filters);
  }
  return { codecs: [...transpose, ...parsed], dataType: objects };
}

/** Writes a codec list as members of `.zarray`, and returns the byte order of its items. */
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

  // The object codec is the first filter; the byte order is part of the data type.
  const start = bytes.name === "bytes" ? toBytes + 1 : toBytes;
  if (order === "F" && codecNamed(codecs[start]?.name ?? "")?.orderless) {
    losses.require(pointerAt(0), `an order before \`${codecs[start]?.name}\``);
  }
  const written = codecs.slice(start).map((codec, i) => writeV2Codec(codec, pointerAt(start + i), losses));
  const last = codecs.at(-1);
  const compressor = last !== bytes && last !== undefined && standsLast(last) ? written.pop() : undefined;
  return {
    order: order ?? "C",
    filters: written.length > 0 ? written : null,
    compressor: compressor ?? null,
    endian: endianOf(bytes, dataType),
  };
}

function makesBytes({ name }: CodecConfig, dataType: DataType): boolean {
  return isFixed(dataType) ? name === "bytes" : objectType(name)?.kind === dataType.kind;
}

/** True if the codec is written as the compressor; a codec from a v2 document keeps its former place. */
function standsLast(codec: CodecConfig): boolean {
  if (codec.stated?.zarrFormat === "v2") return codec.stated.pointer.startsWith("/compressor");
  return isCompressor(codec, true);
}

function endianOf({ configuration }: { configuration: JsonObject }, dataType: DataType): Endian | undefined {
  if (!isFixed(dataType) || !hasByteOrder(dataType)) return undefined;
  return configuration.endian === "big" ? "big" : "little";
}

/**
 * Reads one filter or compressor into its canonical form. Accepts unknown ids, but not `pickle`.
 *
 * @throws `invalid-metadata`, `unsupported-codec`.
 */
export function parseV2Codec(json: JsonValue, pointer: string): CodecConfig {
  const { id, ...configuration } = assertObject(json, pointer);
  const idPointer = `${pointer}/id`;
  if (typeof id !== "string") throw invalidMetadata(idPointer, "a codec needs an `id`", id);
  if (id === "pickle") {
    throw refusal(
      "unsupported-codec",
      idPointer,
      "`pickle` is not supported, because reading it can run arbitrary code",
      id,
    );
  }
  const name = nameOfV2(id);
  // The canonical name of a codec that v2 lacks.
  if (name === undefined && codecNamed(id) !== undefined) {
    throw refusal("unsupported-codec", idPointer, "the codec is not known", id);
  }
  return {
    name: name ?? id,
    configuration: canonicalConfiguration(id, configuration),
    stated: { zarrFormat: "v2", json, pointer: idPointer },
  };
}

/** Writes the v2 form of a codec. Keeps the original form if every reader still understands it in the same way. */
export function writeV2Codec(codec: CodecConfig, pointer: string, losses: Losses): JsonObject {
  const { stated } = codec;
  if (stated?.zarrFormat === "v2") {
    const parsed = parseV2Codec(stated.json, stated.pointer);
    const json = assertObject(stated.json, pointer);
    const hasText = Object.entries(json).some(([name, value]) => isNumberAsText(name, value));
    const isSame = parsed.name === codec.name && jsonEqual(parsed.configuration, codec.configuration);
    if (isSame && !hasText) return json;
  }
  const id = codecNamed(codec.name)?.aliases.v2;
  if (id === undefined) losses.require(pointer, `the codec \`${codec.name}\``);
  return { id: id ?? codec.name, ...numcodecsConfiguration(codec) };
}

/** Order of the items in a chunk, expressed in codec lists by a `transpose`. */
export type MemoryOrder = "C" | "F";

/** The codecs that arrange items in `order`. */
export function transposesOf(order: MemoryOrder, rank: number): CodecConfig[] {
  if (order === "C" || rank < 2) return [];
  return [
    {
      name: "transpose",
      configuration: { order: Array.from({ length: rank }, (_, d) => rank - 1 - d) },
    },
  ];
}

/** Returns C without transposition, F for reversed dimensions; undefined for any other order. */
export function orderOf(codecs: readonly CodecConfig[], rank: number): MemoryOrder | undefined {
  const transposes = codecs.filter(({ name }) => name === "transpose");
  const [only, ...more] = transposes.map(({ configuration }) => member(configuration, "order"));
  if (only === undefined) return "C";
  if (!Array.isArray(only) || more.length > 0) return undefined;
  if (only.every((d, i) => d === i)) return "C";
  return only.every((d, i) => d === rank - 1 - i) ? "F" : undefined;
}

/** Changes an order other than C and F, which formats before v3 lack, to C. */
export function inMemoryOrder(metadata: ArrayMetadata): ArrayMetadata {
  const { codecs, shape } = metadata;
  if (orderOf(codecs, shape.length) !== undefined) return metadata;
  return { ...metadata, codecs: codecs.filter(({ name }) => name !== "transpose") };
}
