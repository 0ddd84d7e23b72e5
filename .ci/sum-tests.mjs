// Sums the JSON reports and logs of vitest in a folder: `N passed, N failed`. Exits with 1 if a test failed or none passed.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const [folder] = process.argv.slice(2);
const textsOf = (end) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(end))
    .map((name) => readFileSync(join(folder, name), "utf8"));
const reports = textsOf(".json").map((text) => JSON.parse(text));
const files = reports.flatMap((report) => report.testResults);
const sum = (count) => reports.reduce((total, report) => total + report[count], 0);

const passed = sum("numPassedTests");
// A file that fails before its tests begin counts as one.
const broken = files.filter(
  ({ status, assertionResults }) =>
    status === "failed" && assertionResults.every((test) => test.status !== "failed"),
);
// So does a test that every run skipped. Suite names are ignored: they contain names of servers, which differ.
const titles = (isWanted) =>
  new Set(
    files.flatMap(({ name, assertionResults }) =>
      assertionResults.filter(isWanted).map(({ title }) => `${relative(".", name)}: ${title}`),
    ),
  );
const ran = titles(({ status }) => status === "passed" || status === "failed");
const skipped = [...titles(() => true)].filter((title) => !ran.has(title));
for (const title of skipped) console.log(`skipped by all runs: ${title}`);

// So does an error outside tests: only the log counts it.
const unhandled = textsOf(".log")
  .map((text) => Number(/^ *Errors +(\d+) error/m.exec(text)?.[1] ?? 0))
  .reduce((total, count) => total + count, 0);

const failed = sum("numFailedTests") + broken.length + skipped.length + unhandled;
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0 || passed === 0 || reports.some(({ success }) => !success)) process.exitCode = 1;
