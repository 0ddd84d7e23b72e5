// @module-tag tools
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli, testFolder } from "../support/cli.ts";
import { writeV2Group } from "../support/v2-store.ts";
import { hasChromium, openPage } from "./chromium.ts";

describe.runIf(hasChromium)("the page of a run, in Chromium", () => {
  it("is shown as it was written, with nothing on the console", async () => {
    const cwd = await testFolder();
    const t = { shape: [8, 20, 30], chunks: [2, 20, 30] };
    const hostile = "<img src=x onerror=console.error(1)>";
    await writeV2Group(join(cwd, "g.zarr"), { t: { ...t, dimensions: ["time", hostile, "x"] } });
    await runCli(cwd, "rechunk", "g.zarr", "h.zarr", "--chunks", "time=-1,x=7", "--report", "run.html");
    const { dom, console, screenshot } = await openPage(join(cwd, "run.html"));
    expect(console).toEqual([]);
    expect(dom).toContain("&lt;img src=x onerror=console.error(1)&gt;");
    expect(dom).not.toContain("<img");
    expect(dom.match(/<svg class="grid"/g)).toHaveLength(2);
    expect(screenshot.subarray(1, 4).toString()).toBe("PNG");
    expect(screenshot.length).toBeGreaterThan(20_000);
  });
});
