import { MemoryStore } from "../../src/stores/memory.ts";
import { given, givenKeys } from "./given.ts";

export interface HierarchyRecipe {
  readonly consolidated?: boolean;
  /** Added to all values. */
  readonly offset?: number;
}

/**
 * A hierarchy in memory: groups `2023` and `2024`, each with arrays `t2m` and `u10`, a group `empty`, an array `time`,
 * and some keys that are no Zarr.
 */
export async function makeHierarchy(
  zarrFormat: "v2" | "v3",
  { consolidated = false, offset = 0 }: HierarchyRecipe = {},
): Promise<MemoryStore> {
  const from = (start: number) => (i: number) => start + i + offset;
  const field = (year: number, name: string) => ({
    ...{ dataType: "int16", shape: [4, 6], chunks: [2, 3], attributes: { name } },
    values: from(year + name.length),
  });
  const store = await given({
    at: new MemoryStore(`hierarchy ${zarrFormat}`),
    zarrFormat,
    attributes: { title: "made" },
    groups: { 2023: { attributes: { year: "2023" } }, 2024: { attributes: { year: "2024" } }, empty: {} },
    arrays: {
      "2023/t2m": field(2023, "t2m"),
      "2023/u10": field(2023, "u10"),
      "2024/t2m": field(2024, "t2m"),
      "2024/u10": field(2024, "u10"),
      time: { dataType: "int16", shape: [4], values: from(1) },
    },
    consolidated,
  });
  const keys = ["readme.md", "2024/readme.md", "notes.txt", "2024/t2m/notes.txt"];
  return givenKeys(Object.fromEntries(keys.map((key) => [key, `${key}\n`])), store);
}
