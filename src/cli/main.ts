#!/usr/bin/env node
// Loads only what is needed: printing the version takes little longer than starting Node.
import { packageVersion } from "../util/package-version.node.ts";
import { overview } from "./text/help.ts";

const args = process.argv.slice(2);

const words = textOfItself(args);
if (words === undefined) {
  const { runCommand } = await import("./dispatch.ts");
  await runCommand(args);
} else {
  process.stdout.on("error", reportUnwritten).write(words);
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
