import type { ZarrFormat } from "../../meta/array-metadata.ts";
import { detectionKeys } from "../../meta/detect.ts";
import { formatNamed } from "../../meta/formats.ts";
import { joinKey } from "../../meta/join-key.ts";
import { isListable, type ListableStore, type Store, type StoreSpec } from "../../stores/store.ts";
import { openStore } from "../../stores/url.ts";
import { throwIfAborted } from "../../util/abort.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { nearestName } from "../../util/nearest-name.ts";
import { childNames } from "./child-names.ts";
import { type OpenNodeOptions, openNode } from "./open-node.ts";

/** Maximum number of names of a folder that are read. */
const MAX_NAMES = 10_000;

/** Maximum number of members to list if no name is similar. */
const MAX_LISTED = 8;

/**
 * Suggests an alternative to a path without a node: the member with the most similar name in the nearest existing
 * folder, or all members of that group if there are few. Undefined if nothing fits.
 */
export async function suggestName(
  store: Store,
  spec: StoreSpec,
  path: string,
  {
    zarrFormat,
    signal,
  }: { readonly zarrFormat?: ZarrFormat; readonly signal?: AbortSignal | undefined } = {},
): Promise<string | undefined> {
  try {
    for await (const { folder, at, name } of foldersAbove(store, spec, path)) {
      const names = zarrFormat
        ? await childNames(folder, formatNamed(zarrFormat).layout(at), { signal })
        : await namesIn(folder, at, signal);
      if (names.length > 0) return await hintOf({ folder, at, name }, names, { zarrFormat, signal });
    }
    return undefined;
  } catch (error) {
    throwIfAborted(signal);
    if (isZarrflowError(error)) return undefined; // no hint if the folder cannot be listed
    throw error;
  }
}

/** Suggests an alternative to a zip that does not exist. */
export async function nearestStoreHint(spec: StoreSpec): Promise<string | undefined> {
  if (spec.kind !== "zip") return undefined;
  const asFolder: StoreSpec = { kind: "directory", path: spec.path };
  return suggestName(await openStore(asFolder), asFolder, "");
}

interface Folder {
  readonly folder: ListableStore;
  readonly at: string;
  /** The name that the folder lacks. */
  readonly name: string;
}

/**
 * Iterates over the folders that contain a path, from the nearest up to the root of the store; for a directory also
 * above it.
 */
async function* foldersAbove(store: Store, spec: StoreSpec, path: string): AsyncGenerator<Folder> {
  const names = path === "" ? [] : path.split("/");
  if (isListable(store)) {
    for (let length = names.length - 1; length >= 0; length--) {
      yield { folder: store, at: names.slice(0, length).join("/"), name: names[length] ?? "" };
    }
  }
  if (spec.kind !== "directory") return;
  const folders = spec.path.split("/");
  for (let length = folders.length - 1; length > 0; length--) {
    const above = await openStore({ ...spec, path: folders.slice(0, length).join("/") || "/" });
    if (isListable(above)) yield { folder: above, at: "", name: folders[length] ?? "" };
  }
}

/** Returns names of folders and zips in a folder. */
async function namesIn(
  store: ListableStore,
  path: string,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const prefix = joinKey(path, "");
  const names: string[] = [];
  for await (const entry of store.listDirectory(prefix, { signal })) {
    const name = "prefix" in entry ? entry.prefix.slice(prefix.length, -1) : entry.key.slice(prefix.length);
    if ("prefix" in entry || /\.(?:zip|ozx)$/i.test(name)) names.push(name);
    if (names.length === MAX_NAMES) break;
  }
  return names;
}

async function hintOf(
  { folder, at, name }: Folder,
  names: readonly string[],
  options: OpenNodeOptions,
): Promise<string | undefined> {
  const near = nearestName(
    name,
    names.filter((other) => other !== name),
  );
  if (near && (/\.(?:zip|ozx)$/i.test(near) || (await isNode(folder, joinKey(at, near), options)))) {
    return `Did you mean \`${near}\`?`;
  }
  const isGroup = names.length <= MAX_LISTED && (await isNode(folder, at, options));
  return isGroup ? `Its members are ${names.join(", ")}.` : undefined;
}

async function isNode(store: Store, path: string, { zarrFormat, signal }: OpenNodeOptions): Promise<boolean> {
  if (zarrFormat) return (await openNode(store, path, { zarrFormat, isInside: true, signal })) !== undefined;
  const sizes = await Promise.all(detectionKeys(path).map((key) => store.size(key, { signal })));
  return sizes.some((size) => size !== undefined);
}
