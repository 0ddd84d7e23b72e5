import { codecNamed } from "../codecs/catalog.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { JsonObject, JsonValue } from "../util/json-value.ts";
import type { ArrayMetadata, CodecConfig } from "./array-metadata.ts";
import { type AskedCodecs, placeInList } from "./codec-option.ts";
import { compressorsOf } from "./codec-traits.ts";
import { type DataType, type Endian, type FixedDataType, hasByteOrder, isFixed } from "./data-type.ts";
import { describeDataType } from "./data-type-name.ts";
import { parseDataTypeOption } from "./data-type-option.ts";
import { numberKindOf } from "./number-kinds.ts";
import { parseNumpyType } from "./v2/data-type.ts";
import { numpyItemSize, writeNumpyType } from "./v2/numpy-type.ts";
import { filterTypes, itemType, placeFilter, typeAfter } from "./v3/codec.ts";
import { innerCodecs } from "./v3/sharding.ts";

/**
 * Replaces an array's codecs with requested ones, also within shards. The item order and the array -> bytes codec
 * stay unless the request includes them.
 *
 * @throws `invalid-option` for filters that cannot encode the array's items
 */
export function recoded(
  { codecs, dataType }: Pick<ArrayMetadata, "codecs" | "dataType">,
  asked: AskedCodecs,
): readonly CodecConfig[] {
  const shards = codecs.findIndex(({ name }) => name === "sharding_indexed");
  const sharding = codecs[shards];
  if (sharding) {
    const { name, configuration } = sharding;
    const type = typeAfter({ dataType }, codecs.slice(0, shards), "/codecs").dataType;
    const inner = recoded({ codecs: innerCodecs(configuration.codecs), dataType: type }, asked);
    const plain = inner.map((codec) => ({ name: codec.name, configuration: codec.configuration }));
    return codecs.with(shards, { name, configuration: { ...configuration, codecs: plain } });
  }
  return asked.isList ? withList(codecs, dataType, asked.codecs) : withCompressor(codecs, asked.codecs[0]);
}

/** Replaces the compressors by one or none; filters and checksums stay. */
function withCompressor(
  codecs: readonly CodecConfig[],
  compressor: CodecConfig | undefined,
): readonly CodecConfig[] {
  const compressors = compressorsOf(codecs);
  const first = codecs.findIndex((codec) => compressors.has(codec));
  const place = first < 0 ? codecs.length : first;
  const kept = codecs.filter((codec) => !compressors.has(codec));
  return compressor ? [...kept.slice(0, place), compressor, ...kept.slice(place)] : kept;
}

function withList(
  codecs: readonly CodecConfig[],
  dataType: DataType,
  asked: readonly CodecConfig[],
): CodecConfig[] {
  const at = (place: ReturnType<typeof placeInList>) =>
    asked.filter(({ name }) => placeInList(name) === place);
  const isOrdered = asked.some(({ name }) => name === "transpose");
  const order = isOrdered ? [] : codecs.filter(({ name }) => name === "transpose");
  const inFront = [...order, ...at("filter of arrays")];
  const type = typeAfter({ dataType }, inFront, "/codecs").dataType;
  const isOwn = ({ name }: CodecConfig) => placeInList(name) === "serializer";
  const before = codecs.find(isOwn) ?? { name: "bytes", configuration: {} };
  const serializer = inByteOrder(at("serializer")[0] ?? before, before, type);

  const { endian } = serializer.configuration;
  const filters: CodecConfig[] = [];
  let items = isFixed(type) ? itemType(type, endian as Endian | undefined) : undefined;
  for (const filter of at("filter of items")) {
    assertEncodes(filter, items, type);
    const placed = placeFilter(withNumpyTypes(filter), items, endian === "big" ? "big" : "little");
    filters.push(placed);
    items = filterTypes(placed, items).output;
  }
  const itemSize = numpyItemSize(items) ?? 1;
  return [
    inFront,
    serializer,
    filters,
    at("codec of bytes").map((codec) => ofItemSize(codec, itemSize)),
  ].flat();
}

/** Sets the byte order of `bytes`: the requested one, otherwise the array's former one. */
function inByteOrder(serializer: CodecConfig, before: CodecConfig, type: DataType): CodecConfig {
  if (serializer.name !== "bytes") return serializer;
  const needsOrder = isFixed(type) && hasByteOrder(type);
  const endian = serializer.configuration.endian ?? before.configuration.endian ?? "little";
  return { ...serializer, configuration: needsOrder ? { endian } : {} };
}

/** @throws `invalid-option` */
function assertEncodes(filter: CodecConfig, items: string | undefined, dataType: DataType): void {
  const { name, configuration } = filter;
  const { encodes, significand } = codecNamed(name)?.itemFilter ?? {};
  if (encodes && (items === undefined || !encodes.kinds.includes(items[1] ?? ""))) {
    throw new ZarrflowError("invalid-option", `${name} encodes ${encodes.words} only`, {
      expected: encodes.words,
      found: items ?? describeDataType(dataType),
      hint: "Choose other codecs for this array. If it is in a group, leave it out with --exclude and copy it separately.",
    });
  }
  if (significand === undefined || items === undefined) return;
  const limit = numberKindOf(parseNumpyType(items, "").dataType)?.significand;
  if (limit === undefined || Number(configuration[significand]) <= limit) return;
  throw new ZarrflowError("invalid-option", `the ${significand} of ${name} is out of range`, {
    expected: `at most ${limit} for ${describeDataType(dataType)}`,
    found: `${configuration[significand]}`,
  });
}

/** Converts a filter's data types, in any notation, to NumPy's. */
function withNumpyTypes(filter: CodecConfig): CodecConfig {
  const configuration: Record<string, JsonObject[string]> = { ...filter.configuration };
  for (const { setting, is } of codecNamed(filter.name)?.parts ?? []) {
    const text = configuration[setting];
    if (is !== "type" || typeof text !== "string") continue;
    const { dataType } = parseDataTypeOption(/^[a-z]\d+$/.test(text) ? `<${text}` : text);
    configuration[setting] = writeNumpyType(dataType, "little");
  }
  return { ...filter, configuration };
}

/** Adds the item size to a codec that needs it and does not state it. */
function ofItemSize(codec: CodecConfig, size: number): CodecConfig {
  const setting = codecNamed(codec.name)?.itemSize;
  if (setting === undefined || codec.configuration[setting] !== undefined) return codec;
  return { ...codec, configuration: { ...codec.configuration, [setting]: size } };
}

/**
 * Adapts an array's codecs to another data type. Dimension orders, compressors, checksums and shards stay, shuffles
 * get the new item size, and filters that compute with values are removed.
 *
 * @param byteOrder the former byte order by default
 */
export function retypedCodecs(
  codecs: readonly CodecConfig[],
  to: FixedDataType,
  byteOrder?: Endian,
): CodecConfig[] {
  return codecs.flatMap((codec): CodecConfig[] => {
    const { name, configuration } = codec;
    const { role, kind } = codecNamed(name) ?? {};
    if (isFilterOfValues(codec)) return [];
    if (name === "transpose" || role === "checksum") return [codec];
    if (name === "sharding_indexed") {
      const inner = retypedCodecs(innerCodecs(configuration.codecs), to, byteOrder);
      const list = inner.map((one): JsonObject => ({ name: one.name, configuration: one.configuration }));
      return [{ name, configuration: { ...configuration, codecs: list } }];
    }
    if (kind === "array-to-bytes") {
      const { endian = "little" }: { readonly endian?: JsonValue } = configuration;
      return [{ name: "bytes", configuration: hasByteOrder(to) ? { endian: byteOrder ?? endian } : {} }];
    }
    if (name === "shuffle") return [{ name, configuration: { ...configuration, elementsize: to.size } }];
    if (configuration.typesize === undefined) return [codec];
    return [{ name, configuration: { ...configuration, typesize: to.size } }];
  });
}

/** Names of the filters that `retypedCodecs` removes, including those in shards. */
export function filtersOfValues(codecs: readonly CodecConfig[]): string[] {
  return codecs.flatMap((codec) => {
    if (codec.name === "sharding_indexed") return filtersOfValues(innerCodecs(codec.configuration.codecs));
    return isFilterOfValues(codec) ? codec.name : [];
  });
}

/** True if a filter computes with values of one type; transposes and shuffles move items of any type. */
function isFilterOfValues({ name }: CodecConfig): boolean {
  const { role, kind } = codecNamed(name) ?? {};
  return role === "filter" && kind !== "array-to-bytes" && name !== "transpose" && name !== "shuffle";
}
