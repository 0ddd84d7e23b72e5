// How long the command takes to say what it is, beside a bare node: medians of interleaved runs of whole processes.
// NODE_EXTRA_CA_CERTS is unset for them: where it names a bundle of certificates, Node reads that at each start, which
// can take it longer than all else.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const RUNS = 21;
const command = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
const programs = {
  "node -e 0": ["-e", "0"],
  "zarrflow --version": [command, "--version"],
  "zarrflow --help": [command, "--help"],
};

const times = new Map(Object.keys(programs).map((name) => [name, []]));
for (let run = 0; run <= RUNS; run++) {
  for (const [name, args] of Object.entries(programs)) {
    const started = performance.now();
    const { status } = spawnSync(process.execPath, args, { env, stdio: "ignore" });
    if (status !== 0) throw new Error(`${name} ended with ${status}`);
    if (run > 0) times.get(name).push(performance.now() - started);
  }
}
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const bare = median(times.get("node -e 0"));
console.log("| program | wall ms | / bare node |\n| --- | --- | --- |");
for (const [name, values] of times) {
  console.log(`| ${name} | ${median(values).toFixed(0)} | ${(median(values) / bare).toFixed(2)} |`);
}
