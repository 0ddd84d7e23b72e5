import type { ArrayMetadata, CodecConfig } from "./array-metadata.ts";
import { member } from "./assert-json.ts";

/** Order of the items in a chunk, which the normal codec list says by a `transpose`. */
export type MemoryOrder = "C" | "F";

/** The codecs that put items in `order`. */
export function transposesOf(order: MemoryOrder, rank: number): CodecConfig[] {
  if (order === "C" || rank < 2) return [];
  return [
    {
      name: "transpose",
      configuration: { order: Array.from({ length: rank }, (_, d) => rank - 1 - d) },
    },
  ];
}

/** C for no transposition, F for one that turns all dimensions around; undefined for any other. */
export function orderOf(codecs: readonly CodecConfig[], rank: number): MemoryOrder | undefined {
  const transposes = codecs.filter(({ name }) => name === "transpose");
  const [only, ...more] = transposes.map(({ configuration }) => member(configuration, "order"));
  if (only === undefined) return "C";
  if (!Array.isArray(only) || more.length > 0) return undefined;
  if (only.every((d, i) => d === i)) return "C";
  return only.every((d, i) => d === rank - 1 - i) ? "F" : undefined;
}

/** The array as formats before v3 can order its items: any order other than C and F becomes C. */
export function inMemoryOrder(metadata: ArrayMetadata): ArrayMetadata {
  const { codecs, shape } = metadata;
  if (orderOf(codecs, shape.length) !== undefined) return metadata;
  return { ...metadata, codecs: codecs.filter(({ name }) => name !== "transpose") };
}
