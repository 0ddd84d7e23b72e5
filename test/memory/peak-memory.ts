import { spawn } from "node:child_process";
import { command } from "../built-package.ts";

/** Tells VmHWM on file descriptor 3 when the process ends. */
const REPORT = `
import { readFileSync, writeSync } from "node:fs";
process.on("exit", () => writeSync(3, readFileSync("/proc/self/status")));
`;

/** Runs the command and returns the most memory that its process had resident, in bytes (VmHWM). */
export function peakMemoryOf(...args: readonly string[]): Promise<number> {
  return peakMemoryOfNode(command, ...args);
}

/** The same of Node with these arguments. */
export function peakMemoryOfNode(...args: readonly string[]): Promise<number> {
  const report = `data:text/javascript,${encodeURIComponent(REPORT)}`;
  const child = spawn(process.execPath, ["--import", report, ...args], {
    stdio: ["ignore", "ignore", "inherit", "pipe"],
  });
  let status = "";
  child.stdio[3]?.on("data", (text) => {
    status += text;
  });
  return new Promise((resolve, reject) => {
    child.on("close", (code) => {
      const kilobytes = /VmHWM:\s+(\d+) kB/.exec(status)?.[1];
      if (code === 0 && kilobytes) resolve(Number(kilobytes) * 1024);
      else reject(new Error(`${args.join(" ")} ended with ${code}; status: ${status.slice(0, 100)}`));
    });
  });
}
