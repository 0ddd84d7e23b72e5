// @module-tag slow
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../support/cli.ts";
import { runHere } from "../../support/cli-here.ts";
import { writeV2Array } from "../../support/v2-store.ts";
import { elementsOf } from "../report/markup.ts";

async function array(): Promise<string> {
  const cwd = await testFolder();
  await writeV2Array(join(cwd, "a.zarr"), { shape: [4, 6], chunks: [2, 3] });
  return cwd;
}

describe("--report", () => {
  it.each([
    ["copy", "a.zarr", "b.zarr"],
    ["rechunk", "a.zarr", "b.zarr", "--chunks", "4,6"],
    ["convert", "a.zarr", "b.zarr.zip", "--to", "v3", "--json"],
    ["slice", "a.zarr", "b.zarr", "--slice", "0:2"],
  ])("writes a page about %s", async (...args) => {
    const cwd = await array();
    await writeFile(join(cwd, "run.html"), "the one before");
    const { code, stderr } = await runHere(cwd, ...args, "--report", "run.html");
    expect({ code, stderr }).toEqual({ code: 0, stderr: args.includes("--json") ? "" : expect.any(String) });
    const page = await readFile(join(cwd, "run.html"), "utf8");
    expect(elementsOf(page)).toContain("table");
    expect(page).toContain(`<code>zarrflow ${args.join(" ")} --report run.html</code>`);
    expect((await readdir(cwd)).sort()).toEqual(["a.zarr", args[2], "run.html"]);
  });

  it.each([
    ["with a plan as text", []],
    ["with --json", ["--json"]],
  ])("writes a page about a plan that is not run, %s", async (_, flags) => {
    const cwd = await array();
    const args = ["rechunk", "a.zarr", "b.zarr", "--chunks", "4,6", "--dry-run", "--report", "plan.html"];
    const { code, stdout } = await runHere(cwd, ...args, ...flags);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining(flags.length ? "{" : "direct"),
    });
    const page = await readFile(join(cwd, "plan.html"), "utf8");
    expect(elementsOf(page)).toContain("table");
    expect(page).toContain("This is a plan. Nothing has been run.");
    expect(page).toContain(`<tr><td>chunks and other keys read</td><td class="n">4 chunks</td></tr>`);
    expect(page).toContain("<b>direct</b>: read source chunks");
    expect(page).not.toContain("measured");
    expect((await readdir(cwd)).sort()).toEqual(["a.zarr", "plan.html"]);
  });

  it("writes a page about a run that fails: why, what was done, and how it is resumed", async () => {
    const cwd = await testFolder();
    const rows = { shape: [800, 6], chunks: [2, 3] };
    await writeV2Array(join(cwd, "a.zarr"), rows);
    await writeFile(join(cwd, "a.zarr/399.1"), "short");
    const args = ["rechunk", "a.zarr", "b.zarr", "--chunks", "2,6", "--threads", "1", "--report", "run.html"];
    // a run that takes long has lines of progress
    const { code, stderr } = await runHere(cwd, ...args, "--max-mem", "1MB", "--quiet");
    expect(code).toBe(1);
    const page = await readFile(join(cwd, "run.html"), "utf8");
    expect(elementsOf(page)).toContain("pre");
    expect(page).toContain("<h2>The run failed</h2>");
    const text = page.slice(page.indexOf("<pre>") + 5, page.indexOf("</pre>"));
    const plain = text
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&#39;", "'")
      .replaceAll("&amp;", "&");
    expect(`${plain}\n`).toBe(stderr);
    expect(plain).toContain("to continue, once what is damaged is repaired: zarrflow rechunk a.zarr b.zarr");
    expect(page).toMatch(/<td>tasks<\/td><td class="n">[\d,]+<\/td><td class="n">[1-9]\d*, of/);
  });

  it("fails before the plan where no page can be written", async () => {
    const cwd = await array();
    const args = ["copy", "a.zarr", "b.zarr", "--dry-run", "--report", "no/run.html"];
    expect(await runHere(cwd, ...args)).toMatchObject({ code: 3, stdout: "" });
  });

  it("fails before the work where no page can be written", async () => {
    const cwd = await array();
    const { code, stderr } = await runHere(cwd, "copy", "a.zarr", "b.zarr", "--report", "no/run.html");
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining("the folder `no` does not exist"),
    });
    expect(await readdir(cwd)).toEqual(["a.zarr"]);
  });
});
