import type { ZarrNode } from "../../hierarchy/node.ts";
import { openNode } from "../../hierarchy/open/open-node.ts";
import { walk } from "../../hierarchy/open/walk.ts";
import type { ReadDocumentOptions } from "../../hierarchy/stored-documents.ts";
import type { ZarrFormat } from "../../meta/array-metadata.ts";
import type { NodeSpec } from "../../plan/plan.ts";
import { accessedBy, type StoreAccess } from "../../stores/access.ts";
import { assertPlace, textOfUrl } from "../../stores/assertions.ts";
import {
  isListable,
  isWritable,
  type ListableStore,
  type Store,
  type StoreSpec,
  type WritableStore,
} from "../../stores/store.ts";
import { childSpec, machineFiles, objectPlace, specOfObject } from "../../stores/store-spec.ts";
import { absolutePath } from "../../stores/url/local-path.ts";
import { openStoreIfThere, parseStoreUrl } from "../../stores/url.ts";
import { toStore, type ZarritaStore } from "../../stores/with/zarrita.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { ancestorPaths, isAtOrBelow, normalizePath } from "../../util/node-path.ts";
import type { Changes } from "../request/flow-options.ts";

/**
 * The place a flow writes to: a URL; a store of zarrflow or zarrita, or a path in one, where values are visible as
 * soon as they are written; or a store spec and a path, as JSON.
 */
export type FlowTarget =
  | string
  | URL
  | Store
  | ZarritaStore
  | { readonly store: Store | ZarritaStore; readonly path: string }
  | { readonly spec: StoreSpec; readonly path: string };

/** Returns the spec of the target's store with the options of `access`, and the path of the node in it. */
export function targetSpec(to: FlowTarget, access: StoreAccess): NodeSpec {
  assertPlace(to, "target");
  const target = textOfUrl(to);
  if (typeof target === "string") {
    const { spec: store, path } = parseStoreUrl(target);
    return { store: accessedBy(store, access), path };
  }
  if ("get" in target) return { store: specOfObject(toStore(target)), path: "" };
  if ("store" in target) {
    return { store: specOfObject(toStore(target.store), normalizePath(target.path)), path: "" };
  }
  const path = normalizePath(target.path);
  const spec = accessedBy(target.spec, access);
  const inside = childSpec(spec, path);
  return inside ? { store: inside, path: "" } : { store: spec, path };
}

/** Adds the format that the target's URL names to the options. @throws `invalid-option` if they name another one. */
export function withFormatOf<O extends Pick<Changes, "to">>(to: FlowTarget, options: O): O {
  const target = textOfUrl(to);
  const zarrFormat = typeof target === "string" ? parseStoreUrl(target).zarrFormat : undefined;
  if (zarrFormat === undefined || options.to === zarrFormat) return options;
  if (options.to === undefined) return { ...options, to: zarrFormat };
  throw new ZarrflowError(
    "invalid-option",
    "the target's URL names a different format than the one requested",
    {
      expected: options.to,
      found: zarrFormat,
    },
  );
}

/** A target that exists and receives more nodes or values. */
export interface ExistingTarget {
  readonly store: Store;
  /** Nodes at and below the target's path and the groups above it, by path; all of one format. */
  readonly nodes: ReadonlyMap<string, ZarrNode>;
}

/**
 * Opens a target; undefined if nothing is there.
 *
 * @throws `target-exists` if it has another format; `invalid-metadata` and similar errors if it cannot be read.
 */
export async function openExistingTarget(
  { store: spec, path }: NodeSpec,
  zarrFormat: ZarrFormat,
  { maxMetadata, signal }: ReadDocumentOptions,
): Promise<ExistingTarget | undefined> {
  const store = await openStoreIfThere(spec, { signal });
  if (store === undefined) return undefined;
  try {
    const nodes = new Map<string, ZarrNode>();
    for (const above of ancestorPaths(path)) {
      const node = await openNode(store, above, { spec, zarrFormat, maxMetadata, signal });
      if (node) nodes.set(above, node);
    }
    const root = await openNode(store, path, { spec, maxMetadata, signal });
    if (root && root.layout.zarrFormat !== zarrFormat) throw ofAnotherFormat(root, zarrFormat);
    if (root) nodes.set(path, root);
    if (root?.kind === "group") for await (const node of walk(root, { signal })) nodes.set(node.path, node);
    if (nodes.size > 0 || (await hasKeys(store, signal))) return { store, nodes };
  } catch (error) {
    await store.close?.();
    throw error;
  }
  await store.close?.();
  return undefined;
}

/** The nodes at and below a path. */
export function nodesBelow(
  nodes: ReadonlyMap<string, ZarrNode>,
  root: string,
): ReadonlyMap<string, ZarrNode> {
  return new Map([...nodes].filter(([path]) => isAtOrBelow(path, root)));
}

/** A store whose values can be written one by one. */
export type EditableStore = WritableStore & ListableStore;

/** Returns the store if its values can be written one by one. @throws `unsupported-operation` */
export function assertEditable(store: Store): EditableStore {
  if (isWritable(store) && isListable(store) && !store.singleWriter) return store;
  throw new ZarrflowError("unsupported-operation", "nothing can be added to the existing target", {
    store: store.description,
    hint: "Replace it, or choose another target: only folders, buckets and other stores that can list their keys can be added to.",
  });
}

async function hasKeys(store: Store, signal: AbortSignal | undefined): Promise<boolean> {
  if (!isListable(store)) return false;
  for await (const _ of store.list("", { signal })) return true;
  return false;
}

function ofAnotherFormat({ layout, store }: ZarrNode, zarrFormat: ZarrFormat): ZarrflowError {
  return new ZarrflowError("target-exists", "the existing target has another format", {
    store: store.description,
    path: layout.path,
    expected: zarrFormat,
    found: layout.zarrFormat,
    hint: `Use its format with --to ${layout.zarrFormat}, replace the target with --if-exists replace (in code to, ifExists), or choose another one.`,
  });
}

/**
 * Asserts that neither source nor target is inside the other. Compares folders (with symbolic links resolved),
 * prefixes of a bucket, and paths in one store object.
 *
 * @throws `target-inside-source`
 */
export async function assertApart(
  { store, spec, path }: Pick<ZarrNode, "store" | "spec" | "path">,
  target: StoreSpec,
): Promise<void> {
  const places =
    folders(spec, target) ?? prefixes(spec, path, target) ?? inOneStore(store, spec, path, target);
  if (places === undefined) return;
  const [from, to] = await Promise.all(places);
  if (from === to) throw notApart("the target is the source", to);
  if (contains(from, to)) throw notApart("the target is inside its source", to);
  if (contains(to, from)) throw notApart("the source is inside the target, which would be replaced", to);
}

type Places = readonly [string | Promise<string>, string | Promise<string>];

function folders(source: StoreSpec, target: StoreSpec): Places | undefined {
  const to = "path" in target ? target.path : folderOf(target);
  const from = "path" in source ? source.path : folderOf(source);
  return from === undefined || to === undefined
    ? undefined
    : [machineFiles().realPath(from), machineFiles().realPath(to)];
}

/** Compares buckets by name only: all S3 URLs use the one server that the environment names. */
function prefixes(source: StoreSpec, path: string, target: StoreSpec): Places | undefined {
  if (source.kind !== "s3" || target.kind !== "s3" || source.bucket !== target.bucket) return undefined;
  return [absolutePath(`/${source.prefix}/${path}`), absolutePath(`/${target.prefix}`)];
}

function inOneStore(store: Store, source: StoreSpec, path: string, target: StoreSpec): Places | undefined {
  const place = objectPlace(target);
  const isOne = place !== undefined && place.root === (objectPlace(source)?.root ?? store);
  return isOne ? [absolutePath(`/${path}`), absolutePath(`/${place.path}`)] : undefined;
}

/** The folder on disk of a store object, if it has one. */
function folderOf(spec: StoreSpec): string | undefined {
  const place = objectPlace(spec);
  return place?.root.folder === undefined ? undefined : `${place.root.folder}/${place.path}`;
}

function notApart(reason: string, value: string): ZarrflowError {
  return new ZarrflowError("target-inside-source", reason, {
    value,
    hint: "Choose a target outside the source.",
  });
}

function contains(outer: string, inner: string): boolean {
  return inner.startsWith(outer.endsWith("/") ? outer : `${outer}/`);
}
