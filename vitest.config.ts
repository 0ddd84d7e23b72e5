import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const ALL = "test/**/*.test.ts";

const files = readdirSync(new URL("./test/", import.meta.url), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts"))
  .map((path) => `test/${path.replaceAll("\\", "/")}`)
  .map((path) => ({ path, text: readFileSync(new URL(path, import.meta.url), "utf8") }));

/** Files whose first lines have this tag. */
function tagged(tag: string): string[] {
  return files.flatMap(({ path, text }) =>
    new RegExp(`^// @module-tag ${tag}\\b`, "m").test(text) ? [path] : [],
  );
}

/** Matches files with tests of the long run, which a test joins by its file's tag, by its own, or by `oneIn`. */
const OF_LONG_RUN = /^\/\/ @module-tag (?:long|sampled)\b|"long"|\boneIn\(/m;

/** Files of which a run has no test: to load them takes as long as many tests. */
const left = [
  ...(process.env.ZARRFLOW_WITHOUT ?? "").split(" ").filter(Boolean).flatMap(tagged),
  ...(process.env.ZARRFLOW_ONLY === "long"
    ? files.flatMap(({ path, text }) => (OF_LONG_RUN.test(text) ? [] : [path]))
    : []),
];

/**
 * Files tagged `alone` get a process each, and those tagged `registers` share one. All others share as many processes as
 * run at once, which load each module of ours once.
 */
const own = ["alone", "registers"].map((tag) => tagged(tag).filter((path) => !left.includes(path)));
const [alone = [], registers = []] = own;
const shared = { include: [ALL], exclude: ["**/node_modules/**", ...own.flat(), ...left] };

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    setupFiles: ["test/support/equal-bytes.ts", "test/support/kept-environment.ts"],
    pool: "forks",
    isolate: false,
    // many tests wait for servers and for processes of their own
    maxWorkers: Math.max(2, availableParallelism()),
    tags: [
      { name: "slow", description: "takes seconds, or starts processes: not in `npm run test:quick`" },
      { name: "long", description: "memory, fuzz, crashes, every combination: only in `npm run test:long`" },
      { name: "sampled", description: "draws a part of its samples, and all of them in the long run" },
      { name: "tools", description: "needs browsers or packages of .ci/tools: only in `npm run test:tools`" },
      {
        name: "registers",
        description: "registers codecs, which whoever lists codecs or starts threads would see",
      },
      { name: "alone", description: "changes what all files in a process share" },
    ],
    projects: [
      { extends: true, test: { name: "node", ...shared } },
      { extends: true, test: { name: "node-registers", include: registers } },
      { extends: true, test: { name: "node-alone", include: alone, isolate: true } },
      {
        extends: true,
        test: {
          name: "polyfill",
          include: ["test/streams/**/*.test.ts"],
          exclude: shared.exclude,
          setupFiles: ["test/use-polyfill.ts"],
        },
      },
    ],
  },
});
