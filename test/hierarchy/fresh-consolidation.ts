import { expect } from "vitest";
import { consolidate } from "../../src/meta/consolidated.ts";
import type { ListableStore } from "../../src/stores/store.ts";
import { keysOf } from "../support/consume.ts";
import { jsonAt } from "./keys.ts";

/** Holds that the consolidated metadata of each group of `paths` are what consolidating its documents now would give. */
export async function expectTrueConsolidation(store: ListableStore, paths = [""]): Promise<void> {
  const documents = new Map<string, Uint8Array>();
  for (const key of await keysOf(store)) {
    if (/(?:^|\/)(?:zarr\.json|\.z(?:array|group|attrs))$/.test(key)) {
      documents.set(key, (await store.get(key)) ?? new Uint8Array());
    }
  }
  for (const path of paths) {
    const zarrFormat = (await store.size(join(path, ".zgroup"))) === undefined ? "v3" : "v2";
    const key = join(path, zarrFormat === "v2" ? ".zmetadata" : "zarr.json");
    const fresh = consolidate(zarrFormat, path, documents).get(key);
    expect(await jsonAt(store, key), key).toEqual(JSON.parse(new TextDecoder().decode(fresh)));
  }
}

const join = (path: string, name: string) => (path === "" ? name : `${path}/${name}`);
