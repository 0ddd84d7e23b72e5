import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { command, requireBuild } from "../built-package.ts";

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as bytes. */
  readonly bytes: Buffer;
}

/** Starts the command; whoever does reads its output. */
export function startCli(
  cwd: string,
  ...args: readonly string[]
): ChildProcessByStdio<null, Readable, Readable> {
  const env = { ...process.env, NO_COLOR: "1" };
  return spawn(process.execPath, [command, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
}

/** The exit code of a command that was started. */
export function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolveExit, reject) => {
    child.on("error", reject);
    child.on("exit", resolveExit);
  });
}

/** Runs the command to its end. */
export async function runCli(cwd: string, ...args: readonly string[]): Promise<Run> {
  const child = startCli(cwd, ...args);
  const [code, bytes, stderr] = await Promise.all([exitOf(child), buffer(child.stdout), text(child.stderr)]);
  return { code, bytes, stdout: bytes.toString(), stderr };
}

/** The words of the command that continues a run, as its failure prints them. */
export function continuing(stderr: string): readonly string[] {
  const [, words] = /^ {2}to continue(?:, [^:]+)?: zarrflow (.+)$/m.exec(stderr) ?? [];
  if (words === undefined) throw new Error(`no command that continues the run in: ${stderr}`);
  // as a shell takes them: those with spaces stand in quotes
  return [...words.matchAll(/'([^']*)'|[^ ]+/g)].map(([word, quoted]) => quoted ?? word);
}

/** Runs the command, which must succeed. Returns its standard output. */
export async function zarrflow(...args: readonly string[]): Promise<Buffer> {
  requireBuild();
  const { code, bytes, stderr } = await runCli(".", ...args);
  if (code !== 0) throw new Error(`zarrflow ${args.join(" ")} ended with ${code}: ${stderr}`);
  return bytes;
}

/** A folder of the running test, removed when it has finished. */
export async function testFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "zarrflow-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
