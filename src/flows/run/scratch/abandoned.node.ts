import { lstat, readdir, readFile, writeFile } from "node:fs/promises";
import { hostname, userInfo } from "node:os";
import { basename, isAbsolute, join } from "node:path";
import { removeFolder } from "../../../stores/directory/remove-folder.ts";
import { controlName, isControlName } from "../../../stores/reserved-names.ts";
import { isThere } from "../../../stores/target/control-folder.ts";
import { isAlive } from "../../../stores/target/process-record.node.ts";

/** What the names of scratch folders begin with, after a dot. */
export const SCRATCH = "scratch";
/** The file in a scratch folder that names its owner: machine, process, and where the run keeps what it has done, a line each. */
const OWNER = "owner";
/** Those of a run with a target far away stay so long for one that resumes it. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/** A scratch folder that names no owner belongs to a run that was killed as it began, if its process is gone, or it is older than this. */
const STALE_AFTER_MS = 24 * 60 * 60 * 1000;

/** A name for a scratch folder: it ends in this process, which is known so before the folder is signed. */
export function scratchName(): string {
  return `${controlName(SCRATCH)}-${process.pid.toString(36)}`;
}

/** Leaves in a scratch folder whose it is; one that is kept stays as long as `keptBy`, where that is a path, or a week. */
export async function signScratch(folder: string, keptBy = ""): Promise<void> {
  await writeFile(join(folder, OWNER), `${hostname()}\n${process.pid}\n${keptBy}\n`);
}

/** Leaves word that processes of several machines use a scratch folder: no other run removes it. */
export async function signJointScratch(folder: string): Promise<void> {
  await writeFile(join(folder, OWNER), "*\n0\n\n");
}

/** Whether a folder is one of scratch objects of this user's that a run has left, for the one with the folder `run`. */
export async function isKeptBy(folder: string, run: string | undefined): Promise<boolean> {
  try {
    const stat = await lstat(folder);
    if (!isControlName(basename(folder), SCRATCH) || !stat.isDirectory() || !isOurs(stat.uid)) return false;
    const [, , keptBy] = (await readFile(join(folder, OWNER), "utf8")).split("\n");
    return run !== undefined && keptBy === run;
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
  const owner = await readFile(join(folder, OWNER), "utf8").catch(() => undefined);
  if (owner === undefined) {
    const [, pid = ""] = /-[0-9a-f]{12}-([0-9a-z]+)$/.exec(folder) ?? [];
    return !isAlive(Number.parseInt(pid, 36)) || Date.now() - changed > STALE_AFTER_MS;
  }
  const [host, pid, keptBy = ""] = owner.split("\n");
  if (host !== hostname() || isAlive(Number(pid))) return false;
  if (keptBy === run) return true;
  return isAbsolute(keptBy) ? !(await isThere(keptBy)) : keptBy === "" || Date.now() - changed > KEPT_MS;
}
