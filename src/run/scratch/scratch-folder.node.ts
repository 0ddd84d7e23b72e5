import { lstat, mkdir, readdir, readFile, rename, statfs, writeFile } from "node:fs/promises";
import { hostname, tmpdir, userInfo } from "node:os";
import { basename, isAbsolute, join, resolve } from "node:path";
import { removeFolder } from "../../stores/directory/directory-tree.ts";
import { DirectoryStore } from "../../stores/directory.ts";
import { fileError } from "../../stores/files/file-error.ts";
import {
  isAlive,
  processState,
  processTag,
  taggedState,
  thisProcess,
} from "../../stores/files/process-record.node.ts";
import { type ProcessRecord, processRecordOf } from "../../stores/files/process-record.ts";
import { controlName, isControlName, temporaryName } from "../../stores/reserved-names.ts";
import { isThere } from "../../targets/control-folder.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { formatBytes } from "../../util/units.ts";
import type { OpenScratchOptions, Scratch } from "./scratch.ts";

/** Mode of a scratch folder: other users have no access. */
const PRIVATE = 0o700;

/**
 * Makes a new folder for scratch objects in `parent`, which is created if it is missing, or takes over the folder that
 * an earlier run left. Removes folders that killed runs left there and that no run can resume.
 *
 * @throws `no-space` if fewer than `bytes` are free; `access-denied`.
 */
export async function openScratchFolder(
  parent = tmpdir(),
  { bytes, keptBy, left, joint }: Omit<OpenScratchOptions, "place">,
): Promise<Scratch> {
  if (joint) return openJointFolder(resolve(parent), joint);
  const details = { store: `directory ${parent}` };
  let path = join(resolve(parent), scratchName());
  try {
    await mkdir(parent, { recursive: true });
    const kept = left?.kind === "directory" && (await isKeptBy(left.path, keptBy)) ? left.path : undefined;
    await removeAbandoned(resolve(parent), { keptBy, left: kept });
    if (kept !== undefined) path = kept;
    else {
      await assertSpace(parent, bytes);
      await mkdir(path, { mode: PRIVATE });
    }
    await signScratch(path, keptBy);
  } catch (error) {
    throw fileError(error, details);
  }
  const remove = async (folder: string) => {
    try {
      await removeFolder(folder);
    } catch (error) {
      throw fileError(error, details);
    }
  };
  return {
    store: new DirectoryStore(path, { exclusive: true }),
    spec: { kind: "directory", path },
    removePass: (pass) => remove(join(path, String(pass))),
    keep: async () => {
      if (keptBy === undefined) await remove(path);
    },
    remove: () => remove(path),
  };
}

/**
 * Opens the scratch folder of a distributed run, which all its processes share. The process that ends the run removes
 * it.
 */
async function openJointFolder(
  parent: string,
  { id, share }: NonNullable<OpenScratchOptions["joint"]>,
): Promise<Scratch> {
  const path = join(parent, `.${SCRATCH}.zarrflow-${id.slice(-12)}`);
  const details = { store: `directory ${parent}` };
  try {
    await mkdir(parent, { recursive: true });
    await mkdir(path, { recursive: true, mode: PRIVATE });
    await signJointScratch(path);
  } catch (error) {
    throw fileError(error, details);
  }
  const leave = async () => {};
  return {
    store: new DirectoryStore(path, { shared: true }),
    spec: { kind: "directory", path, shared: true },
    removePass: leave,
    keep: leave,
    async remove() {
      if (share) return;
      try {
        await removeFolder(path);
      } catch (error) {
        throw fileError(error, details);
      }
    },
  };
}

/** Removes folders of scratch objects that killed runs left and that no run can resume. */
export function removeLeftFolders(parent = tmpdir()): Promise<void> {
  return removeAbandoned(parent);
}

async function assertSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new ZarrflowError("no-space", "the scratch objects will not fit on the disk", {
    store: `directory ${folder}`,
    expected: `${bytes} bytes (${formatBytes(bytes)})`,
    found: `${free} bytes free (${formatBytes(free)})`,
    hint: "Choose another place with --scratch, or use --strategy direct, which needs no scratch objects.",
  });
}

/** First part of the name of a scratch folder, after a dot. */
export const SCRATCH = "scratch";
/** The file in a scratch folder that names its owner. */
const OWNER = "owner.json";
/** Age up to which scratch objects of a run with a remote target are kept for a run that resumes it. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/**
 * A folder without an owner record belongs to a killed run at its start, if its process is gone or the folder
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
 * Writes the owner record of a scratch folder. The folder of a dead run is kept while `keptBy` exists if `keptBy` is a
 * path, for a week if it is any other text, and not at all if it is empty.
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
