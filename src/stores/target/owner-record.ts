import { lstat, readFile, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { isMissing } from "../files/file-error.ts";
import { randomName } from "../reserved-names.ts";

/** The file in a folder of a run's own that tells whose it is. */
export const OWNER_NAME = "owner.json";
const FORMAT = "zarrflow-run/1";
/** Milliseconds after which a run renews its record, and those after which one that nobody renews is a dead run's. */
const RENEW_AFTER = 60_000;
export const DEAD_AFTER = 15 * 60_000;

/** A run, as it left word in a folder of its own. */
interface OwnerRecord {
  readonly format: typeof FORMAT;
  /** A random name. */
  readonly run: string;
  /** For people. */
  readonly host: string;
  readonly pid: number;
  readonly begun: string;
}

/** Leaves in a new folder whose it is, and renews that until it is ended. */
export async function signFolder(
  folder: string,
): Promise<{ readonly run: string; readonly end: () => void }> {
  const run = randomName();
  const begun = new Date().toISOString();
  const record: OwnerRecord = { format: FORMAT, run, host: hostname(), pid: process.pid, begun };
  const path = join(folder, OWNER_NAME);
  await writeFile(path, JSON.stringify(record), { flag: "wx" });
  const renewal = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, RENEW_AFTER);
  renewal.unref();
  return { run, end: () => clearInterval(renewal) };
}

/** Lets everybody know that the run is over whose folder this is, and could not be removed. */
export async function disownFolder(folder: string): Promise<void> {
  await utimes(join(folder, OWNER_NAME), 0, 0);
}

/** What is known of a folder of a run's own. */
export interface FolderOwner {
  readonly run: string;
  /** Whether its run has not been heard of for so long that it is over. */
  readonly isDead: boolean;
}

/**
 * Whose a folder is; undefined for one that is not a run's of this user: a symbolic link, somebody else's folder, or one
 * without a record of its owner. Nothing in such a one is ever touched.
 */
export async function ownerOf(folder: string): Promise<FolderOwner | undefined> {
  const path = join(folder, OWNER_NAME);
  try {
    const [outside, inside] = [await lstat(folder), await lstat(path)];
    if (!outside.isDirectory() || !inside.isFile()) return undefined;
    const user = process.getuid?.() ?? outside.uid;
    if (outside.uid !== user || inside.uid !== user) return undefined;
    const { format, run } = JSON.parse(await readFile(path, "utf8")) as Partial<OwnerRecord>;
    if (format !== FORMAT || typeof run !== "string") return undefined;
    return { run, isDead: Date.now() - inside.mtimeMs > DEAD_AFTER };
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
