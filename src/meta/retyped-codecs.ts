import { codecNamed } from "../codecs/descriptors.ts";
import type { JsonObject, JsonValue } from "../util/json-value.ts";
import type { CodecConfig } from "./array-metadata.ts";
import type { Endian, FixedDataType } from "./data-type.ts";
import { hasByteOrder } from "./element-order.ts";
import { innerCodecs } from "./v3/sharding.ts";

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
