#!/usr/bin/env node
// What is asked for tells what is loaded: to say its version, the command takes little longer than Node does to start.
const args = process.argv.slice(2);

const words = await ownWords(args);
if (words === undefined) {
  const { runCommand } = await import("./run-command.ts");
  await runCommand(args);
} else {
  process.stdout.on("error", tellWhyUnsaid).write(words);
}

/** What the command says of itself, where that is all that is asked for. */
async function ownWords([name, about]: readonly string[]): Promise<string | undefined> {
  if (name === "--version") {
    const { packageVersion } = await import("./version.ts");
    return `${packageVersion()}\n`;
  }
  if (name === "--help" || name === "-h" || (name === "help" && about === undefined)) {
    const { overview } = await import("./words/help.ts");
    return overview();
  }
  return undefined;
}

async function tellWhyUnsaid(error: Error): Promise<void> {
  const { failToWrite } = await import("./run-command.ts");
  failToWrite(error);
}
