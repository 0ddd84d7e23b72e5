import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { textHash } from "../../util/text-hash.ts";
import type { ProcessRecord } from "./process-record.ts";

/** This process. */
export function thisProcess(): ProcessRecord {
  const started = startOf("self");
  return { host: hostname(), pid: process.pid, ...bootRecord(), ...(started !== undefined && { started }) };
}

/**
 * Whether a process is over or runs, where that is certain: it was started on this machine since its last start, among the
 * processes that this one sees. Names of machines and numbers of processes alone are the same in many containers.
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

/** This process in letters and digits, for names of its files; empty where the system does not tell it from all others. */
export function processTag(): string {
  if (tag !== undefined) return tag;
  const { pid, started } = thisProcess();
  const machine = machineHash();
  tag = started === undefined || machine === undefined ? "" : `${pid}x${started}x${machine}x`;
  return tag;
}

/** Whether the process whose tag is in a file's name is over or runs, where that is certain. */
export function taggedState(name: string): ReturnType<typeof processState> {
  const [, pid, started = "", machine] = /-(\d+)x(\d+)x([\da-f]{12})x[\da-z]+$/.exec(name) ?? [];
  if (machine === undefined || machine !== machineHash()) return undefined;
  return processState({ pid: Number(pid), started, ...bootRecord() });
}

/** The machine's start and the namespace of process numbers; undefined where the system has none. */
function machineHash(): string | undefined {
  const { boot, namespace } = bootRecord();
  return boot === undefined ? undefined : textHash(`${boot} ${namespace}`).slice(0, 12);
}

/** When a process was started; undefined where the system does not say. */
function startOf(pid: number | "self"): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // the name, in parentheses, may hold anything
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

let known: Pick<ProcessRecord, "boot" | "namespace"> | undefined;

/** Linux alone has both. */
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

/** Whether a process is there, ours or somebody else's. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
