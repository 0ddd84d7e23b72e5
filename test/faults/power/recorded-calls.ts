import { vi } from "vitest";

// To be imported before all else: a disk follows the file calls of this process.
vi.mock("node:fs", async (original) => {
  const { withDisk } = await import("./watched-disk.ts");
  return withDisk(await original<object>());
});
vi.mock("node:fs/promises", async (original) => {
  const { withDisk } = await import("./watched-disk.ts");
  return withDisk(await original<object>());
});
