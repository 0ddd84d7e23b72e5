// Sums the JSON reports of vitest in a folder: `N passed, N failed`. Exits with 1 when a test failed, or none passed.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [folder] = process.argv.slice(2);
const reports = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
const sum = (count) => reports.reduce((total, report) => total + report[count], 0);

const passed = sum("numPassedTests");
// A file that fails before its tests begin counts as one.
const broken = reports
  .flatMap((report) => report.testResults)
  .filter(
    ({ status, assertionResults }) =>
      status === "failed" && assertionResults.every((test) => test.status !== "failed"),
  );
const failed = sum("numFailedTests") + broken.length;
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0 || passed === 0 || reports.some(({ success }) => !success)) process.exitCode = 1;
