import fs from "node:fs";
import { join } from "node:path";
import type { Store } from "../../src/stores/store.ts";
import { given } from "../support/given.ts";

export const N = 32;

/** An array of N items, each in a chunk of its own, that all are `value`. */
export async function makeArray(at: string | Store, value: number, more: object = {}): Promise<void> {
  const array = { shape: [N], chunks: [1], dataType: "uint8", codec: "none", fillValue: 0 };
  await given({ at, ...array, ...more, values: () => value });
}

/** What can happen to a folder while it is read. */
export const FATES = {
  "is removed": (root: string) => fs.rmSync(root, { recursive: true }),
  "is moved away": (root: string) => fs.renameSync(root, `${root}-away`),
  "is replaced by one of the same metadata": (root: string) => {
    fs.renameSync(root, `${root}-away`);
    fs.renameSync(`${root}-next`, root);
  },
  "gets its content from another one": (root: string) => {
    fs.rmSync(root, { recursive: true });
    fs.cpSync(`${root}-next`, root, { recursive: true });
  },
  "gets a new metadata document of the same bytes": (root: string) => {
    const text = fs.readFileSync(join(root, "zarr.json"));
    fs.rmSync(join(root, "zarr.json"));
    fs.writeFileSync(join(root, "zarr.json"), text);
  },
};
