// What a process holds, at moments when it does nothing.
import { readdirSync, readlinkSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** The memory, open files and active resources of this process after a collection. */
export async function takeSample(idleMs) {
  // connections that nobody uses are closed in this time
  await pause(idleMs);
  for (let i = 0; i < 2; i++) {
    globalThis.gc();
    await pause(50);
  }
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
  const files = openFiles();
  const sockets = files.filter((name) => name.startsWith("socket:")).length;
  return {
    rss,
    heapUsed,
    external,
    arrayBuffers,
    handles: files.length,
    sockets,
    resources: process.getActiveResourcesInfo().length,
  };
}

function openFiles() {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return []; // the listing's own
    }
  });
}

const MEMORY = ["rss", "heapUsed", "external", "arrayBuffers"];
const HANDLES = ["handles", "sockets", "resources"];
/** Bytes by which what is small may grow. */
const SLACK = 2 ** 19;

/** The medians of the middle and of the last third of the samples, and whether what is held has grown. */
export function compareThirds(samples, allowedPart) {
  const third = Math.floor(samples.length / 3);
  const middle = samples.slice(-2 * third, -third);
  const last = samples.slice(-third);
  return [...MEMORY, ...HANDLES].map((what) => {
    const [before, after] = [middle, last].map((taken) => median(taken.map((sample) => sample[what])));
    const allowed = MEMORY.includes(what) ? before * (1 + allowedPart) + SLACK : before;
    return { what, middle: before, last: after, isFlat: after <= allowed };
  });
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}
