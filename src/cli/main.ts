#!/usr/bin/env node
// Loads only what is needed: printing the version takes little longer than starting Node.
import nodeModule from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { packageVersion } from "../util/package-version.node.ts";
import { overview } from "./text/help.ts";

const args = process.argv.slice(2);

const words = textOfItself(args);
if (words === undefined) {
  keepCompiledCode();
  const { runCommand } = await import("./dispatch.ts");
  await runCommand(args);
} else {
  process.stdout.on("error", reportUnwritten).write(words);
}

/**
 * Keeps compiled code between runs, in Node 22 and later: parsing takes a fifth of the processor time of a short run. The
 * folder is the user's own, since whoever can write to it can run code in later runs. Threads find it by the environment.
 */
function keepCompiledCode(): void {
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => void };
  const caches = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  if (!enableCompileCache || !isAbsolute(caches)) return;
  process.env.NODE_COMPILE_CACHE ||= join(caches, "zarrflow");
  enableCompileCache(process.env.NODE_COMPILE_CACHE);
}

/** The version or the overview, if the arguments ask for nothing else. */
function textOfItself([name, about]: readonly string[]): string | undefined {
  if (name === "--version") return `${packageVersion()}\n`;
  if (isHelp(name) || (name === "help" && (about === undefined || isHelp(about)))) return overview();
  return undefined;
}

function isHelp(word: string | undefined): boolean {
  return word === "--help" || word === "-h";
}

async function reportUnwritten(error: Error): Promise<void> {
  const { failToWrite } = await import("./dispatch.ts");
  failToWrite(error);
}
