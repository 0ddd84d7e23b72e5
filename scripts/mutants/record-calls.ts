// Records which functions of src/ each test file calls.
import { appendFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { afterAll, beforeAll, expect } from "vitest";

const session = new Session();
session.connect();
const { CALLS_FILE = "" } = process.env;
let begun = 0;

beforeAll(async () => {
  begun = performance.now();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
});

afterAll(async () => {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  const calls: Record<string, string[]> = {};
  for (const { url, functions } of result) {
    const path = /(src\/.*\.ts)$/.exec(url)?.[1];
    const called = functions.filter(({ ranges }) => ranges.some(({ count }) => count > 0));
    if (path) calls[path] = [...new Set(called.map(({ functionName }) => functionName))].filter(Boolean);
  }
  const test = expect.getState().testPath?.replace(/^.*\/(?=test\/)/, "");
  const took = performance.now() - begun;
  appendFileSync(CALLS_FILE, `${JSON.stringify({ test, took, calls })}\n`);
});
