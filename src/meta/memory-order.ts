import type { ArrayMetadata, CodecConfig } from "./array-metadata.ts";
import { member } from "./assert-json.ts";

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
