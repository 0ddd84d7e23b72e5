import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { textHash } from "../../util/hash.ts";
import type { ProcessRecord } from "./process-record.ts";

export function thisProcess(): ProcessRecord {
  const started = startOf("self");
  return { host: hostname(), pid: process.pid, ...bootRecord(), ...(started !== undefined && { started }) };
}

/**
 * Returns the state of a process if it is certain: the record must be of the current boot of this machine and of
 * the same process namespace. Host names and process numbers alone repeat in containers.
 */
export function processState({
  pid,
  boot,
  namespace,
  started,
}: ProcessRecord): "ended" | "running" | undefined {
  if (pid === undefined || boot === undefined || namespace === undefined) return undefined;
  const here = bootRecord();
  if (here.boot !== boot || here.namespace !== namespace) return undefined;
  if (!isAlive(pid)) return "ended";
  const found = started === undefined ? undefined : startOf(pid);
  if (found === undefined) return undefined;
  return found === started ? "running" : "ended";
}

let tag: string | undefined;

/**
 * Identifies this process in letters and digits, for names of its files. Empty if the system cannot distinguish it from
 * all others.
 */
export function processTag(): string {
  if (tag !== undefined) return tag;
  const { pid, started } = thisProcess();
  const machine = machineHash();
  tag = started === undefined || machine === undefined ? "" : `${pid}x${started}x${machine}x`;
  return tag;
}

/** Returns the state of the process whose tag is in a file name, if it is certain. */
export function taggedState(name: string): ReturnType<typeof processState> {
  const [, pid, started = "", machine] = /-(\d+)x(\d+)x([\da-f]{12})x[\da-z]+$/.exec(name) ?? [];
  if (machine === undefined || machine !== machineHash()) return undefined;
  return processState({ pid: Number(pid), started, ...bootRecord() });
}

/** Hashes the identifiers of the boot and of the process namespace; undefined on systems without them. */
function machineHash(): string | undefined {
  const { boot, namespace } = bootRecord();
  return boot === undefined ? undefined : textHash(`${boot} ${namespace}`).slice(0, 12);
}

/** Returns the start time of a process; undefined if the system does not say. */
function startOf(pid: number | "self"): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // the process name, in parentheses, may contain anything
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

let known: Pick<ProcessRecord, "boot" | "namespace"> | undefined;

/** Only Linux has both. */
function bootRecord(): Pick<ProcessRecord, "boot" | "namespace"> {
  known ??= process.platform === "linux" ? readBootRecord() : {};
  return known;
}

function readBootRecord(): Pick<ProcessRecord, "boot" | "namespace"> {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return { boot, namespace: readlinkSync("/proc/self/ns/pid") };
  } catch {
    return {};
  }
}

/** Returns true if a process exists, whichever user owns it. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
