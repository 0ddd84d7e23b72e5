// Runs the modules that its parent names, one after the other, each in its folder, and sends back what each prints.
// One that has words runs as a command does, and does so each time it is named.
import { inspect } from "node:util";
import { outputHere } from "./output-here.mjs";

let runs = 0;

process.on("message", async ({ url, words, folder }) => {
  if (words) process.argv = [process.execPath, url, ...words];
  const { code, stdout, stderr } = await outputHere(folder, async () => {
    try {
      await import(words ? `${url}?${++runs}` : url);
    } catch (error) {
      process.exitCode = 1;
      process.stderr.write(inspect(error));
    }
  });
  process.send({ code, stdout, stderr });
});
