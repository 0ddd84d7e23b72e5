import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // many tests wait for servers and for processes of their own
    maxWorkers: Math.max(2, availableParallelism()),
    projects: [
      { extends: true, test: { name: "node", include: ["test/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "polyfill",
          include: ["test/streams/**/*.test.ts"],
          setupFiles: ["test/use-polyfill.ts"],
        },
      },
    ],
  },
});
