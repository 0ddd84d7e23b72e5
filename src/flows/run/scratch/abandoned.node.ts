import { lstat, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { hostname, userInfo } from "node:os";
import { basename, isAbsolute, join } from "node:path";
import { removeFolder } from "../../../stores/directory/remove-folder.ts";
import { controlName, isControlName, temporaryName } from "../../../stores/reserved-names.ts";
import { isThere } from "../../../stores/target/control-folder.ts";
import {
  isAlive,
  processState,
  processTag,
  taggedState,
  thisProcess,
} from "../../../stores/target/process-record.node.ts";
import { type ProcessRecord, processRecordOf } from "../../../stores/target/process-record.ts";

/** First part of the name of a scratch folder, after a dot. */
export const SCRATCH = "scratch";
/** The file in a scratch folder that names its owner. */
const OWNER = "owner.json";
/** Age up to which scratch objects of a run with a remote target are kept for a run that resumes it. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/**
 * A folder without an owner record belongs to a run that was killed at its start, if its process is gone or the folder
 * is older than this.
 */
const STALE_AFTER_MS = 24 * 60 * 60 * 1000;

/** Owner record of a scratch folder. */
interface ScratchOwner extends ProcessRecord {
  /** Place where the run keeps its progress; "" if nothing survives the run. */
  readonly keptBy: string;
  /** True if processes on several machines use the folder: no other run removes it. */
  readonly isJoint: boolean;
}

/**
 * Returns a name for a scratch folder. It ends in a tag of this process, which identifies the owner before the folder
 * is signed.
 */
export function scratchName(): string {
  return controlName(SCRATCH, processTag());
}

/**
 * Writes the owner record of a scratch folder. The folder of a dead run is kept while `keptBy` exists if that is a
 * path, otherwise for a week; without `keptBy` it is not kept.
 */
export function signScratch(folder: string, keptBy = ""): Promise<void> {
  return sign(folder, { ...thisProcess(), keptBy, isJoint: false });
}

/** Marks a scratch folder as used by processes on several machines. */
export function signJointScratch(folder: string): Promise<void> {
  return sign(folder, { keptBy: "", isJoint: true });
}

async function sign(folder: string, owner: ScratchOwner): Promise<void> {
  // Rename is atomic: a killed run leaves the whole record or none.
  const unfinished = join(folder, temporaryName(processTag()));
  await writeFile(unfinished, JSON.stringify(owner));
  await rename(unfinished, join(folder, OWNER));
}

/** Returns undefined for a folder without an owner record. */
async function ownerOf(folder: string): Promise<ScratchOwner | undefined> {
  try {
    const fields: { readonly [name: string]: unknown } =
      JSON.parse(await readFile(join(folder, OWNER), "utf8")) ?? {};
    const { keptBy, isJoint } = fields;
    if (typeof keptBy !== "string" || typeof isJoint !== "boolean") return undefined;
    return { ...processRecordOf(fields), keptBy, isJoint };
  } catch {
    return undefined;
  }
}

/** True if an earlier run of this user, which keeps its progress at `run`, left these scratch objects. */
export async function isKeptBy(folder: string, run: string | undefined): Promise<boolean> {
  try {
    const stat = await lstat(folder);
    if (!isControlName(basename(folder), SCRATCH) || !stat.isDirectory() || !isOurs(stat.uid)) return false;
    return run !== undefined && (await ownerOf(folder))?.keptBy === run;
  } catch {
    return false;
  }
}

function isOurs(owner: number): boolean {
  const { uid } = userInfo();
  return owner === uid || uid === -1;
}

/**
 * Removes scratch folders of this user whose runs were killed and cannot be resumed. This includes folders kept by
 * `keptBy`, since only the caller can resume that run, but not `left`. Folders that cannot be inspected or removed are
 * skipped.
 */
export async function removeAbandoned(
  parent: string,
  { keptBy, left }: { readonly keptBy?: string | undefined; readonly left?: string | undefined } = {},
): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const folder = join(parent, name);
    if (!isControlName(name, SCRATCH) || folder === left) continue;
    try {
      const stat = await lstat(folder);
      if (stat.isDirectory() && isOurs(stat.uid) && (await isAbandoned(folder, stat.mtimeMs, keptBy)))
        await removeFolder(folder);
    } catch {
      // another run is removing it, or access is denied
    }
  }
}

async function isAbandoned(folder: string, changed: number, run: string | undefined): Promise<boolean> {
  const owner = await ownerOf(folder);
  if (owner === undefined) {
    return taggedState(folder) === "ended" || Date.now() - changed > STALE_AFTER_MS;
  }
  const { keptBy, isJoint } = owner;
  if (isJoint || !isOver(owner)) return false;
  if (keptBy === run) return true;
  return isAbsolute(keptBy) ? !(await isThere(keptBy)) : keptBy === "" || Date.now() - changed > KEPT_MS;
}

/**
 * True if the owner has ended. If the system cannot identify a process exactly, another process may have reused its
 * number.
 */
function isOver(owner: ScratchOwner): boolean {
  const state = processState(owner);
  if (state !== undefined) return state === "ended";
  return owner.host === hostname() && owner.pid !== undefined && !isAlive(owner.pid);
}
