#!/usr/bin/env node
import { overview } from "./text/help.ts";
// What is asked for tells what is loaded: to say its version takes the command little longer than Node takes to start.
import { packageVersion } from "./version.ts";

const args = process.argv.slice(2);

const words = ownWords(args);
if (words === undefined) {
  const { runCommand } = await import("./dispatch.ts");
  await runCommand(args);
} else {
  process.stdout.on("error", tellWhyUnsaid).write(words);
}

/** What the command says of itself, where that is all that is asked for. */
function ownWords([name, about]: readonly string[]): string | undefined {
  if (name === "--version") return `${packageVersion()}\n`;
  if (isHelp(name) || (name === "help" && (about === undefined || isHelp(about)))) return overview();
  return undefined;
}

function isHelp(word: string | undefined): boolean {
  return word === "--help" || word === "-h";
}

async function tellWhyUnsaid(error: Error): Promise<void> {
  const { failToWrite } = await import("./dispatch.ts");
  failToWrite(error);
}
