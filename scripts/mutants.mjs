// Makes single random changes of the source, and lists those that no test notices.
//   npm run test:mutants -- [--count 300] [--seed 1] [--of src/streams,...] [--limit 300]
// First runs all tests once, to record which test files call which functions. Each mutant is then tested by the files that
// call its function, the nearest by folder first, until one fails. The tests' loader makes the change, so sources stay as
// they are. A mutant still under test after `--limit` seconds counts as hanging. Prints the survivors at the end; all mutants
// are in node_modules/.cache/zarrflow-mutants/mutants.json. An interrupted run continues: remove that folder to start over,
// as after any change of the tests.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { mutationsOf } from "./mutants/mutations.mjs";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    of: {
      type: "string",
      default:
        "src/streams,src/plan,src/codecs/chain,src/meta,src/targets,src/run/ledger.ts,src/run/run-identity.ts",
    },
    workers: { type: "string", default: "2" },
    limit: { type: "string", default: "300" },
  },
});
const root = join(import.meta.dirname, "..");
const folder = join(root, "node_modules/.cache/zarrflow-mutants");
const callsFile = join(folder, "calls.jsonl");
const mutantsFile = join(folder, "mutants.json");
/** Test files to try before all others. */
const NEAREST = 6;

process.chdir(root);
mkdirSync(folder, { recursive: true });
if (!existsSync(callsFile)) await recordCalls();
const calls = readFileSync(callsFile, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const known = existsSync(mutantsFile) ? JSON.parse(readFileSync(mutantsFile, "utf8")) : [];
const outcomes = new Map(
  known.map(({ outcome, tests, ...mutant }) => [JSON.stringify(mutant), { outcome, tests }]),
);
const mutants = draw(values.of.split(",").flatMap(sources).flatMap(mutationsOf), Number(values.count)).map(
  (mutant) => ({ ...mutant, ...outcomes.get(JSON.stringify(mutant)) }),
);
const queue = mutants.filter(({ outcome }) => outcome === undefined);
console.log(`${mutants.length} mutants, ${queue.length} of them not tested yet`);
await Promise.all(Array.from({ length: Number(values.workers) }, work));
report();

async function work() {
  for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
    const tests = testsOf(mutant);
    let outcome = await test(mutant, tests.slice(0, NEAREST));
    if (outcome === "survived") outcome = await test(mutant, tests.slice(NEAREST));
    Object.assign(mutant, { outcome, tests: tests.length });
    writeFileSync(mutantsFile, JSON.stringify(mutants, undefined, 1));
    console.log(`${mutant.outcome}  ${shown(mutant)}`);
  }
}

/** Result of the test files for a change: `killed`, `hangs` or `survived`. */
async function test(mutant, tests) {
  if (tests.length === 0) return "survived";
  const env = { MUTANT: JSON.stringify(mutant), TEST_ORDER: tests.join() };
  const code = await vitest(["--bail=1", "--max-workers=1", ...tests], env, Number(values.limit));
  return code === 0 ? "survived" : code === undefined ? "hangs" : "killed";
}

/** Test files that call the function of a mutant, or its file if it is outside functions; the nearest first. */
function testsOf({ path, name }) {
  const ofFile = calls.filter((one) => one.calls[path]);
  const ofFunction = name ? ofFile.filter((one) => one.calls[path].includes(name)) : [];
  const folders = path.replace("src/", "test/").replace(/\.ts$/, "").split("/");
  const nearness = ({ test }) =>
    folders.findIndex((_, i) => !test.startsWith(folders.slice(0, i + 1).join("/")));
  const near = (one) => (nearness(one) === -1 ? folders.length : nearness(one));
  return (ofFunction.length > 0 ? ofFunction : ofFile)
    .sort((a, b) => near(b) - near(a) || a.took - b.took)
    .map(({ test }) => test);
}

async function recordCalls() {
  console.log("recording which test files call what");
  rmSync(callsFile, { force: true });
  const code = await vitest([], { CALLS_FILE: callsFile });
  if (code !== 0) throw new Error("the tests fail without any change");
}

function vitest(args, env, limit) {
  const config = "scripts/mutants/vitest.config.ts";
  const common = [
    "--config",
    config,
    "--project",
    "node*",
    "--tags-filter",
    "!long && !tools",
    "--reporter=dot",
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...common, ...args], {
      env: { ...process.env, ZARRFLOW_WITHOUT: "long tools", ...env },
      // the run that records must pass, and says what did not
      stdio: limit ? "ignore" : "inherit",
      detached: true,
    });
    const timer = limit && setTimeout(() => process.kill(-child.pid, "SIGKILL"), limit * 1000);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve(code ?? undefined);
    });
  });
}

function report() {
  const survivors = mutants.filter((mutant) => mutant.outcome === "survived");
  console.log(
    `\n${mutants.length - survivors.length} of ${mutants.length} mutants are killed. These are not:`,
  );
  for (const mutant of survivors) console.log(shown(mutant));
}

function shown({ path, line, name, was, text, tests }) {
  const short = (one) => one.replace(/\s+/g, " ").slice(0, 60);
  return `${path}:${line} ${name ?? "(module)"}: ${short(was)} -> ${short(text)} (${tests} test files)`;
}

function sources(under) {
  if (under.endsWith(".ts")) return [under];
  return readdirSync(under, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .map((name) => join(under, name))
    .sort();
}

/** Draws `count` of them, the same for the same seed. */
function draw(all, count) {
  let state = Number(values.seed) >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const rest = [...all];
  return Array.from({ length: Math.min(count, all.length) }, () => {
    const [one] = rest.splice(Math.floor(random() * rest.length), 1);
    return one;
  });
}
