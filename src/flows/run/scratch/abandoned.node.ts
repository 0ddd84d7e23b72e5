import { lstat, readdir, readFile, writeFile } from "node:fs/promises";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import { removeFolder } from "../../../stores/directory/remove-folder.ts";
import { isControlName } from "../../../stores/reserved-names.ts";

/** What the names of scratch folders begin with, after a dot. */
export const SCRATCH = "scratch";
/** The file in a scratch folder that tells whose it is: machine and process, a line each. */
const OWNER = "owner";
/** A scratch folder that tells no owner belongs to a run that was killed as it began, if it is older than this. */
const STALE_AFTER_MS = 24 * 60 * 60 * 1000;

/** Leaves in a scratch folder whose it is. */
export async function signScratch(folder: string): Promise<void> {
  await writeFile(join(folder, OWNER), `${hostname()}\n${process.pid}\n`, { flag: "wx" });
}

/** Removes the scratch folders of this user's runs that were killed. What cannot be looked at, or removed, is left. */
export async function removeAbandoned(parent: string): Promise<void> {
  const { uid } = userInfo();
  for (const name of await readdir(parent).catch(() => [])) {
    if (!isControlName(name, SCRATCH)) continue;
    const folder = join(parent, name);
    try {
      const stat = await lstat(folder);
      const isOurs = stat.isDirectory() && (stat.uid === uid || uid === -1);
      if (isOurs && (await isAbandoned(folder, stat.mtimeMs))) await removeFolder(folder);
    } catch {
      // another run removes it, or nobody may
    }
  }
}

async function isAbandoned(folder: string, changed: number): Promise<boolean> {
  const owner = await readFile(join(folder, OWNER), "utf8").catch(() => undefined);
  if (owner === undefined) return Date.now() - changed > STALE_AFTER_MS;
  const [host, pid] = owner.split("\n");
  return host === hostname() && !isProcessAlive(Number(pid));
}

/** Whether a process of this machine is there, ours or somebody else's. */
function isProcessAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
