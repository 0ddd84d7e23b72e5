import { type DocumentChanges, refreshConsolidated } from "../../hierarchy/edit/consolidated.ts";
import type { ParentHierarchy } from "../../hierarchy/edit/parent.ts";
import { openNode } from "../../hierarchy/open/open-node.ts";
import { allDocumentsBelow } from "../../hierarchy/open/walk.ts";
import { formatNamed } from "../../meta/formats.ts";
import type { Plan } from "../../plan/plan.ts";
import { publishDocuments } from "../../run/documents.ts";
import type { RunReport } from "../../run/events.ts";
import { ListedChunks } from "../../run/keys/keys-to-copy.ts";
import { uncheckedIn } from "../../run/run-plan.ts";
import { Unpublisher } from "../../run/unpublish.ts";
import { type Verified, verifyTarget } from "../../run/verify.ts";
import { lockContents, type StoreLock } from "../../targets/store-lock.ts";
import { followSignals } from "../../util/abort.ts";
import { ancestorPaths } from "../../util/node-path.ts";
import type { ReadableStream } from "../../util/web-streams.ts";
import type { Pair } from "./differing-keys.ts";
import { type OpenUpdateOptions, openUpdate } from "./open-update.ts";
import {
  copyDifferences,
  deleteExtra,
  differences,
  extraDocuments,
  type UpdateContext,
} from "./update-keys.ts";

export interface RunUpdateOptions extends OpenUpdateOptions {
  /** The hierarchy around the target, and its place there. */
  readonly hierarchyAround: ParentHierarchy | undefined;
  /** Called when this run owns the place, before anything changes there; an error ends the run. */
  readonly onTaken?: (() => Promise<void>) | undefined;
  /** Takes the place even if another run holds its lock. */
  readonly breakLock?: boolean | undefined;
}

/**
 * Makes an existing target equal to the source: copies keys whose values differ, and deletes keys that the source does
 * not have. An array is hidden from readers before its first chunk changes, until all its chunks are up to date. If
 * nothing differs, nothing is written.
 *
 * @throws `target-not-empty` if the target is not Zarr and something would be lost; `differs` as `verifyTarget`.
 */
export async function runUpdate(plan: Plan, options: RunUpdateOptions): Promise<RunReport> {
  const started = performance.now();
  let context = await openUpdate(plan, options);
  let verified: Verified = {};
  if (!(await isRight(context))) {
    const { lock } = await lockContents(context.target, options, async () => options.onTaken?.());
    const { signal, end } = followSignals(options.signal, lock?.lost);
    try {
      // the target may have changed before this run owned it
      context = await openUpdate(plan, { ...options, signal });
      verified = await updateLocked(context, lock, options.hierarchyAround);
    } finally {
      end();
      await lock?.release();
    }
  }
  const { log, buffers } = context;
  return log.ended({
    ...log.existing,
    seconds: (performance.now() - started) / 1000,
    ...verified,
    ...uncheckedIn(context.source),
    peakBuffers: buffers.peak,
  });
}

/** True if nothing differs; then counts all keys as kept. */
async function isRight(context: UpdateContext): Promise<boolean> {
  const { target, nodes, documents, log, maxMetadata, signal } = context;
  const changes = new Unpublisher(target, nodes, { maxMetadata, signal });
  await changes.look(documents.keys());
  let kept = documents.size;
  const areRight =
    (await isEmpty(differences(context, "values", ({ key }) => log.keyKept(key)))) &&
    (await isEmpty(differences(context, "documents", () => kept++))) &&
    changes.outdated(documents).size === 0 &&
    extraDocuments(context).length === 0;
  if (areRight) log.keysKept(kept);
  else log.repeat();
  return areRight;
}

/** Applies all differences, in a place that this run owns; returns what was read back. */
async function updateLocked(
  context: UpdateContext,
  lock: StoreLock | undefined,
  hierarchyAround: ParentHierarchy | undefined,
): Promise<Verified> {
  const { plan, target, nodes, documents, log, maxMetadata, signal } = context;
  const changes = new Unpublisher(target, nodes, { maxMetadata, signal });
  await changes.look(documents.keys());
  const place = hierarchyAround ?? { store: target, path: plan.target.path };
  const areLate = !(await isEmpty(differences(context, "documents", () => {})));
  let verified: Verified = {};
  const change = async () => {
    const listed = new ListedChunks();
    const values = differences(context, "values", ({ key }) => log.keyKept(key), listed.count);
    verified = await update(values, { ...context, changes, lock, areLate, listed });
    return documentsAt(place, maxMetadata);
  };
  const scope = { groups: ancestorPaths(place.path), nodes: [place.path] };
  await refreshConsolidated(place.store, scope, change, { maxMetadata, signal });
  return verified;
}

interface Changing extends UpdateContext {
  readonly changes: Unpublisher;
  readonly lock: StoreLock | undefined;
  /** Counts of the source's chunks, complete once all values have been compared. */
  readonly listed: ListedChunks;
  /** True if documents of other hierarchies, or consolidated metadata, differ. */
  readonly areLate: boolean;
}

/** Deletes surplus keys, then copies values, then documents, those of groups last. Returns what was read back. */
async function update(
  values: ReadableStream<Pair>,
  { changes, lock, areLate, listed, ...context }: Changing,
): Promise<Verified> {
  const { plan, target, documents, log, signal } = context;
  const { concurrency } = plan.execution;
  const { hierarchy } = formatNamed(plan.publication.zarrFormat).layout(plan.target.path);
  const readBack = (before?: Verified) => verifyTarget(plan, { ...context, before });
  const before = (key: string) => changes.before(key);
  const extra = extraDocuments(context);
  await changes.begin(extra);
  for (const _ of extra) log.keyDeleted();
  if (areLate) await deleteExtra(context, "documents", before);
  await deleteExtra(context, "values", before);
  await copyDifferences(values, context, before);
  listed.noteMissing(context.source, plan.jobs);
  await context.assertUnchanged?.({ signal });
  const verified = await readBack();
  await lock?.assertHeld({ signal });
  const onWritten = (key: string, bytes: Uint8Array) => log.documentWritten(key, bytes);
  const outdated = changes.outdated(documents);
  log.keysKept(documents.size - outdated.size);
  await publishDocuments(outdated, target, { concurrency, hierarchy, onWritten, signal });
  const others = differences(context, "documents", () => log.keysKept(1));
  await copyDifferences(others, context, async () => {});
  return readBack(verified);
}

/** Documents written at a place in a hierarchy, for the consolidated metadata of the groups above it. */
async function documentsAt(
  { store, path }: Pick<ParentHierarchy, "store" | "path">,
  maxMetadata: number | undefined,
): Promise<DocumentChanges> {
  const root = await openNode(store, path, { maxMetadata });
  const written = root ? await allDocumentsBelow(root) : new Map<string, Uint8Array>();
  return { removed: path, written };
}

async function isEmpty<T>(stream: ReadableStream<T>): Promise<boolean> {
  for await (const _ of stream) return false;
  return true;
}
