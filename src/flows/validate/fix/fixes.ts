import { homeOf } from "../../../hierarchy/edit/parent.ts";
import type { ZarrNode } from "../../../hierarchy/node.ts";
import { openNode } from "../../../hierarchy/open/open-node.ts";
import { lockPlace } from "../../../hierarchy/place-lock.ts";
import { joinKey } from "../../../meta/join-key.ts";
import type { StoreAccess } from "../../../stores/access.ts";
import { isListable, type ListableStore, type Store, type WritableStore } from "../../../stores/store.ts";
import { isZarrflowError } from "../../../util/errors.ts";
import { clean } from "../../clean.ts";
import type { FlowTarget } from "../../target/flow-target.ts";
import { isFault } from "../finding.ts";
import { readNodes } from "../nodes.ts";
import { fixConsolidated } from "./consolidated.ts";
import { fixDocuments } from "./documents.ts";
import { done, type Fix, fixed } from "./fix.ts";
import { fixOutsideChunks } from "./outside-chunks.ts";
import { OverlayStore } from "./overlay-store.ts";
import { rewriteZip } from "./rewrite-zip.ts";

export interface FixOptions {
  /** Changes nothing. */
  readonly dryRun: boolean;
  readonly maxMemory: number;
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
}

/** Removes the leftovers that `clean` removes. */
export async function* fixLeftovers(
  target: FlowTarget,
  path: string,
  { dryRun, signal, ...access }: Pick<FixOptions, "dryRun" | "signal"> & StoreAccess,
): AsyncGenerator<Fix> {
  for await (const { kind, place, isRemoved } of clean(target, { ...access, dryRun, signal })) {
    if (!isRemoved) continue;
    const message = `${place} (${kind}), which a run that was killed has left, ${done("was", "removed", dryRun)}`;
    if (kind === "lock") yield fixed("lock", path, message);
    else yield fixed(kind === "upload" ? "open-upload" : "leftover", path, message, { place });
  }
}

/** True if a zip cannot be rewritten, because entries that are not keys would be lost. */
export function isZipKept({ findings = [] }: Store): boolean {
  return findings.some(({ isDuplicate }) => !isDuplicate);
}

/**
 * Fixes a hierarchy in a zip, by rewriting the zip if anything needs to be fixed.
 *
 * @throws `source-changed`; what writing a zip throws.
 */
export async function fixZip(root: ZarrNode, zip: ListableStore, options: FixOptions): Promise<Fix[]> {
  const overlay = new OverlayStore(zip);
  if (isZipKept(zip)) return [];
  const duplicates = zip.findings ?? [];
  const fixes = await fixNodes(root, overlay, options);
  for (const { key } of duplicates) {
    const message = `the earlier of two zip entries of this name ${done("was", "left out of the zip, which is written again", options.dryRun)}`;
    fixes.push(fixed("zip-entry", root.path, message, { key }));
  }
  const isChanged = overlay.changes.size > 0 || duplicates.length > 0;
  if (isChanged && !options.dryRun) await rewriteZip(zip, root.spec, overlay.changes, options);
  return fixes;
}

/**
 * Fixes a hierarchy in a store that is written in place, under a lock.
 *
 * @throws `unsupported-operation` for a read-only store; `locked`.
 */
export async function fixInPlace(opened: ZarrNode, options: FixOptions): Promise<Fix[]> {
  const { dryRun, signal } = options;
  const home = await homeOf(opened);
  const above = opened.path === "" ? joinKey(home.path, "") : home.path.slice(0, -opened.path.length);
  const store = dryRun ? new OverlayStore(home.store) : home.store;
  const { spec } = home;
  const { zarrFormat } = opened.layout;
  const root =
    above === "" ? opened : await openNode(store, home.path, { ...opened.reading, spec, zarrFormat, signal });
  const lock = dryRun ? undefined : await lockPlace(home, { isArray: opened.kind === "array", signal });
  try {
    if (!root) return [];
    const fixes = isListable(home.store)
      ? await fixNodes(root, store as ListableStore & WritableStore, options)
      : await all(fixConsolidated(root, store, options));
    return fixes.map((fix) => ownNames(fix, above));
  } finally {
    await lock?.release();
  }
}

/** Converts the paths of a fix to those of the opened store, which may be inside the fixed one. */
function ownNames({ path, key, ...fix }: Fix, above: string): Fix {
  const own = (name: string) =>
    joinKey(name, "") === above ? "" : name.slice(name.startsWith(above) ? above.length : 0);
  return { ...fix, path: own(path), ...(key !== undefined && { key: own(key) }) };
}

async function fixNodes(
  root: ZarrNode,
  store: ListableStore & WritableStore,
  options: FixOptions,
): Promise<Fix[]> {
  const before = await readNodes(root, store, options);
  const fixes = await unlessFaulty(fixDocuments(root, store, before, options));
  const read = fixes.length > 0 ? await readNodes(root, store, options) : before;
  fixes.push(...(await unlessFaulty(fixOutsideChunks(root, store, read, options))));
  fixes.push(...(await unlessFaulty(fixConsolidated(root, store, options))));
  return fixes;
}

/** Collects fixes. Returns none if they need something stored that is broken, which a finding reports. */
async function unlessFaulty(fixes: AsyncGenerator<Fix>): Promise<Fix[]> {
  try {
    return await all(fixes);
  } catch (error) {
    if (isFault(error) && !isZarrflowError(error, "access-denied")) return [];
    throw error;
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
