import { HIERARCHY_KEY } from "../../meta/detect.ts";
import type { Documents } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import { joinKey } from "../../meta/join-key.ts";
import { assertPlace, assertWritable, textOfUrl } from "../../stores/assertions.ts";
import { childSpec } from "../../stores/folder-spec.ts";
import type { Store, StoreSpec, TargetBuild, WritableStore } from "../../stores/store.ts";
import { isZip } from "../../stores/store-traits.ts";
import { openTargetBuild } from "../../stores/target.ts";
import { openStoreIfThere, parseStoreUrl } from "../../stores/url.ts";
import { toStore, type ZarritaStore } from "../../stores/with/zarrita.ts";
import { invalid } from "../../util/check-options.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { ancestorPaths, normalisePath } from "../../util/node-path.ts";
import { loadStreams } from "../../util/web-streams.ts";
import { assertPath } from "../assert-path.ts";
import { refreshConsolidated } from "../edit/consolidated.ts";
import { type ParentHierarchy, parentHierarchyOf } from "../edit/parent.ts";
import { assertUnlockedAbove } from "../parent-hierarchy.ts";
import { lockPlace } from "../place-lock.ts";
import { assertReplaceable } from "../replaceable.ts";
import { readDocument } from "../stored-documents.ts";
import { ancestorDocuments, createAncestors, createShared, formatAbove } from "./ancestors.ts";
import { isTaken } from "./assertions.ts";
import { agreed, chooseFormat, layoutOf } from "./format.ts";
import { type NodeDraft, type OpenCreateTarget, type PlaceOptions, writeDocuments } from "./node-draft.ts";
import { exists, placeInStore } from "./place-in-store.ts";

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
export async function placeOf(at: CreateTarget, options: PlaceOptions): Promise<OpenCreateTarget> {
  assertPlace(at, "target");
  const target = textOfUrl(at);
  await loadStreams();
  if (typeof target !== "string") {
    if (!("get" in target || "store" in target))
      throw invalid("nothing can be created there", "a URL, a store or { store, path }", target);
    const { store, path } = "get" in target ? { store: target, path: "" } : target;
    const place = await placeIn(assertWritable(toStore(store)), normalisePath(path), options);
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
  const home = await parentHierarchyOf(spec);
  const zarrFormat = chooseFormat(options, home.path, await formatAbove(home.store, home.path, reading));
  const { hierarchy } = layoutOf(home.path, zarrFormat, options);
  const isReplaced = home.path === "" && ifExists === "replace";
  if (hierarchy.sharedKeys.length > 0 && !isReplaced)
    return placeInHierarchy(home, { ...options, zarrFormat });
  const layout = formatNamed(zarrFormat).layout("");
  return {
    layout,
    async begin() {
      if (ifExists === "replace") await assertReplaceable({ store: spec, path: "" }, options);
      const onTaken = () => assertUnlockedAbove(home, { signal });
      await onTaken();
      const build = await openTargetBuild(spec, { ifExists, onTaken });
      const publish = async (documents: Documents) => {
        await createShared(build.store, zarrFormat, { signal });
        await writeDocuments(build.store, documents, signal);
        await build.publish({ signal });
        const ancestors = await createAncestors(home.store, home.path, zarrFormat, {});
        const own = [...documents].map(([key, bytes]): [string, Uint8Array] => [
          joinKey(home.path, key),
          bytes,
        ]);
        return { removed: home.path, written: new Map([...own, ...ancestors]) };
      };
      return {
        store: build.store,
        layout,
        publish: (documents) => {
          const scope = { groups: ancestorPaths(home.path), nodes: [home.path] };
          return refreshConsolidated(home.store, scope, () => publish(documents), reading);
        },
        discard: () => build.discard(),
      };
    },
  };
}

/** Opens a prefix of a bucket, which cannot rename: in a hierarchy, keys are written to their final place. */
async function placeOfPrefix(spec: StoreSpec, options: PlaceOptions): Promise<OpenCreateTarget> {
  const home = await parentHierarchyOf(spec);
  if (home.path === "") return placeInNewStore(spec, "", options);
  const place = await placeInStore(home.store, home.path, options);
  return {
    layout: place.layout,
    async begin(metadata) {
      if (options.ifExists === "replace") await assertReplaceable({ store: spec, path: "" }, options);
      const { ifExists = "error", kind, maxMetadata, signal } = options;
      const begin = async () => {
        // another run may have created a node before the place was locked
        const isMade =
          ifExists === "error" && (await isTaken(home.store, place.layout, kind, { maxMetadata, signal }));
        if (isMade) throw exists(home.store, home.path);
        return place.begin(metadata);
      };
      return lockedDraft(home, begin, signal);
    },
  };
}

/** Starts a node at its final place, which stays locked until the node is published or discarded. */
async function lockedDraft(
  home: ParentHierarchy,
  begin: () => Promise<NodeDraft>,
  signal: AbortSignal | undefined,
): Promise<NodeDraft> {
  const lock = await lockPlace(home, { signal });
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
    throw new ZarrflowError("unsupported-operation", "one node of an archive cannot be replaced", {
      path,
      hint: "Create the whole archive again, or use a folder.",
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
  const layout = layoutOf(path, zarrFormat, options);
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
