import { link, lstat, readdir, readFile, rename, unlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder, syncPath } from "../directory/value-file.ts";
import { asyncFileCalls } from "../files/file-calls.ts";
import { hasSystemCode, isMissing } from "../files/file-error.ts";
import { randomName } from "../reserved-names.ts";
import { processState, taggedState, thisProcess } from "./process-record.node.ts";
import { type ProcessRecord, processRecordOf } from "./process-record.ts";

/** The file in a folder of a run's own that names its owner. */
export const OWNER_NAME = "owner.json";
const FORMAT = "zarrflow-run/1";
/** Milliseconds after which a run renews its record, and those after which one that nobody renews is a dead run's. */
export const RENEW_AFTER = 60_000;
export const DEAD_AFTER = 15 * 60_000;
/** The time of the record of a run that is over and could not, or must not, remove its folder. */
const GIVEN_UP = 0;

/** A run, as it left word in a folder of its own. */
interface OwnerRecord extends ProcessRecord {
  readonly format: typeof FORMAT;
  /** A random name. */
  readonly run: string;
  readonly begun: string;
}

/** A folder that is this run's until `end`, which stops the renewal of its record. */
export interface SignedFolder {
  readonly run: string;
  readonly end: () => void;
}

/** Whether what a run leaves of its own is put on the disk at once, so that it outlives a loss of power. */
export interface SignOptions {
  readonly fsync?: boolean | undefined;
}

/** Leaves in a new folder whose it is, and renews that until it is ended. */
export async function signFolder(folder: string, { fsync }: SignOptions = {}): Promise<SignedFolder> {
  const record = newRecord();
  const path = join(folder, OWNER_NAME);
  await writeFile(path, JSON.stringify(record), { flag: "wx" });
  if (fsync) {
    await syncPath(asyncFileCalls, path);
    await syncFolder(asyncFileCalls, folder);
    await syncFolder(asyncFileCalls, dirname(folder));
  }
  return renewed(folder, record);
}

/**
 * Makes the folder of a run that is over this run's. Of several who try one gets it.
 *
 * @returns undefined when another was first.
 */
export async function takeOverFolder(
  folder: string,
  from: FolderOwner,
  { fsync }: SignOptions = {},
): Promise<SignedFolder | undefined> {
  const claim = join(folder, `${OWNER_NAME}.${from.run}`);
  const record = newRecord();
  try {
    if (await isDeadClaim(claim)) await unlink(claim);
    await createWhole(claim, JSON.stringify(record), { fsync });
  } catch (error) {
    if (hasSystemCode(error, "EEXIST") || isMissing(error)) return undefined;
    throw error;
  }
  // somebody may have got it, and given the claim this name anew, since the owner was read
  if ((await ownerOf(folder))?.run !== from.run) {
    await unlink(claim);
    return undefined;
  }
  await rename(claim, join(folder, OWNER_NAME));
  if (fsync) await syncFolder(asyncFileCalls, folder);
  return renewed(folder, record);
}

/** Makes a file that others find whole, or not at all, also where this process is killed. @throws where there is one */
async function createWhole(path: string, text: string, { fsync }: SignOptions): Promise<void> {
  const unfinished = `${path}.${randomName()}`;
  try {
    await writeFile(unfinished, text, { flag: "wx" });
    if (fsync) await syncPath(asyncFileCalls, unfinished);
    await link(unfinished, path);
  } catch (error) {
    if (hasSystemCode(error, "EEXIST") || isMissing(error)) throw error;
    await writeFile(path, text, { flag: "wx" }); // a file system without hard links
    if (fsync) await syncPath(asyncFileCalls, path);
  } finally {
    await unlink(unfinished).catch(() => {}); // it may not have come to that
  }
}

/** Lets everybody know that the run is over whose folder this is, and could not be removed. */
export async function disownFolder(folder: string): Promise<void> {
  await utimes(join(folder, OWNER_NAME), GIVEN_UP, GIVEN_UP);
}

/** What is known of a folder of a run's own. */
export interface FolderOwner {
  readonly run: string;
  /** Whether its run is over, or has not been heard of for so long that it counts as over. */
  readonly isDead: boolean;
}

/**
 * Whose a folder is; undefined for one that is not a run's of this user: a symbolic link, somebody else's folder, or one
 * with something in it and no record of its owner. Nothing in such a one is ever touched.
 */
export async function ownerOf(folder: string): Promise<FolderOwner | undefined> {
  try {
    const outside = await lstat(folder);
    const user = process.getuid?.() ?? outside.uid;
    if (!outside.isDirectory() || outside.uid !== user) return undefined;
    const names = await readdir(folder);
    const signed = names.includes(OWNER_NAME) ? await ownerIn(join(folder, OWNER_NAME), user) : undefined;
    return signed ?? (isUnsigned(folder, names, outside.mtimeMs) ? { run: "", isDead: true } : undefined);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Whether a run was killed before it had signed its folder, or when it had removed all but that. */
function isUnsigned(folder: string, names: readonly string[], changed: number): boolean {
  if (names.some((name) => name !== OWNER_NAME)) return false;
  const state = taggedState(folder);
  return state === undefined ? Date.now() - changed > DEAD_AFTER : state === "ended";
}

/** The owner that a file of this user names. */
async function ownerIn(path: string, user: number): Promise<FolderOwner | undefined> {
  const file = await lstat(path);
  if (!file.isFile() || file.uid !== user) return undefined;
  const record = parsedRecord(await readFile(path, "utf8"));
  if (record === undefined) return undefined;
  return { run: record.run, isDead: isDead(record, file.mtimeMs) };
}

/** One that its run has given up is of no run; a process that runs may be suspended, and go on. */
function isDead(record: ProcessRecord, renewed: number): boolean {
  if (renewed === GIVEN_UP) return true;
  const state = processState(record);
  return state === undefined ? Date.now() - renewed > DEAD_AFTER : state === "ended";
}

function parsedRecord(text: string): (ProcessRecord & { readonly run: string }) | undefined {
  try {
    const fields: { readonly [name: string]: unknown } = JSON.parse(text) ?? {};
    const { format, run } = fields;
    if (format !== FORMAT || typeof run !== "string") return undefined;
    return { run, ...processRecordOf(fields) };
  } catch {
    return undefined;
  }
}

/** Whether a claim was left by a run that ended before it could take what it claimed, or name itself. */
async function isDeadClaim(path: string): Promise<boolean> {
  try {
    const { uid, mtimeMs } = await lstat(path);
    return (await ownerIn(path, uid))?.isDead ?? Date.now() - mtimeMs > DEAD_AFTER;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** The record of a run of several processes, on whatever machines: it is over when none of them has renewed it for long. */
export function jointRecord(run: string): string {
  return JSON.stringify({ format: FORMAT, run, begun: new Date().toISOString() } satisfies OwnerRecord);
}

function newRecord(): OwnerRecord {
  return { format: FORMAT, run: randomName(), ...thisProcess(), begun: new Date().toISOString() };
}

function renewed(folder: string, { run }: OwnerRecord): SignedFolder {
  const path = join(folder, OWNER_NAME);
  const renewal = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, RENEW_AFTER);
  renewal.unref();
  return { run, end: () => clearInterval(renewal) };
}
