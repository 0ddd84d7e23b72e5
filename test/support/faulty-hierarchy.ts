import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { buildZip } from "../stores/zip/build-zip.ts";
import { testFolder } from "./cli.ts";
import { type V2Array, writeV2Group } from "./v2-store.ts";

/** What the arrays are, but for their faults. */
export const array: V2Array = { shape: [4, 6], chunks: [2, 3], fillValue: null };

/** All files of a folder, by their names. */
export async function filesOf(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const texts = await Promise.all(
    files
      .sort()
      .map(async (file) => [file.slice(folder.length + 1), await readFile(file, "latin1")] as const),
  );
  return new Map(texts);
}

/** Changes a text in a file. */
export const replaceIn = async (file: string, from: string, to: string) => {
  const text = await readFile(file, "utf8");
  expect(text).toContain(from);
  await writeFile(file, text.replace(from, to));
};

/** A group of Zarr v2 with one of each fault, whose consolidated metadata tell of another one. */
export async function faulty(parent?: string): Promise<string> {
  const folder = join(parent ?? (await testFolder()), "g.zarr");
  await writeV2Group(folder, { shrunk: array, unstated: array, nan: array, attribute: array });
  for (const key of ["0.2", "2.0", "10.10"]) await writeFile(join(folder, "shrunk", key), "x");
  for (const row of [0, 1]) {
    await mkdir(join(folder, `unstated/${row}`));
    for (const column of [0, 1])
      await rename(join(folder, `unstated/${row}.${column}`), join(folder, `unstated/${row}/${column}`));
  }
  await replaceIn(join(folder, "nan/.zarray"), '"fill_value": null', '"fill_value": -Infinity');
  await writeFile(join(folder, "attribute/.zattrs"), '{"missing": NaN}');
  const group = JSON.parse(await readFile(join(folder, ".zgroup"), "utf8"));
  const consolidated = { metadata: { ".zgroup": group }, zarr_consolidated_format: 1 };
  await writeFile(join(folder, ".zmetadata"), JSON.stringify(consolidated));
  return folder;
}

/** A zip beside a folder, of its files; with an entry that occurs twice, if wanted. */
export async function zipOf(folder: string, duplicate = false): Promise<string> {
  const entries = [...(await filesOf(folder))].map(([name, text]) => ({
    name,
    value: Buffer.from(text, "latin1"),
  }));
  if (duplicate) entries.unshift({ name: "nan/0.0", value: Buffer.from("an older value") });
  const path = `${folder}.zip`;
  await writeFile(path, buildZip(entries));
  return path;
}
