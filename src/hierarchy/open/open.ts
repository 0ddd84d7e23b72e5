import type { ZarrFormat } from "../../meta/array-metadata.ts";
import { detectionKeys } from "../../meta/detect.ts";
import type { NodeLayout } from "../../meta/format.ts";
import { FORMAT_OPTIONS } from "../../meta/format-on-use.ts";
import type { FormatOptions } from "../../meta/formats.ts";
import { joinKey } from "../../meta/join-key.ts";
import { accessedBy, STORE_ACCESS, type StoreAccess } from "../../stores/access.ts";
import { assertPlace, textOfUrl } from "../../stores/assertions.ts";
import { specOfObject } from "../../stores/object-spec.ts";
import { isListable, type ListableStore, type Store, type StoreSpec } from "../../stores/store.ts";
import { openStore, parseStoreUrl } from "../../stores/url.ts";
import { storeOnUse } from "../../stores/with/store-on-use.ts";
import type { ZarritaStore } from "../../stores/with/zarrita.ts";
import { assertKnown, checkedOptions, type OptionNames } from "../../util/check-options.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { normalisePath } from "../../util/node-path.ts";
import { sortUtf8 } from "../../util/utf8-order.ts";
import { loadStreams } from "../../util/web-streams.ts";
import type { ZarrArray, ZarrGroup, ZarrNode } from "../node.ts";
import { findNode } from "./find-node.ts";

/**
 * What can be opened: a URL, a store of zarrflow or of zarrita (its root), a path in a store; or what lets another
 * process of a node, as JSON: its `spec` and `path`.
 */
export type OpenSource =
  | string
  | URL
  | Store
  | ZarritaStore
  | { readonly store: Store | ZarritaStore; readonly path: string }
  | SpecSource;

interface SpecSource {
  readonly spec: StoreSpec;
  readonly path: string;
}

export interface OpenOptions extends FormatOptions, StoreAccess {
  /** Makes of the store the one that is read, such as `withCache`. */
  readonly wrap?: (store: Store) => Store;
  readonly signal?: AbortSignal | undefined;
}

const OPEN_OPTIONS: OptionNames<OpenOptions> = {
  ...FORMAT_OPTIONS,
  ...STORE_ACCESS,
  wrap: true,
  signal: true,
};

/**
 * Opens an array or a group; the format is found by itself.
 *
 * @throws `not-found` with the keys that were tried; `invalid-metadata`, `unsupported-*` with path, key and pointer.
 * @example
 * ```ts
 * import { open } from "zarrflow";
 *
 * const node = await open("era5.zarr/t2m");
 * if (node.kind === "array") console.log(node.shape, node.dataType, node.dimensionNames);
 * ```
 */
export async function open(from: OpenSource, given: OpenOptions = {}): Promise<ZarrNode> {
  const {
    signal,
    wrap = (store: Store) => store,
    v1Order,
    v2,
    maxMetadata,
    ...access
  } = checkedOptions(given, OPEN_OPTIONS);
  assertPlace(from, "source");
  const source = textOfUrl(from);
  await loadStreams();
  const { spec, path, zarrFormat, ...place } = await locate(source, access);
  const store = await storeOnUse(wrap(place.store));
  const reading = {
    ...(v1Order && { v1Order }),
    ...(v2 && { v2 }),
    ...(maxMetadata !== undefined && { maxMetadata }),
  };
  const options = { ...reading, signal, ...(zarrFormat && { zarrFormat }) };
  try {
    const node = await findNode(store, spec, path, options);
    if (node && typeof source !== "string" && "path" in source && !("get" in source))
      await assertGivenPath(node.layout, source.path);
    if (node) return node;
    const url = typeof source === "string" ? source : path || "the root";
    throw await notFound({ store, spec, path, url }, signal);
  } catch (error) {
    await closeOpened(source, store);
    throw error;
  }
}

const { v1Order: _, v2: __, ...EXISTS_OPTIONS } = OPEN_OPTIONS;

/**
 * Whether an array or a group is at a place. One whose documents are broken is no answer, but an error.
 *
 * @throws as `open`, but for `not-found`.
 */
export async function exists(
  source: OpenSource,
  options: Omit<OpenOptions, "v1Order" | "v2"> = {},
): Promise<boolean> {
  assertKnown(options, EXISTS_OPTIONS);
  try {
    const { store } = await open(source, options);
    await closeOpened(source, store);
    return true;
  } catch (error) {
    if (isZarrflowError(error, "not-found")) return false;
    throw error;
  }
}

/** Opens an array. @throws as `open`; `not-found` when there is a group instead. */
export async function openArray(source: OpenSource, options: OpenOptions = {}): Promise<ZarrArray> {
  const node = await open(source, options);
  if (node.kind === "array") return node;
  await closeOpened(source, node.store);
  throw groupInPlace(node);
}

/** The error of a group where an array was asked for. */
export function groupInPlace({ store, path }: ZarrGroup): ZarrflowError {
  return new ZarrflowError("not-found", "this is a group, not an array", {
    store: store.description,
    path,
    hint: "Give the path of one of its arrays.",
  });
}

/** Opens a group. @throws as `open`; `not-found` when there is an array instead. */
export async function openGroup(source: OpenSource, options: OpenOptions = {}): Promise<ZarrGroup> {
  const node = await open(source, options);
  if (node.kind === "group") return node;
  await closeOpened(source, node.store);
  throw new ZarrflowError("not-found", "this is an array, not a group", {
    store: node.store.description,
    path: node.path,
  });
}

/** As `assertPath`, in formats that know no normal form of paths. */
async function assertGivenPath(layout: NodeLayout, given: string): Promise<void> {
  if (layout.hierarchy.sharedKeys.length === 0) return;
  const { assertPath } = await import("../assert-path.ts");
  assertPath(layout, given);
}

/** Closes a store that `open` has opened for a source, and leaves one of the caller's. */
export async function closeOpened(from: OpenSource, store: Store): Promise<void> {
  const source = textOfUrl(from);
  if (typeof source === "string" || isSpec(source)) await store.close?.();
}

function isSpec(source: Exclude<OpenSource, string | URL>): source is SpecSource {
  return "spec" in source && !("store" in source) && !("get" in source);
}

interface Place {
  readonly store: Store;
  readonly spec: StoreSpec;
  readonly path: string;
  readonly zarrFormat?: ZarrFormat;
}

async function locate(source: Exclude<OpenSource, URL>, access: StoreAccess): Promise<Place> {
  if (typeof source === "string" || isSpec(source)) {
    const { path, ...named } = typeof source === "string" ? parseStoreUrl(source) : source;
    const spec = accessedBy(named.spec, access);
    return { ...named, store: await openNamed(spec), spec, path: normalisePath(path) };
  }
  const { store: given, path } = "get" in source ? { store: source, path: "" } : source;
  const store = await storeOnUse(given);
  return { store, spec: specOfObject(store), path: normalisePath(path) };
}

/** @throws `not-found` with the nearest name beside it. */
async function openNamed(spec: StoreSpec): Promise<Store> {
  try {
    return await openStore(spec);
  } catch (error) {
    if (!isZarrflowError(error, "not-found")) throw error;
    const { unfinishedAt } = await import("./foreign-file.ts");
    if ((await unfinishedAt(spec, "", undefined)) !== undefined) {
      throw error.addContext({
        hint: "A run that has not ended writes it. If it was killed, repeat its command with --resume, or remove what it left with `zarrflow clean`.",
      });
    }
    const { nearestStoreHint } = await import("./suggest-name.ts");
    const hint = await nearestStoreHint(spec);
    throw hint ? error.addContext({ hint }) : error;
  }
}

async function notFound(
  { store, spec, path, url }: Place & { readonly url: string },
  signal: AbortSignal | undefined,
): Promise<ZarrflowError> {
  const [{ foreignFile, foreignFolder, unfinishedAt, unlessUnreadable }, { suggestName }] = await Promise.all(
    [import("./foreign-file.ts"), import("./suggest-name.ts")],
  );
  const about = { store: store.description, path, url };
  const file = path === "" ? await foreignFile(spec, signal) : undefined;
  const foreign = file ? file.format : await foreignFolder(store, path, signal);
  if (foreign !== undefined) {
    const { name, hint } = foreign;
    return new ZarrflowError("not-found", `\`${url}\` is ${name}; zarrflow reads Zarr`, { ...about, hint });
  }
  const unfinished = await unfinishedAt(spec, path, signal);
  if (unfinished !== undefined) {
    return new ZarrflowError("not-found", `no array or group at \`${url}\`, but a run that has not ended`, {
      ...about,
      found: unfinished,
      hint: "Wait for it. If it was killed, repeat its command with --resume, or remove what it left with `zarrflow clean`.",
    });
  }
  const nodes =
    path === "" && isListable(store)
      ? await unlessUnreadable(signal, () => foldersWithMetadata(store, signal))
      : undefined;
  const suggested = nodes?.length ? foldersHint(nodes) : await suggestName(store, spec, path, { signal });
  const hint = suggested ?? (file && "This is a file; a Zarr store is a folder, or a .zip file.");
  return new ZarrflowError("not-found", `no array or group at \`${url}\``, {
    ...about,
    found: `none of ${[...detectionKeys(path), joinKey(path, ".zmetadata")].join(", ")}`,
    ...(hint && { hint }),
  });
}

/** The most folders that are named to choose from. */
const MAX_FOLDERS = 8;

/** What may have been meant: a folder zipped with its own name, or one of several nodes without a group around them. */
function foldersHint(folders: readonly string[]): string {
  if (folders.length === 1) return `Did you mean the folder \`${folders[0]}\` inside it?`;
  const shown = folders.slice(0, MAX_FOLDERS).join(", ");
  return `Name one of the folders inside it: ${shown}${folders.length > MAX_FOLDERS ? " and others" : ""}.`;
}

/** Names of top folders that are nodes, one more than are named at most. */
async function foldersWithMetadata(store: ListableStore, signal: AbortSignal | undefined): Promise<string[]> {
  const { unlessUnreadable } = await import("./foreign-file.ts");
  const folders: string[] = [];
  for await (const entry of store.listDirectory("", { signal })) {
    if (!("prefix" in entry)) continue;
    const name = entry.prefix.slice(0, -1);
    const sizeOf = (key: string) => unlessUnreadable(signal, () => store.size(key, { signal }));
    const sizes = await Promise.all(detectionKeys(name).map(sizeOf));
    if (sizes.some((size) => size !== undefined)) folders.push(name);
    if (folders.length > MAX_FOLDERS) break;
  }
  return sortUtf8(folders);
}
