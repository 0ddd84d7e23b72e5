/** A process, as it left word of itself for others to find. */
export interface ProcessRecord {
  readonly host?: string;
  readonly pid?: number;
  /** The machine's start, and the namespace of process numbers, both where the system tells: with them `pid` is one process. */
  readonly boot?: string;
  readonly namespace?: string;
}

/** This process. Nothing is known of it outside Node. */
export async function thisProcess(): Promise<ProcessRecord> {
  if (globalThis.process?.versions?.node === undefined) return {};
  const { hostname } = await import("node:os");
  return { host: hostname(), pid: process.pid, ...(await bootRecord()) };
}

/** The fields of a record that somebody may have edited. */
export function processRecordOf(fields: { readonly [name: string]: unknown }): ProcessRecord {
  const { host, pid, boot, namespace } = fields;
  return {
    ...(typeof host === "string" && { host }),
    ...(typeof pid === "number" && { pid }),
    ...(typeof boot === "string" && { boot }),
    ...(typeof namespace === "string" && { namespace }),
  };
}

/**
 * Whether a process is over for certain: it ran on this machine since its last start, among the processes that this one
 * sees, and is not there. Names of machines and numbers of processes alone are the same in many containers.
 */
export async function hasEnded({ pid, boot, namespace }: ProcessRecord): Promise<boolean> {
  if (pid === undefined || boot === undefined || namespace === undefined) return false;
  const here = await bootRecord();
  return here.boot === boot && here.namespace === namespace && !isAlive(pid);
}

let known: Promise<Pick<ProcessRecord, "boot" | "namespace">> | undefined;

function bootRecord(): Promise<Pick<ProcessRecord, "boot" | "namespace">> {
  known ??= readBootRecord();
  return known;
}

/** Linux alone tells both. */
async function readBootRecord(): Promise<Pick<ProcessRecord, "boot" | "namespace">> {
  if (globalThis.process?.platform !== "linux") return {};
  const { readFile, readlink } = await import("node:fs/promises");
  try {
    const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
    return { boot, namespace: await readlink("/proc/self/ns/pid") };
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
