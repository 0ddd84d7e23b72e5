import type { NodeMetadata, ZarrFormat } from "../../meta/array-metadata.ts";
import { HIERARCHY_KEY } from "../../meta/detect.ts";
import type { Documents, Finding, NodeLayout } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import { assertPlace, assertWritable, textOfUrl } from "../../stores/assertions.ts";
import type { Store, StoreSpec, TargetBuild, WritableStore } from "../../stores/store.ts";
import { childSpec } from "../../stores/store-spec.ts";
import { isZip } from "../../stores/store-traits.ts";
import { openStoreIfThere, parseStoreUrl } from "../../stores/url.ts";
import { toStore, type ZarritaStore } from "../../stores/with/zarrita.ts";
import { openTargetBuild } from "../../targets/index.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { ancestorPaths, joinKey, normalizePath } from "../../util/node-path.ts";
import { invalidOption } from "../../util/options.ts";
import { loadStreams } from "../../util/web-streams.ts";
import { refreshConsolidated } from "../edit/consolidated.ts";
import { deleteKeys } from "../edit/delete.ts";
import { type ParentHierarchy, parentHierarchyOf } from "../edit/parent.ts";
import { assertPath } from "../open/in-any-format.ts";
import { assertUnlockedAbove, lockPlace } from "../parent-hierarchy.ts";
import { assertReplaceable } from "../replaceable.ts";
import { type ReadDocumentOptions, readDocument } from "../stored-documents.ts";
import {
  agreed,
  ancestorDocuments,
  assertDistinctNames,
  assertEmpty,
  chooseFormat,
  createAncestors,
  createShared,
  formatAbove,
  isTaken,
  layoutOfNewNode,
} from "./assertions.ts";

/** Opens a path in a readable store for a new node: chunks are written to their final keys, and documents last. */
export async function placeInStore(
  store: WritableStore,
  path: string,
  options: PlaceOptions,
): Promise<OpenCreateTarget> {
  const { ifExists = "error", maxMetadata, signal } = options;
  const reading = { maxMetadata, signal };
  const zarrFormat = chooseFormat(options, path, await formatAbove(store, path, reading));
  const layout = layoutOfNewNode(path, zarrFormat, options);
  const findings = await assertDistinctNames(store, layout, signal);
  if (ifExists === "error" && (await isTaken(store, layout, options.kind, reading)))
    throw alreadyExists(store, path);
  const site: NodeDraft = {
    store,
    layout,
    findings,
    publish: (documents) =>
      refreshConsolidated(
        store,
        { groups: ancestorPaths(path), nodes: [path] },
        async () => {
          await createShared(store, zarrFormat, { signal });
          await writeDocuments(store, documents, signal);
          const ancestors = await createAncestors(store, path, zarrFormat, { signal });
          return { removed: path, written: new Map([...documents, ...ancestors]) };
        },
        reading,
      ),
    discard: (undo) => undo(),
  };
  return {
    layout,
    async begin(metadata) {
      if (ifExists === "replace") await clear(store, layout, metadata, reading);
      else if (options.mustBeEmpty) await assertEmpty(store, layout, signal);
      return site;
    },
  };
}

async function clear(
  store: WritableStore,
  layout: NodeLayout,
  metadata: NodeMetadata,
  reading: ReadDocumentOptions,
): Promise<void> {
  const { signal } = reading;
  const change = async () => {
    await deleteKeys(store, layout, metadata, { signal });
    return { removed: layout.path, written: new Map() };
  };
  const scope = { groups: ancestorPaths(layout.path), nodes: [layout.path] };
  await refreshConsolidated(store, scope, change, reading);
}

/** Error for a place that already has a node. */
export function alreadyExists(store: Store, path: string): ZarrflowError {
  return new ZarrflowError("target-exists", "a node already exists", {
    store: store.description,
    path,
    hint: 'Replace it with ifExists: "replace", or choose another path.',
  });
}

export interface PlaceOptions {
  readonly zarrFormat?: ZarrFormat | undefined;
  /** Kind of the new node. */
  readonly kind: NodeMetadata["kind"];
  readonly ifExists?: "error" | "replace" | undefined;
  readonly allowUnicode?: boolean | undefined;
  /** Rejects a place with keys below it, even if there is no node. */
  readonly mustBeEmpty?: boolean | undefined;
  /** Maximum size of existing documents in bytes. */
  readonly maxMetadata?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A place for a new node; nothing is changed before `begin`. */
export interface OpenCreateTarget {
  /** Layout of its keys in the store in which it is created. */
  readonly layout: NodeLayout;
  begin(metadata: NodeMetadata): Promise<NodeDraft>;
}

/** A node that is being created. */
export interface NodeDraft {
  readonly store: WritableStore;
  readonly layout: NodeLayout;
  /** Problems found in the hierarchy around it that did not prevent creation. */
  readonly findings?: readonly Finding[];
  /** Writes its documents and makes it visible; `undo` removes its other keys. */
  publish(documents: Documents, undo: () => Promise<void>): Promise<void>;
  /** Removes it; `undo` removes the keys that were written. */
  discard(undo: () => Promise<void>, reason: unknown): Promise<void>;
}

/** Writes the documents of a draft, in order. */
export async function writeDocuments(
  store: WritableStore,
  documents: Documents,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const [key, bytes] of documents) await store.set(key, bytes, { signal });
}

/** The place of a new node: a URL, a store of zarrflow or zarrita (its root), or a path in a store. */
export type CreateTarget =
  | string
  | URL
  | Store
  | ZarritaStore
  | { readonly store: Store | ZarritaStore; readonly path: string };

/**
 * Resolves a target to a place.
 *
 * @throws `target-exists`, `target-not-empty`; `path-not-allowed` below an array, `invalid-node-name`;
 *   `unsupported-operation` if the store is not writable; `invalid-option` for a format other than the one of the
 *   hierarchy around it.
 */
export async function resolveTarget(at: CreateTarget, options: PlaceOptions): Promise<OpenCreateTarget> {
  assertPlace(at, "target");
  const target = textOfUrl(at);
  await loadStreams();
  if (typeof target !== "string") {
    if (!("get" in target || "store" in target))
      throw invalidOption("nothing can be created there", "a URL, a store or { store, path }", target);
    const { store, path } = "get" in target ? { store: target, path: "" } : target;
    const place = await placeIn(assertWritable(toStore(store)), normalizePath(path), options);
    assertPath(place.layout, path);
    return place;
  }
  const { spec, path, zarrFormat } = parseStoreUrl(target);
  const asked = { ...options, zarrFormat: agreed(options.zarrFormat, zarrFormat) };
  const folder = childSpec(spec, path);
  if (folder?.kind === "directory") return placeOfFolder(folder, asked);
  if (folder?.kind === "s3") return placeOfPrefix(folder, asked);
  const store = path === "" || isZip(spec) ? undefined : await openStoreIfThere(spec);
  return store ? placeIn(assertWritable(store), path, asked) : placeInNewStore(spec, path, asked);
}

/** Opens a path in an open store. A store that only grows, such as a zip being written, is assumed to be empty. */
async function placeIn(store: WritableStore, path: string, options: PlaceOptions): Promise<OpenCreateTarget> {
  if (!store.singleWriter) return placeInStore(store, path, options);
  return placeInBuild(
    async () => ({ store, publish: async () => {}, discard: async () => {} }),
    path,
    options,
  );
}

/** Opens a folder, to be built beside its name, anywhere in a hierarchy. */
async function placeOfFolder(spec: StoreSpec, options: PlaceOptions): Promise<OpenCreateTarget> {
  const { ifExists = "error", maxMetadata, signal } = options;
  const reading = { maxMetadata, signal };
  const hierarchyAround = await parentHierarchyOf(spec);
  const zarrFormat = chooseFormat(
    options,
    hierarchyAround.path,
    await formatAbove(hierarchyAround.store, hierarchyAround.path, reading),
  );
  const { hierarchy } = layoutOfNewNode(hierarchyAround.path, zarrFormat, options);
  const isReplaced = hierarchyAround.path === "" && ifExists === "replace";
  if (hierarchy.sharedKeys.length > 0 && !isReplaced)
    return placeInHierarchy(hierarchyAround, { ...options, zarrFormat });
  const layout = formatNamed(zarrFormat).layout("");
  return {
    layout,
    async begin() {
      const onTaken = () => assertUnlockedAbove(hierarchyAround, { signal });
      // first, because a node that another run is changing may lack its documents
      await onTaken();
      if (ifExists === "replace") await assertReplaceable({ store: spec, path: "" }, options);
      const build = await openTargetBuild(spec, { ifExists, onTaken });
      const publish = async (documents: Documents) => {
        await createShared(build.store, zarrFormat, { signal });
        await writeDocuments(build.store, documents, signal);
        await build.publish({ signal });
        const ancestors = await createAncestors(hierarchyAround.store, hierarchyAround.path, zarrFormat, {});
        const own = [...documents].map(([key, bytes]): [string, Uint8Array] => [
          joinKey(hierarchyAround.path, key),
          bytes,
        ]);
        return { removed: hierarchyAround.path, written: new Map([...own, ...ancestors]) };
      };
      return {
        store: build.store,
        layout,
        publish: (documents) => {
          const scope = { groups: ancestorPaths(hierarchyAround.path), nodes: [hierarchyAround.path] };
          return refreshConsolidated(hierarchyAround.store, scope, () => publish(documents), reading);
        },
        discard: () => build.discard(),
      };
    },
  };
}

/** Opens a prefix of a bucket, which cannot rename: in a hierarchy, keys are written to their final place. */
async function placeOfPrefix(spec: StoreSpec, options: PlaceOptions): Promise<OpenCreateTarget> {
  const hierarchyAround = await parentHierarchyOf(spec);
  if (hierarchyAround.path === "") return placeInNewStore(spec, "", options);
  const place = await placeInStore(hierarchyAround.store, hierarchyAround.path, options);
  return {
    layout: place.layout,
    async begin(metadata) {
      if (options.ifExists === "replace") await assertReplaceable({ store: spec, path: "" }, options);
      const { ifExists = "error", kind, maxMetadata, signal } = options;
      const begin = async () => {
        // another run may have created a node before the place was locked
        const isMade =
          ifExists === "error" &&
          (await isTaken(hierarchyAround.store, place.layout, kind, { maxMetadata, signal }));
        if (isMade) throw alreadyExists(hierarchyAround.store, hierarchyAround.path);
        return place.begin(metadata);
      };
      return lockedDraft(hierarchyAround, begin, signal);
    },
  };
}

/** Starts a node at its final place, which stays locked until the node is published or discarded. */
async function lockedDraft(
  hierarchyAround: ParentHierarchy,
  begin: () => Promise<NodeDraft>,
  signal: AbortSignal | undefined,
): Promise<NodeDraft> {
  const lock = await lockPlace(hierarchyAround, { signal });
  try {
    const draft = await begin();
    return {
      ...draft,
      async publish(documents, undo) {
        await lock.assertHeld();
        await draft.publish(documents, undo);
        await lock.release();
      },
      async discard(undo, reason) {
        try {
          // keys that another run has taken over are not removed
          await lock.assertHeld();
          await draft.discard(undo, reason);
        } finally {
          await lock.release();
        }
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Opens a place in a hierarchy that does not store nodes in folders. A new hierarchy is built as a whole. */
async function placeInHierarchy(
  { store, spec, path }: ParentHierarchy,
  options: PlaceOptions,
): Promise<OpenCreateTarget> {
  const { maxMetadata, signal } = options;
  const root = (await readDocument(store, HIERARCHY_KEY, { maxMetadata, signal }))?.bytes;
  return root ? placeInStore(store, path, options) : placeInNewStore(spec, path, options);
}

/** Opens a store that is built as a whole: a zip, or a memory store without a name yet. */
async function placeInNewStore(
  spec: StoreSpec,
  path: string,
  options: PlaceOptions,
): Promise<OpenCreateTarget> {
  const { ifExists = "error" } = options;
  const inside = ifExists === "replace" && path !== "" ? await openStoreIfThere(spec) : undefined;
  if (inside) {
    await inside.close?.();
    throw new ZarrflowError("unsupported-operation", "a single node of an archive cannot be replaced", {
      path,
      hint: "Recreate the whole archive, or use a folder.",
    });
  }
  const open = async () => {
    if (ifExists === "replace") await assertReplaceable({ store: spec, path }, options);
    return openTargetBuild(spec, { ifExists });
  };
  return placeInBuild(open, path, options);
}

/** Opens a place in a new, empty store that cannot be read before it is finished. */
function placeInBuild(
  open: () => Promise<Pick<TargetBuild, "store" | "publish" | "discard">>,
  path: string,
  options: PlaceOptions,
): OpenCreateTarget {
  const { signal } = options;
  const zarrFormat = chooseFormat(options, path, undefined);
  const layout = layoutOfNewNode(path, zarrFormat, options);
  return {
    layout,
    async begin() {
      const build = await open();
      return {
        store: build.store,
        layout,
        async publish(documents) {
          await createShared(build.store, zarrFormat, { signal });
          await writeDocuments(build.store, documents, signal);
          for (const above of ancestorDocuments(path, zarrFormat))
            await writeDocuments(build.store, above, signal);
          await build.publish({ signal });
        },
        discard: () => build.discard(),
      };
    },
  };
}
