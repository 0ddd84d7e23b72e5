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

/** What the names of scratch folders begin with, after a dot. */
export const SCRATCH = "scratch";
/** The file in a scratch folder that names its owner. */
const OWNER = "owner.json";
/** Those of a run with a target far away stay so long for one that resumes it. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/** A scratch folder that names no owner belongs to a run that was killed as it began, if its process is gone, or it is older than this. */
const STALE_AFTER_MS = 24 * 60 * 60 * 1000;

/** Whose a scratch folder is. */
interface ScratchOwner extends ProcessRecord {
  /** Where its run keeps what it has done; "" where that is lost with the run. */
  readonly keptBy: string;
  /** Whether processes of several machines use it: no other run removes it. */
  readonly isJoint: boolean;
}

/** A name for a scratch folder: it ends in this process, which is known so before the folder is signed. */
export function scratchName(): string {
  return controlName(SCRATCH, processTag());
}

/** Leaves in a scratch folder whose it is; one that is kept stays as long as `keptBy`, where that is a path, or a week. */
export function signScratch(folder: string, keptBy = ""): Promise<void> {
  return sign(folder, { ...thisProcess(), keptBy, isJoint: false });
}

/** Leaves word that processes of several machines use a scratch folder. */
export function signJointScratch(folder: string): Promise<void> {
  return sign(folder, { keptBy: "", isJoint: true });
}

async function sign(folder: string, owner: ScratchOwner): Promise<void> {
  // at one go: a run that is killed leaves the whole record or none
  const unfinished = join(folder, temporaryName(processTag()));
  await writeFile(unfinished, JSON.stringify(owner));
  await rename(unfinished, join(folder, OWNER));
}

/** Undefined for one that nobody has signed. */
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

/** Whether a folder is one of scratch objects of this user's that a run has left, for the one with the folder `run`. */
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
 * Removes the scratch folders of this user's runs that were killed, and that no run can resume: also those kept by
 * `keptBy`, whose only run is the caller's, but for `left`. What cannot be looked at, or removed, is left.
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
      // another run removes it, or nobody may
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

/** Where the system does not tell a process from all others, one of that number may be another. */
function isOver(owner: ScratchOwner): boolean {
  const state = processState(owner);
  if (state !== undefined) return state === "ended";
  return owner.host === hostname() && owner.pid !== undefined && !isAlive(owner.pid);
}
