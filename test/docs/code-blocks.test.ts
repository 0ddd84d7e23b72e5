// @module-tag sampled
import { execFile } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeWeather, prepareGuides } from "../../scripts/demo-data.mjs";
import { root } from "../built-package.ts";
import { ModuleRunner } from "../support/module-runner.ts";
import { drawsAll } from "../support/samples.ts";
import { type CodeBlock, type Document, documents, isModule, moduleName, read } from "./code-block.ts";
import { UserProject } from "./user-project.ts";

const DEMO = join(root, "scripts/demo.mjs");
/** Of the README's data, which otherwise are an eighth as many as those of the demo. */
const LONGITUDES = drawsAll ? 288 : 36;

/**
 * The convention: the blocks of one file run in order, in a copy of the folder `demo/guides` that `npm run demo`
 * leaves; those of the README in one of `demo`. `ts` blocks are modules that must type-check (types.test.ts) and run; what follows
 * `//` after a `console.log(...)` is what it prints. Of `sh` blocks the lines that begin with `zarrflow` run;
 * `npm run NAME` must name a script. All modules, and lines that need no shell, share a process; in the long run each
 * has its own.
 */
describe("code blocks", () => {
  const files = documents();
  const modules = files.flatMap(({ name, blocks }) =>
    blocks.filter(isModule).map((block) => ({ file: moduleName(name, block), text: block.text })),
  );
  let project: UserProject;
  let shared: ModuleRunner;

  beforeAll(async () => {
    shared = new ModuleRunner();
    project = new UserProject();
    mkdirSync(join(project.folder, "blocks"));
    for (const { file, text } of modules) project.write(file, text);
    project.transpile(modules.map(({ file }) => file));
    if (drawsAll) await promisify(execFile)(process.execPath, [DEMO], { cwd: project.folder });
    else {
      mkdirSync(join(project.folder, "demo"));
      await makeWeather(join(project.folder, "demo/weather.zarr"), [720, 121, LONGITUDES]);
      await prepareGuides(join(project.folder, "demo/guides"));
    }
  });
  afterAll(async () => {
    await shared.end();
    project?.remove();
  });

  test("there are some", () => {
    expect(modules.length).toBeGreaterThan(12);
  });

  test("pages say where their data is before they use it", () => {
    const pages = files.filter(({ name }) => name.endsWith(".md") && name !== "README.md");
    const using = pages.filter(({ blocks }) => blocks.some(usesData));
    expect(using.length).toBeGreaterThan(7);
    for (const { name, blocks } of using) {
      const first = blocks.find(usesData)?.line;
      const before = read(name).split("\n").slice(0, first).join("\n");
      expect(before, name).toMatch(/`demo\/guides`.* `npm run demo`/);
    }
  });

  const withBlocks = files.filter(({ blocks }) => blocks.some(isRun));
  const isPage = ({ name }: Document) => name.endsWith(".md");
  const groups: [string, readonly Document[]][] = [
    ...withBlocks.filter(isPage).map((page): [string, Document[]] => [page.name, [page]]),
    ["doc comments", withBlocks.filter((file) => !isPage(file))],
  ];
  describe.each(groups)("%s", (_group, documents) => {
    beforeAll(() => {
      for (const { name } of documents) {
        cpSync(join(project.folder, name === "README.md" ? "demo" : "demo/guides"), folderOf(name), {
          recursive: true,
        });
      }
    });

    for (const { name, blocks } of documents) {
      test.each(blocks.filter(isRun).map((block) => [`${name}, line ${block.line}`, block] as const))(
        "%s",
        async (_, block) => {
          if (!isModule(block)) {
            for (const line of shellLines(block.text)) await runLine(line, folderOf(name));
            return;
          }
          const file = moduleName(name, block);
          const runner = drawsAll ? new ModuleRunner() : shared;
          const output = plain(await runner.run(project.compiled(file), folderOf(name)));
          if (drawsAll) await runner.end();
          for (const line of printedLines(block.text)) {
            const said = name === "README.md" ? line.replace("x 288", `x ${LONGITUDES}`) : line;
            expect(output.split("\n")).toContain(plain(said));
          }
        },
      );
    }
  });

  async function runLine(line: string, folder: string): Promise<void> {
    if (SERVES.test(line)) await project.served(line, folder);
    else if (PLAIN.test(line) && !drawsAll)
      expect(await shared.zarrflow(wordsOf(line), folder)).toMatchObject({ code: 0 });
    else if (line.startsWith("zarrflow ")) await project.shell(line, folder);
    else expectScripts(line);
  }

  function folderOf(name: string): string {
    return join(project.folder, name.replaceAll("/", "-"));
  }
});

/** What answers until it is interrupted, alone on its line. */
const SERVES = /^zarrflow view [^&|>]*$/;

/** The command alone, with words that a shell leaves as they are, or in single quotes. */
const PLAIN = /^zarrflow(?: (?:[\w./:=,@%+-]+|'[^']*'))+$/;

function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|[^ ]+/g)].slice(1).map(([word, quoted]) => quoted ?? word);
}

function isRun(block: CodeBlock): boolean {
  return isModule(block) || block.language === "sh";
}

function usesData(block: CodeBlock): boolean {
  return isRun(block) && /\b(?:era5|archive)\.zarr\b/.test(block.text);
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
