import { ZarrflowError } from "../util/errors.ts";
import { lastName } from "../util/node-path.ts";

/**
 * Names of the files and folders that exist only while something is written: `.zarrflow-RANDOM-N` beside a value,
 * `.NAME.zarrflow-RANDOM` beside a target. They are no keys, and no listing shows them.
 */
const own = /^\.(?:.+\.)?zarrflow-[0-9a-f]{12}(?:-[0-9a-z]+)?$/;

/** Bytes that file systems allow for a name. */
const LONGEST_NAME = 255;

/** Name of the lock in the root of a target that is built where it stays. It is no key either. */
export const LOCK_NAME = ".zarrflow-lock";

const thisProcess = randomName();
let count = 0;

/** Whether a file or folder of this name is one of ours. */
export function isOwnName(name: string): boolean {
  return own.test(name);
}

/** Refuses keys of files that exist only while something is written. @throws `path-not-allowed` */
export function assertNotOwn(key: string): void {
  if (!key.includes("zarrflow-") || !key.split("/").some(isOwnName)) return;
  throw new ZarrflowError("path-not-allowed", "names of this form are reserved for temporary files", { key });
}

/** Name of the lock that a run holds for as long as it takes to rewrite the consolidated metadata beside it. */
export const CONSOLIDATED_LOCK_NAME = ".zarrflow-consolidated-lock";

/** Key of a value of the ledger of a run whose target is built where it stays. */
export function ledgerKey(number: number): string {
  return `.zarrflow-ledger-${number}`;
}

/** Keys of a run whose target is one value: beside that value, each named after it. */
export function keysBeside(key: string): { readonly lock: string; ledger(number: number): string } {
  const at = key.lastIndexOf("/") + 1;
  const beside = (name: string) => `${key.slice(0, at)}.${key.slice(at)}${name}`;
  return { lock: beside(LOCK_NAME), ledger: (number) => beside(ledgerKey(number)) };
}

/** What the keys begin with under which a run of several processes keeps what these have done. */
export const JOINT_PREFIX = ".zarrflow-run-";

const reserved = /^\.(?:.+\.)?zarrflow-(?:lock|consolidated-lock|ledger-\d+)$/;

/** Whether a key names a lock, or a part of a ledger: no listing shows them. */
export function isReservedKey(key: string): boolean {
  return reserved.test(lastName(key));
}

/**
 * A name for a value being written, different each time and in each process and thread.
 *
 * @param tag what tells the process from others, for who finds the file
 */
export function temporaryName(tag = ""): string {
  count++;
  return `.zarrflow-${thisProcess}-${tag}${count.toString(36)}`;
}

/**
 * A name for the control folder of a target `name`, different each time.
 *
 * @param tag what tells the process from others, for who finds the folder; left out where the name would be too long
 */
export function controlName(name: string, tag = ""): string {
  const plain = `.${name}.zarrflow-${randomName()}`;
  const tagged = `${plain}-${tag}0`;
  return tag !== "" && new TextEncoder().encode(tagged).length <= LONGEST_NAME ? tagged : plain;
}

/** Whether `folder` names a control folder of the target `name`. */
export function isControlName(folder: string, name: string): boolean {
  return folder.startsWith(`.${name}.zarrflow-`) && isOwnName(folder);
}

/** A name that no other run has. Nobody needs to be kept from guessing it, and to load `crypto` takes 3 ms. */
export function randomName(): string {
  return Math.floor(Math.random() * 2 ** 48)
    .toString(16)
    .padStart(12, "0");
}
