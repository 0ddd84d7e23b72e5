import { execFile } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../built-package.ts";
import { type CodeBlock, documents, read } from "./code-block.ts";
import { UserProject } from "./user-project.ts";

/**
 * The convention: the blocks of one file run in order, in a folder of their own, that holds `era5.zarr` (a group
 * with the array `t2m`) and `archive.zarr.zip` (the same as a zip). Those of the README run in the folder `demo`, as
 * `npm run demo` leaves it. `ts` blocks are modules that must type-check and run; what follows `//` after a
 * `console.log(...)` is what it prints. Of `sh` blocks the lines that begin with `zarrflow` run; `npm run NAME` must
 * name a script.
 */
describe("code blocks", () => {
  const files = documents();
  const modules = files.flatMap(({ name, blocks }) =>
    blocks.filter(isModule).map((block) => ({ file: moduleName(name, block), text: block.text })),
  );
  let project: UserProject;
  let input: string;
  let wrong: Map<string, string[]>;

  beforeAll(async () => {
    project = new UserProject();
    mkdirSync(join(project.folder, "blocks"));
    for (const { file, text } of modules) project.write(file, text);
    project.write("prepare.ts", PREPARE);
    wrong = project.compile(["prepare.ts", ...modules.map(({ file }) => file)]);
    expect(wrong.get("prepare.ts") ?? []).toEqual([]);
    input = join(project.folder, "input");
    mkdirSync(input);
    await project.run("prepare.ts", input);
  });
  afterAll(() => project?.remove());

  test("there are some", () => {
    expect(modules.length).toBeGreaterThan(12);
  });

  describe.each(files.filter(({ blocks }) => blocks.some(isRun)))("$name", ({ name, blocks }) => {
    const isReadme = name === "README.md";
    const folder = () => join(project.folder, name.replaceAll("/", "-"), isReadme ? "demo" : "");
    beforeAll(async () => {
      if (isReadme) await runDemo(dirname(folder()));
      else cpSync(input, folder(), { recursive: true });
    });

    test.each(blocks.filter(isRun))("line $line", async (block) => {
      if (isModule(block)) {
        const file = moduleName(name, block);
        expect(wrong.get(file) ?? []).toEqual([]);
        const output = plain(await project.run(file, folder()));
        for (const line of printedLines(block.text)) expect(output.split("\n")).toContain(plain(line));
        return;
      }
      for (const line of shellLines(block.text)) {
        if (line.startsWith("zarrflow ")) await project.shell(line, folder());
        else expectScripts(line);
      }
    });
  });
});

const PREPARE = `
import { copy } from "zarrflow";
import { makeInput } from "./examples/make-input.ts";

await makeInput(process.cwd());
await copy("era5.zarr", "archive.zarr.zip");
`;

async function runDemo(cwd: string): Promise<void> {
  mkdirSync(cwd);
  await promisify(execFile)(process.execPath, [join(root, "scripts/demo.mjs")], { cwd });
}

function isRun(block: CodeBlock): boolean {
  return isModule(block) || block.language === "sh";
}

function isModule({ language }: CodeBlock): boolean {
  return language === "ts";
}

function moduleName(document: string, { line }: CodeBlock): string {
  return `blocks/${document.replaceAll("/", "-").replace(/\.\w+$/, "")}-${line}.ts`;
}

/** Lines that a block says it prints. */
function printedLines(text: string): string[] {
  return [...text.matchAll(/^\s*(?:.*\s)?console\.log\(.*\);? \/\/ (.*)$/gm)].map(([, said = ""]) => said);
}

/** Node prints texts within objects in single quotes. */
function plain(text: string): string {
  return text.replaceAll("'", '"');
}

/** Commands without comments; a line that ends in a backslash goes on in the next. */
function shellLines(text: string): string[] {
  const joined = text.replace(/\\\n\s*/g, " ").split("\n");
  return joined.map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
}

function expectScripts(line: string): void {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  for (const [, script = ""] of line.matchAll(/npm run (?:--silent )?([\w-]+)/g)) {
    expect(Object.keys(scripts), "package.json has no such script").toContain(script);
  }
}
