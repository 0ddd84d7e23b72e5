import { ZarrflowError } from "../util/errors.ts";
import { lastName } from "../util/node-path.ts";

/**
 * Names of files and folders that exist only while something is written: `.zarrflow-RANDOM-N` beside a value,
 * `.NAME.zarrflow-RANDOM` beside a target. They are not keys, and listings leave them out.
 */
const own = /^\.(?:.+\.)?zarrflow-[0-9a-f]{12}(?:-[0-9a-z]+)?$/;

/** Maximum length of a file name in bytes. */
const LONGEST_NAME = 255;

/** Name of the lock in the root of a target that is built in place. It is not a key either. */
export const LOCK_NAME = ".zarrflow-lock";

const thisProcess = randomName();
let count = 0;

/** True if a file or folder of this name is temporary and belongs to zarrflow. */
export function isOwnName(name: string): boolean {
  return own.test(name);
}

/** Rejects keys that contain the name of a temporary file of zarrflow. @throws `path-not-allowed` */
export function assertNotOwn(key: string): void {
  if (!key.includes("zarrflow-") || !key.split("/").some(isOwnName)) return;
  throw new ZarrflowError("path-not-allowed", "names of this form are reserved for temporary files", { key });
}

/** Name of the lock that a run holds while it rewrites the consolidated metadata beside it. */
export const CONSOLIDATED_LOCK_NAME = ".zarrflow-consolidated-lock";

/** Returns the key of one value of the ledger of a run that builds its target in place. */
export function ledgerKey(number: number): string {
  return `.zarrflow-ledger-${number}`;
}

/** Returns the keys of a run whose target is one value. They are beside that value and named after it. */
export function keysBeside(key: string): { readonly lock: string; ledger(number: number): string } {
  const at = key.lastIndexOf("/") + 1;
  const beside = (name: string) => `${key.slice(0, at)}.${key.slice(at)}${name}`;
  return { lock: beside(LOCK_NAME), ledger: (number) => beside(ledgerKey(number)) };
}

/** Prefix of the keys under which the processes of a joint run record their progress. */
export const JOINT_PREFIX = ".zarrflow-run-";

const reserved = /^\.(?:.+\.)?zarrflow-(?:lock|consolidated-lock|ledger-\d+)$/;

/** True if a key names a lock or a part of a ledger, which listings leave out. */
export function isReservedKey(key: string): boolean {
  return reserved.test(lastName(key));
}

/**
 * Returns a name for a value that is being written, different each time and in each process and thread.
 *
 * @param tag identifies the process to those who find the file
 */
export function temporaryName(tag = ""): string {
  count++;
  return `.zarrflow-${thisProcess}-${tag}${count.toString(36)}`;
}

/**
 * Returns a name for the control folder of a target `name`, different each time.
 *
 * @param tag identifies the process to those who find the folder; omitted if the name would be too long
 */
export function controlName(name: string, tag = ""): string {
  const plain = `.${name}.zarrflow-${randomName()}`;
  const tagged = `${plain}-${tag}0`;
  return tag !== "" && new TextEncoder().encode(tagged).length <= LONGEST_NAME ? tagged : plain;
}

/** True if `folder` is the name of a control folder of the target `name`. */
export function isControlName(folder: string, name: string): boolean {
  return folder.startsWith(`.${name}.zarrflow-`) && isOwnName(folder);
}

/** Returns a name that no other run has. It need not be unguessable, and loading `crypto` takes 3 ms. */
export function randomName(): string {
  return Math.floor(Math.random() * 2 ** 48)
    .toString(16)
    .padStart(12, "0");
}
