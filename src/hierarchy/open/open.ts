import type { ZarrFormat } from "../../meta/array-metadata.ts";
import { detectionKeys, FORMAT_OPTIONS } from "../../meta/detect.ts";
import type { NodeLayout } from "../../meta/format.ts";
import type { FormatOptions } from "../../meta/formats.ts";
import { accessedBy, STORE_ACCESS, type StoreAccess } from "../../stores/access.ts";
import { assertPlace, textOfUrl } from "../../stores/assertions.ts";
import { isListable, type ListableStore, type Store, type StoreSpec } from "../../stores/store.ts";
import { specOfObject } from "../../stores/store-spec.ts";
import { openStore, parseStoreUrl } from "../../stores/url.ts";
import { storeOnUse } from "../../stores/with/store-on-use.ts";
import type { ZarritaStore } from "../../stores/with/zarrita.ts";
import { throwIfAborted } from "../../util/abort.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { sortUtf8 } from "../../util/names.ts";
import { joinKey, normalizePath } from "../../util/node-path.ts";
import { assertKnown, checkedOptions, isObject, type OptionNames } from "../../util/options.ts";
import { loadStreams } from "../../util/web-streams.ts";
import { assertGroup, throughStore, type ZarrArray, type ZarrGroup, type ZarrNode } from "../node.ts";
import { assertNotOpening, type Context } from "../read-options.ts";
import { findNode } from "./above-on-use.ts";
import type { OpenNodeOptions } from "./open-node.ts";

/**
 * Anything that can be opened: a URL, or the path of a file or folder (in a page, relative to it); a store of zarrflow
 * or zarrita (its root), or a path in one; the spec of a store (its root), or a node's `spec` and `path`, which another
 * process can receive as JSON; an open node.
 */
export type OpenSource =
  | string
  | URL
  | Store
  | ZarritaStore
  | { readonly store: Store | ZarritaStore; readonly path: string }
  | StoreSpec
  | SpecSource
  | ZarrArray
  | ZarrGroup;

interface SpecSource {
  readonly spec: StoreSpec;
  readonly path: string;
}

export interface OpenOptions extends FormatOptions, StoreAccess {
  /** Wraps the store before it is read, for example with `withCache`. */
  readonly wrap?: ((store: Store) => Store) | undefined;
  /** Settings shared by several calls, made by `context`. Opening uses those for access to servers. */
  readonly context?: Context | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const OPEN_OPTIONS: OptionNames<OpenOptions> = {
  ...FORMAT_OPTIONS,
  ...STORE_ACCESS,
  wrap: true,
  context: true,
  signal: true,
};

/** Options for members of an open group, which determines the store and how documents are read. */
type MemberOptions = Pick<OpenOptions, "signal">;

const MEMBER_OPTIONS: OptionNames<MemberOptions> = { signal: true };

/**
 * Opens an array or a group and detects its format. An open node is returned as it is.
 *
 * In a remote store, a node of v3 takes one request, and one of v2 four, or three with `openArray` or `openGroup`. If
 * the storage answers immediately, documents of other formats at the same place are noticed too.
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
export function open(source: OpenSource, options?: OpenOptions): Promise<ZarrNode>;
/**
 * Opens a node below an open group, in the same format. Takes no request if the group's consolidated metadata list the
 * node. Those of v2 have their own document, which is read once per group if the store cannot list.
 *
 * @param path names of groups and of the node, separated by `/`
 * @throws as `open` of a source; `invalid-option` if `group` is not an open group.
 */
export function open(
  group: ZarrGroup,
  path: string,
  options?: Pick<OpenOptions, "signal">,
): Promise<ZarrNode>;
export function open(
  source: OpenSource,
  at: string | OpenOptions = {},
  options: MemberOptions = {},
): Promise<ZarrNode> {
  return typeof at === "string" ? openBelow(source, at, options) : openWith(source, at);
}

/** As `open`. @param how expected kind of the node, and if documents of other formats are looked for too */
export async function openWith(
  from: OpenSource,
  given: OpenOptions,
  how: Pick<OpenNodeOptions, "kind" | "looksBeside"> = {},
): Promise<ZarrNode> {
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
  if (isOpenNode(source)) {
    assertNotOpening(given, "node");
    return throughStore(source, wrap(source.store));
  }
  const { spec, path, zarrFormat, ...place } = await locate(source, access);
  const store = await storeOnUse(wrap(place.store));
  const reading = {
    ...(v1Order && { v1Order }),
    ...(v2 && { v2 }),
    ...(maxMetadata !== undefined && { maxMetadata }),
  };
  const options = { ...reading, ...how, signal, ...(zarrFormat && { zarrFormat }) };
  try {
    const node = await findNode(store, spec, path, options);
    if (node && typeof source !== "string" && "path" in source && !("get" in source) && !("kind" in source))
      await assertGivenPath(node.layout, source.path);
    if (node) return node;
    const url = typeof source === "string" ? source : path || "the root";
    throw await notFound({ store, spec, path, url }, signal);
  } catch (error) {
    await closeOpened(source, store);
    throw error;
  }
}

/** @throws `invalid-option` if `group` is not an open group; as `open` */
async function openBelow(group: OpenSource, below: string, given: MemberOptions): Promise<ZarrNode> {
  const { signal } = checkedOptions(given, MEMBER_OPTIONS);
  assertGroup(group);
  throwIfAborted(signal);
  const { openMember } = await import("./open-via-ancestor.ts");
  const path = joinKey(group.path, normalizePath(below));
  const node = await openMember(group, path, signal);
  if (node) return node;
  throw await notFound({ store: group.store, spec: group.spec, path, url: path }, signal);
}

const { v1Order: _, v2: __, ...EXISTS_OPTIONS } = OPEN_OPTIONS;

/**
 * Returns true if an array or a group exists at a place. If its documents are broken, it throws.
 *
 * @throws as `open`, except `not-found`.
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

/**
 * Opens an array.
 *
 * @throws as `open`; `not-found` if it is a group.
 * @example
 * ```ts
 * import { openArray, openGroup } from "zarrflow";
 *
 * const array = await openArray("era5.zarr/t2m");
 * console.log(array.shape.join(" x "), array.chunkShape.join(" x ")); // 744 x 33 x 49 24 x 33 x 49
 *
 * const group = await openGroup("era5.zarr");
 * const latitude = await openArray(group, "latitude");
 * console.log((await latitude.slice().read()).data.length); // 33
 * ```
 */
export function openArray(source: OpenSource, options?: OpenOptions): Promise<ZarrArray>;
/** Opens an array below an open group. @throws as `open` of a path below a group; `not-found` for a group. */
export function openArray(
  group: ZarrGroup,
  path: string,
  options?: Pick<OpenOptions, "signal">,
): Promise<ZarrArray>;
export async function openArray(
  source: OpenSource,
  at: string | OpenOptions = {},
  options: MemberOptions = {},
): Promise<ZarrArray> {
  const node =
    typeof at === "string"
      ? await openBelow(source, at, options)
      : await openWith(source, at, { kind: "array" });
  if (node.kind === "array") return node;
  await closeOpened(source, node.store);
  throw groupInPlace(node);
}

/** Error for a group where an array was requested. */
export function groupInPlace({ store, path }: ZarrGroup): ZarrflowError {
  return new ZarrflowError("not-found", "this is a group, not an array", {
    store: store.description,
    path,
    hint: "Give the path of one of its arrays.",
  });
}

/** Opens a group. @throws as `open`; `not-found` if it is an array. */
export function openGroup(source: OpenSource, options?: OpenOptions): Promise<ZarrGroup>;
/** Opens a group below an open one. @throws as `open` of a path below a group; `not-found` for an array. */
export function openGroup(
  group: ZarrGroup,
  path: string,
  options?: Pick<OpenOptions, "signal">,
): Promise<ZarrGroup>;
export async function openGroup(
  source: OpenSource,
  at: string | OpenOptions = {},
  options: MemberOptions = {},
): Promise<ZarrGroup> {
  const node =
    typeof at === "string"
      ? await openBelow(source, at, options)
      : await openWith(source, at, { kind: "group" });
  if (node.kind === "group") return node;
  await closeOpened(source, node.store);
  throw new ZarrflowError("not-found", "this is an array, not a group", {
    store: node.store.description,
    path: node.path,
  });
}

/** As `assertPath`, if the format has no normal form of paths. */
async function assertGivenPath(layout: NodeLayout, given: string): Promise<void> {
  if (layout.hierarchy.sharedKeys.length === 0) return;
  const { assertPath } = await import("./in-any-format.ts");
  assertPath(layout, given);
}

/** Closes a store that `open` opened for a source, but not a store of the caller. */
export async function closeOpened(from: OpenSource, store: Store): Promise<void> {
  const source = textOfUrl(from);
  const isOpened = typeof source === "string" || (isSpec(source) && placeIn(source).spec.kind !== "object");
  if (isOpened) await store.close?.();
}

export function isOpenNode(source: unknown): source is ZarrArray | ZarrGroup {
  return isObject(source) && "layout" in source;
}

function isSpec(source: Exclude<OpenSource, string | URL>): source is StoreSpec | SpecSource {
  return !("get" in source || "store" in source);
}

/** The place that a spec names; its root without a path. */
function placeIn(source: StoreSpec | SpecSource): SpecSource {
  return "kind" in source ? { spec: source, path: "" } : source;
}

interface Place {
  readonly store: Store;
  readonly spec: StoreSpec;
  readonly path: string;
  readonly zarrFormat?: ZarrFormat;
}

/** Opens the store of a source, and finds the path in it. @throws `not-found`, and what the store throws */
export async function locate(
  source: Exclude<OpenSource, URL | ZarrArray | ZarrGroup>,
  access: StoreAccess,
): Promise<Place> {
  if (typeof source === "string" || isSpec(source)) {
    const named = typeof source === "string" ? parseStoreUrl(source) : placeIn(source);
    const spec = accessedBy(named.spec, access);
    return { ...named, store: await openNamed(spec), spec, path: normalizePath(named.path) };
  }
  const { store: given, path } = "get" in source ? { store: source, path: "" } : source;
  const store = await storeOnUse(given);
  return { store, spec: specOfObject(store), path: normalizePath(path) };
}

/** @throws `not-found` with the most similar name beside it. */
async function openNamed(spec: StoreSpec): Promise<Store> {
  try {
    return await openStore(spec);
  } catch (error) {
    if (!isZarrflowError(error, "not-found")) throw error;
    const { unfinishedAt } = await import("./foreign-file.ts");
    if ((await unfinishedAt(spec, "", undefined)) !== undefined) {
      throw error.addContext({
        hint: "An unfinished run writes here. If that run was killed, repeat its command with --resume, or remove its files with `zarrflow clean`.",
      });
    }
    const { nearestStoreHint } = await import("./open-via-ancestor.ts");
    const hint = await nearestStoreHint(spec);
    throw hint ? error.addContext({ hint }) : error;
  }
}

async function notFound(
  { store, spec, path, url }: Place & { readonly url: string },
  signal: AbortSignal | undefined,
): Promise<ZarrflowError> {
  const [{ foreignFile, foreignFolder, unfinishedAt, unlessUnreadable }, { suggestName }] = await Promise.all(
    [import("./foreign-file.ts"), import("./open-via-ancestor.ts")],
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
    return new ZarrflowError(
      "not-found",
      `no array or group at \`${url}\` yet: a run there has not finished`,
      {
        ...about,
        found: unfinished,
        hint: "Wait for it. If that run was killed, repeat its command with --resume, or remove its files with `zarrflow clean`.",
      },
    );
  }
  const nodes =
    path === "" && isListable(store)
      ? await unlessUnreadable(signal, () => foldersWithMetadata(store, signal))
      : undefined;
  const suggested = nodes?.length ? foldersHint(nodes) : await suggestName(store, spec, path, { signal });
  const hint = suggested ?? (file && "This is a file, but a Zarr store is a folder or a .zip file.");
  return new ZarrflowError("not-found", `no array or group at \`${url}\``, {
    ...about,
    found: `none of ${[...detectionKeys(path), joinKey(path, ".zmetadata")].join(", ")}`,
    ...(hint && { hint }),
  });
}

/** Maximum number of folders listed in a hint. */
const MAX_FOLDERS = 8;

/**
 * Suggests folders: the one folder of an archive that was zipped with its name, or nodes without a group around them.
 */
function foldersHint(folders: readonly string[]): string {
  if (folders.length === 1) return `Did you mean the folder \`${folders[0]}\` inside it?`;
  const shown = folders.slice(0, MAX_FOLDERS).join(", ");
  return `Open one of the folders inside it: ${shown}${folders.length > MAX_FOLDERS ? " and others" : ""}.`;
}

/** Names of top-level folders that are nodes; at most one more than a hint lists. */
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
