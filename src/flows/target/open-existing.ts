import { ConsolidatedMetadata, refreshConsolidated } from "../../hierarchy/edit/consolidated.ts";
import { openNode } from "../../hierarchy/open/open-node.ts";
import { allDocumentsBelow } from "../../hierarchy/open/walk.ts";
import type { ReadDocumentOptions } from "../../hierarchy/stored-documents.ts";
import { formatNamed } from "../../meta/formats.ts";
import type { ArrayJob, Plan, PlannedDocument } from "../../plan/plan.ts";
import type {
  ListableStore,
  LockOptions,
  StoreOptions,
  TargetBuild,
  WritableStore,
} from "../../stores/store.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { type Medium, targetBuild } from "../../targets/build.ts";
import type { TargetBuildOptions } from "../../targets/index.ts";
import { lockContents } from "../../targets/store-lock.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { assertEditable, openExistingTarget } from "./flow-target.ts";

interface OpenAdditionOptions extends LockOptions, ReadDocumentOptions, Pick<TargetBuildOptions, "onTaken"> {}

/**
 * Opens an existing target to add nodes in place. Their documents are written last, so a node is visible only once
 * it is complete. Chunks that already are in the place of a new array are deleted first, as they would be read as
 * part of it. Consolidated metadata of the groups above list the new nodes at the end. Discarding the build deletes
 * the added documents and chunks.
 *
 * @throws `target-exists` if the target has changed since the plan was made; `unsupported-operation`.
 */
export async function openExistingBuild(
  plan: Plan,
  { breakLock, maxMetadata, onTaken, signal }: OpenAdditionOptions,
): Promise<TargetBuild> {
  const reading = { maxMetadata, signal };
  const { target, publication, jobs } = plan;
  const store = (await openUnchanged(plan, reading)).store;
  const renewed = async ({ areAny }: ConsolidatedMetadata) => {
    const root = areAny ? await openNode(store, target.path, { maxMetadata }) : undefined;
    return { written: root ? await allDocumentsBelow(root) : new Map<string, Uint8Array>() };
  };
  const clear = async (options: StoreOptions) => {
    const concurrency = plan.execution.concurrency;
    const remove = (key: string) => store.delete(key, options);
    const documents = publication.documents.map(({ key }) => key);
    await forEachConcurrent(documents, remove, { concurrency });
    for (const job of jobs) {
      await forEachConcurrent(chunkKeys(store, job, options), remove, { concurrency });
    }
  };
  const begin = async () => {
    await onTaken?.();
    const { nodes } = await openUnchanged(plan, reading); // the target may have changed until it was locked
    const groups = [...nodes].flatMap(([path, { kind }]) => (kind === "group" ? [path] : []));
    const { nodeOf } = formatNamed(publication.zarrFormat).layout(target.path).hierarchy;
    const added = [...new Set(publication.documents.flatMap(({ key }) => nodeOf(key) ?? []))];
    await (await ConsolidatedMetadata.find(store, groups, reading)).unlist(added);
    await clear({ signal });
    return groups;
  };
  const { lock, begun: groups } = await lockContents(store, { breakLock, signal }, begin);
  let isVisible = false;
  const medium: Medium = {
    store,
    isInPlace: true,
    async publish() {
      isVisible = true; // the documents are written
      await refreshConsolidated(store, { groups, nodes: [] }, renewed, { maxMetadata });
    },
    async discard() {
      if (!isVisible) await clear({});
    },
  };
  return targetBuild(medium, { claim: lock });
}

/** Opens the target that receives the nodes. @throws `target-exists` if it has changed since the plan was made. */
async function openUnchanged({ target, publication }: Plan, options: ReadDocumentOptions) {
  const existing = await openExistingTarget(target, publication.zarrFormat, options);
  const { nodeOf } = formatNamed(publication.zarrFormat).layout(target.path).hierarchy;
  const isThere = ({ key }: PlannedDocument) => existing?.nodes.has(nodeOf(key) ?? key);
  if (existing === undefined || publication.documents.some(isThere)) {
    throw new ZarrflowError("target-exists", "the target changed after the copy was planned", {
      hint: "Run it again.",
    });
  }
  return { store: assertEditable(existing.store), nodes: existing.nodes };
}

/** Existing keys that would be chunks of an array of the plan. */
async function* chunkKeys(
  store: WritableStore & ListableStore,
  { targetPath, target }: ArrayJob,
  options: StoreOptions,
): AsyncGenerator<string> {
  const layout = formatNamed(target.zarrFormat).layout(targetPath);
  for await (const { key } of store.list(layout.chunksPrefix, options)) {
    if (layout.parseChunkKey(key, target.shape.length, target.chunkKeyEncoding)) yield key;
  }
}
