import { createGroup } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";

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
  const store = new MemoryStore(`hierarchy ${zarrFormat}`);
  const root = await createGroup(store, { zarrFormat, attributes: { title: "made" } }, { consolidated });
  const array = { dataType: "int16", shape: [4, 6], chunks: [2, 3] } as const;
  const items = (start: number, length: number) => Int16Array.from({ length }, (_, i) => start + i + offset);
  for (const year of ["2023", "2024"]) {
    const group = await root.createGroup(year, { attributes: { year } });
    for (const name of ["t2m", "u10"]) {
      const writer = await group.create(name, { ...array, attributes: { name } });
      await writer.write([], items(Number(year) + name.length, 24));
      await writer.close();
    }
    await group.close();
  }
  await (await root.createGroup("empty", {})).close();
  const time = await root.create("time", { dataType: "int16", shape: [4], chunks: [4] });
  await time.write([], items(1, 4));
  await time.close();
  await root.close();
  const text = (words: string) => new TextEncoder().encode(words);
  for (const key of ["readme.md", "2024/readme.md", "notes.txt", "2024/t2m/notes.txt"]) {
    await store.set(key, text(`${key}\n`));
  }
  return store;
}
