import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { ProcessRecord } from "./process-record.ts";

/** This process. */
export function thisProcess(): ProcessRecord {
  return { host: hostname(), pid: process.pid, ...bootRecord() };
}

/**
 * Whether a process is over for certain: it ran on this machine since its last start, among the processes that this one
 * sees, and is not there. Names of machines and numbers of processes alone are the same in many containers.
 */
export function hasEnded({ pid, boot, namespace }: ProcessRecord): boolean {
  if (pid === undefined || boot === undefined || namespace === undefined) return false;
  const here = bootRecord();
  return here.boot === boot && here.namespace === namespace && !isAlive(pid);
}

let known: Pick<ProcessRecord, "boot" | "namespace"> | undefined;

/** Linux alone tells both. */
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
