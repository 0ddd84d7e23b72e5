import { digest } from "../../src/flows/digest.ts";
import { slice } from "../../src/flows/slice.ts";
import { openArray } from "../../src/hierarchy/open/open.ts";
import type { SliceOption } from "../../src/hierarchy/slice-option.ts";
import { isListable, type Store } from "../../src/stores/store.ts";
import { joinKey } from "../../src/util/node-path.ts";

/** All that comes. */
export async function all<T>(items: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** All bytes that come, as one. */
export async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await all(pieces));
}

/** Waits until all has come, and keeps nothing. */
export async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

/** The keys of a store that begin with `prefix`. */
export async function keysOf(store: Store, prefix = ""): Promise<string[]> {
  if (!isListable(store)) throw new Error("the store cannot be listed");
  return (await all(store.list(prefix))).map(({ key }) => key);
}

/** The values of a store by key, as hexadecimal digits. */
export async function contentsOf(store: Store, prefix = ""): Promise<Record<string, string>> {
  const contents: Record<string, string> = {};
  for (const key of await keysOf(store, prefix))
    contents[key] = Buffer.from((await store.get(key)) ?? []).toString("hex");
  return contents;
}

/** The values of a store by key, as they are named where the store lies in `folder`. */
export async function valuesIn(store: Store, folder = ""): Promise<Map<string, Uint8Array>> {
  const values = new Map<string, Uint8Array>();
  for (const key of await keysOf(store))
    values.set(joinKey(folder, key), (await store.get(key)) ?? new Uint8Array());
  return values;
}

/** The items of an array, or of a part of it, in C order. */
export async function itemsOf(store: Store, path: string, part: SliceOption = {}): Promise<unknown[]> {
  return [...(await slice(await openArray({ store, path }), part).read()).data];
}

/** The SHA-256 of each array's items, by path. */
export async function digestsOf(...of: Parameters<typeof digest>): Promise<Record<string, string>> {
  return Object.fromEntries((await all(digest(...of))).map(({ path, sha256 }) => [path, sha256]));
}

/** The SHA-256 of the items of an array, or of the first array of a group. */
export async function digestOf(...of: Parameters<typeof digest>): Promise<string> {
  for await (const { sha256 } of digest(...of)) return sha256;
  throw new Error("there is no array");
}
