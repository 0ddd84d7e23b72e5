import { link, lstat, readdir, readFile, rename, unlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { asyncFileCalls } from "../files/file-calls.ts";
import { hasSystemCode, isMissing } from "../files/file-error.ts";
import { processState, taggedState, thisProcess } from "../files/process-record.node.ts";
import { type ProcessRecord, processRecordOf } from "../files/process-record.ts";
import { randomName } from "../reserved-names.ts";
import { syncFolder, syncPath } from "./value-file.ts";

/** Name of the file in a run's folder that names the owner. */
export const OWNER_NAME = "owner.json";
const FORMAT = "zarrflow-run/1";
/**
 * Milliseconds between renewals of a record, and milliseconds without a renewal after which the run counts as
 * dead.
 */
const RENEW_AFTER = 60_000;
const DEAD_AFTER = 15 * 60_000;
/** File time of the record of an ended run that could not, or must not, remove its folder. */
const GIVEN_UP = 0;

/** The owner of a folder, as the run recorded it there. */
interface OwnerRecord extends ProcessRecord {
  readonly format: typeof FORMAT;
  /** A random name. */
  readonly run: string;
  readonly begun: string;
}

/** A folder that belongs to this run. `end` stops the renewal of its record. */
export interface SignedFolder {
  readonly run: string;
  readonly end: () => void;
}

/**
 * Options for the records of a run; `fsync` flushes them to the disk immediately, so that they survive a loss of power.
 */
export interface SignOptions {
  readonly fsync?: boolean | undefined;
}

/** Records the owner of a new folder, and renews that record until it is ended. */
export async function signFolder(folder: string, { fsync }: SignOptions = {}): Promise<SignedFolder> {
  const record = newRecord();
  const path = join(folder, OWNER_NAME);
  await writeFile(path, JSON.stringify(record), { flag: "wx" });
  if (fsync) {
    await syncPath(asyncFileCalls, path);
    await syncFolder(asyncFileCalls, folder);
    await syncFolder(asyncFileCalls, dirname(folder));
  }
  return { run: record.run, end: renewOwner(folder) };
}

/**
 * Transfers the folder of an ended run to this run. If several runs try at once, one succeeds.
 *
 * @returns undefined if another run was first.
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
  // between the two reads, another run may have taken the folder over and freed the name of this claim
  if ((await ownerOf(folder))?.run !== from.run) {
    await unlink(claim);
    return undefined;
  }
  await rename(claim, join(folder, OWNER_NAME));
  if (fsync) await syncFolder(asyncFileCalls, folder);
  return { run: record.run, end: renewOwner(folder) };
}

/**
 * Creates a file that others find complete or not at all, even if this process is killed. @throws if the file
 * exists
 */
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
    await unlink(unfinished).catch(() => {}); // it may not exist
  }
}

/** Marks the run of a folder that could not be removed as ended. */
export async function disownFolder(folder: string): Promise<void> {
  await utimes(join(folder, OWNER_NAME), GIVEN_UP, GIVEN_UP);
}

/** The known owner of a run's folder. */
export interface FolderOwner {
  readonly run: string;
  /** True if the run has ended, or has not renewed its record for so long that it counts as dead. */
  readonly isDead: boolean;
}

/**
 * Returns the owner of a folder; undefined if it is not a folder of this user's runs: a symbolic link, a folder of
 * another user, or a folder with contents but no owner record. Such folders are never touched.
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

/** True if a run was killed before it signed its folder, or after it removed everything but its record. */
function isUnsigned(folder: string, names: readonly string[], changed: number): boolean {
  return names.every((name) => name === OWNER_NAME) && isOfDead(folder, changed);
}

/**
 * True if the run that gave a file or a folder its name has ended. If nothing is known about its process, the time of
 * the last change decides.
 */
export function isOfDead(name: string, changed: number): boolean {
  return isDeadBy(taggedState(name), changed);
}

function isDeadBy(state: ReturnType<typeof processState>, lastSign: number): boolean {
  return state === undefined ? Date.now() - lastSign > DEAD_AFTER : state === "ended";
}

/** Reads the owner from a record, if this user owns the file. */
async function ownerIn(path: string, user: number): Promise<FolderOwner | undefined> {
  const file = await lstat(path);
  if (!file.isFile() || file.uid !== user) return undefined;
  const record = parsedRecord(await readFile(path, "utf8"));
  if (record === undefined) return undefined;
  return { run: record.run, isDead: isDead(record, file.mtimeMs) };
}

/**
 * True if a run has disowned its record, or its process has ended. A running process may be suspended and
 * continue.
 */
function isDead(record: ProcessRecord, renewed: number): boolean {
  return renewed === GIVEN_UP || isDeadBy(processState(record), renewed);
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

/** True if a run left this claim because it ended before it could complete the claim or the takeover. */
async function isDeadClaim(path: string): Promise<boolean> {
  try {
    const { uid, mtimeMs } = await lstat(path);
    return (await ownerIn(path, uid))?.isDead ?? Date.now() - mtimeMs > DEAD_AFTER;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/**
 * Makes the owner record of a joint run, whose processes may be on different machines. The run is dead if none of
 * them has renewed it for long.
 */
export function jointRecord(run: string): string {
  return JSON.stringify({ format: FORMAT, run, begun: new Date().toISOString() } satisfies OwnerRecord);
}

function newRecord(): OwnerRecord {
  return { format: FORMAT, run: randomName(), ...thisProcess(), begun: new Date().toISOString() };
}

/** Renews the record of a folder until the returned function is called. @param onGone called if the record is gone */
export function renewOwner(folder: string, onGone = () => {}): () => void {
  const renewal = setInterval(() => {
    touchOwner(folder).catch((error) => {
      if (isMissing(error)) onGone();
    });
  }, RENEW_AFTER);
  renewal.unref();
  return () => clearInterval(renewal);
}

/** Shows other runs that the run of a folder is alive. */
export async function touchOwner(folder: string): Promise<void> {
  const now = new Date();
  await utimes(join(folder, OWNER_NAME), now, now);
}
