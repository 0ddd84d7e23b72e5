import { vi } from "vitest";

// To be imported before all else: file calls can be cut, and what waits for a lock to settle, or asks again, does so at once.
vi.mock("node:fs", async (original) => {
  const { withCutFiles } = await import("./cut-files.ts");
  return withCutFiles(await original<object>(), false);
});
vi.mock("node:fs/promises", async (original) => {
  const { withCutFiles } = await import("./cut-files.ts");
  return withCutFiles(await original<object>(), true);
});
vi.mock(import("../../../src/util/pause.ts"), async (importOriginal) => {
  const { cutting } = await import("./cut-files.ts");
  const pause = async () => {
    // who was killed may wait for what it would have done itself
    if (cutting.now?.isOver) throw new Error("the run is gone");
  };
  return { ...(await importOriginal()), pause };
});
