import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openArray } from "../../src/index.ts";
import { root } from "../built-package.ts";
import { blocksOf, type CodeBlock, read } from "../docs/code-block.ts";
import { UserProject } from "../docs/user-project.ts";
import { digestsOf } from "../support/consume.ts";
import { ModuleRunner } from "../support/module-runner.ts";
import { hasProgram } from "../support/programs.ts";
import { hasPython, python, pythonOfRechunker, runPython } from "./python.ts";

const PAGE = "docs/guides/coming-from.md";
/** Sections by their titles; the lines of blocks are those of the section. */
const sections = new Map(
  read(PAGE)
    .split(/^## /m)
    .slice(1)
    .map((text) => [text.split("\n", 1)[0] ?? "", blocksOf(text)]),
);

describe.runIf(hasPython)("docs/guides/coming-from.md, with the tools that it compares", () => {
  let project: UserProject;
  let modules: ModuleRunner;
  const at = (name: string) => join(project.folder, "demo/guides", name);

  beforeAll(async () => {
    project = new UserProject();
    await promisify(execFile)(process.execPath, [join(root, "scripts/demo.mjs")], { cwd: project.folder });
    modules = new ModuleRunner();
  });
  afterAll(async () => {
    await modules?.end();
    project?.remove();
  });

  /** Runs the blocks of a section in order. Returns what each printed. */
  async function run(title: string): Promise<string[]> {
    const printed: string[] = [];
    for (const block of sections.get(title) ?? []) printed.push(await runBlock(title, block));
    expect(printed.length, "blocks").toBeGreaterThan(1);
    return printed;
  }

  async function runBlock(title: string, { language, text, line }: CodeBlock): Promise<string> {
    if (language === "sh") return project.shell(text, at("."));
    if (language === "ts") {
      const file = `${title}-${line}.ts`;
      project.write(file, text);
      project.transpile([file]);
      return modules.run(project.compiled(file), at("."));
    }
    expect(language).toBe("py");
    const program = title === "rechunker" ? pythonOfRechunker : python;
    const { stdout } = await promisify(execFile)(program ?? "", ["-c", text], { cwd: at(".") });
    return stdout;
  }

  const digests = (name: string) => digestsOf(at(name));

  test.runIf(pythonOfRechunker)("rechunker writes the same values in the same chunks", async () => {
    await run("rechunker");
    const [theirs, ours] = [await digests("rechunker.zarr"), await digests("rechunked.zarr")];
    expect(Object.keys(ours)).toHaveLength(4);
    expect(ours).toEqual(theirs);
    for (const path of Object.keys(ours)) {
      const [a, b] = [
        await openArray(at(`rechunker.zarr/${path}`)),
        await openArray(at(`rechunked.zarr/${path}`)),
      ];
      expect(b.chunkShape).toEqual(a.chunkShape);
    }
  });

  test("xarray selects the same, and makes the same table", async () => {
    await run("xarray");
    expect(Object.keys(await digests("week.zarr"))).toHaveLength(4);
    expect(await digests("week.zarr")).toEqual(await digests("xarray.zarr"));
    const [theirs, ours] = [table("xarray.csv"), table("week.csv")];
    expect(ours).toHaveLength(1 + 168 * 49);
    expect(ours).toEqual(theirs);
  });

  /** A table by its cells: times in milliseconds, columns sorted by name. */
  function table(name: string): (string | number)[][] {
    const rows = readFileSync(at(name), "utf8").trimEnd().split(/\r?\n/);
    const names = (rows[0] ?? "").split(",");
    const order = names.map((_, i) => i).sort((a, b) => ((names[a] ?? "") < (names[b] ?? "") ? -1 : 1));
    return rows.map((row, i) => {
      const cells = row.split(",");
      return order.map((column) => (i === 0 ? (cells[column] ?? "") : numberOf(cells[column] ?? "")));
    });
  }

  test("zarr-python reads the same items, and writes the same array", async () => {
    await run("zarr-python");
    expect(readFileSync(at("noons.npy")).equals(readFileSync(at("zarr-python.npy")))).toBe(true);
    expect(Object.keys(await digests("counts.zarr"))).toEqual(["count"]);
    expect(await digests("counts.zarr")).toEqual(await digests("zarr-python.zarr"));
  });

  test("zarrita reads the same items", async () => {
    const [theirs, ours] = await run("zarrita");
    expect(ours).toMatch(/^shape 24 x 49\nlast 2\d\d\.\d+\n$/);
    expect(ours).toBe(theirs);
  });

  test.runIf(hasProgram("rclone"))("rclone copies the same files", async () => {
    await run("rclone");
    expect(await project.shell("diff -r rclone.zarr copied.zarr", at("."))).toBe("");
    expect(Object.keys(await digests("rclone.zarr"))).toHaveLength(4);
  });

  test.runIf(hasProgram("nccopy"))("nccopy writes the same values in the same chunks", async () => {
    await run("nccopy");
    const found = await runPython("coming_from_netcdf.py", at("nccopy.nc"), at("series.zarr"));
    const same = [true, true];
    expect(found).toEqual({ t2m: same, time: same, latitude: same, longitude: same });
  });

  test("are all there", () => {
    const titles = ["rechunker", "xarray", "zarr-python", "zarrita", "rclone", "nccopy"];
    expect([...sections.keys()]).toEqual(titles);
  });
});

function numberOf(cell: string): number {
  return cell.includes("-0") ? Date.parse(`${cell.replace(/Z$/, "").replace(" ", "T")}Z`) : Number(cell);
}
