import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandNames } from "../../src/cli/command-list.ts";
import { codecNames } from "../../src/codecs/index.ts";
import { EXIT_CODES, HTTP_STATUS } from "../../src/index.ts";
import { formatNamed, type ZarrFormat } from "../../src/meta/index.ts";
import { requireBuild, root } from "../built-package.ts";
import { avoidedIn } from "./avoided-words.ts";
import { blocksOf, documents, read } from "./code-block.ts";

/** Rows of all tables of a page, as their cells. */
const rowsOf = (page: string) =>
  read(page)
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((text) => text.trim()),
    );

const rows = rowsOf("README.md");

describe("the tables of the README", () => {
  test("codecs it names as missing are not in the registry", () => {
    const [, missing = ""] = /except ([^;]*);/.exec(read("README.md")) ?? [];
    expect(codesOf(missing)).toHaveLength(3);
    for (const name of codesOf(missing)) expect(codecNames()).not.toContain(name);
  });

  test("formats are those that have a format", () => {
    const formats: readonly (readonly [ZarrFormat, string])[] = [
      ["v1", "Zarr v1"],
      ["v2", "Zarr v2"],
      ["v3-draft-2019", "the v3 draft of 2019"],
      ["v3", "Zarr v3, with shards"],
    ];
    for (const [name, words] of formats) {
      expect(cell(words) === "read, write", words).toBe(hasFormat(name));
    }
  });

  test.each([
    ["docs/errors.md", EXIT_CODES],
    ["docs/guides/serve.md", HTTP_STATUS],
  ])("%s has the number of each error code", (page, numbers) => {
    const told = rowsOf(page).flatMap(([number = "", codes = ""]) =>
      /^\d+$/.test(number) ? codesOf(codes).map((code) => [code, Number(number)]) : [],
    );
    expect(Object.fromEntries(told)).toEqual(numbers);
    expect(told).toHaveLength(Object.keys(numbers).length);
  });
});

test("every command stands in the README", () => {
  const blocks = blocksOf(read("README.md")).filter(({ language }) => language === "sh");
  const used = blocks.flatMap(({ text }) => [...text.matchAll(/^zarrflow (\w+)/gm)].map(([, name]) => name));
  expect(new Set(used)).toEqual(new Set(commandNames));
});

const pages = documents().flatMap(({ name }) => (name.endsWith(".md") ? [name] : []));

describe.each(pages)("%s", (name) => {
  test("the rows of each table have as many cells as its head", () => {
    const text = read(name).replace(/^```[\s\S]*?^```/gm, "");
    for (const table of text.match(/(?:^\|.*\n)+/gm) ?? []) {
      const [head, ...cells] = table.split("\n").map((row) => row.split(/(?<!\\)\|/).length);
      expect(cells.slice(0, -1), table).toEqual(cells.slice(1).map(() => head));
    }
  });

  test("links lead somewhere", () => {
    for (const [, link = ""] of read(name).matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
      expect(existsSync(join(root, dirname(name), link)), link).toBe(true);
    }
  });

  test("paths in code are there", () => {
    const paths = codesOf(read(name)).filter((text) =>
      /^(?:src|test|docs|examples|scripts)\/[\w./*-]+$/.test(text),
    );
    for (const path of paths) expect(exists(path), path).toBe(true);
  });
});

test("the files that docs/architecture-walk.md names are there", () => {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  const named =
    read("docs/architecture-walk.md")
      .replace(/`test\/[^`]+`/g, "")
      .match(/[a-z0-9-]+(?:\/[a-z0-9-]+)*\.ts\b/g) ?? [];
  expect(named.length).toBeGreaterThan(20);
  const isThere = (name: string) => sources.some((source) => `/${source}`.endsWith(`/${name}`));
  expect(named.filter((name) => name !== "codec.ts" && !isThere(name))).toEqual([]);
});

test("the walks of docs/architecture-walk.md name existing files, as many as they state", () => {
  const walks = [
    ...read("docs/architecture-walk.md").matchAll(
      /: (\d+) files?\.\*\*[^`]*(?:`[^`]+`[^`]*)?```text\n([^`]*)```/g,
    ),
  ];
  expect(walks).toHaveLength(4);
  for (const [, count, lines = ""] of walks) {
    const files = lines
      .trimEnd()
      .split("\n")
      .flatMap((line) => {
        const [folder = "", ...names] = line.split(/ +/);
        return names.map((name) => join("src", folder, `${name}.ts`));
      });
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    expect(new Set(files).size).toBe(Number(count));
    expect(files).toHaveLength(Number(count));
  }
});

test("the tree of ARCHITECTURE.md is the one on disk", () => {
  const tree = blocksOf(read("ARCHITECTURE.md"))[0]?.text ?? "";
  const folders: string[] = [];
  const told: string[] = [];
  for (const line of tree.split("\n")) {
    const [, indent = "", names = ""] = /^( *)(\S+(?:, \S+)*) {2,}/.exec(`${line}  `) ?? [];
    const depth = indent.length / 2;
    for (const name of names.split(", ")) {
      const path = [...folders.slice(0, depth), name.replace(/\/$/, "")].join("/");
      told.push(path);
      if (name.endsWith("/")) folders[depth] = name.replace(/\/$/, "");
    }
  }
  for (const path of told) expect(exists(path), path).toBe(true);
  const sources = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true });
  const top = sources.filter((entry) => entry.isDirectory() && entry.parentPath === join(root, "src"));
  expect(told).toEqual(expect.arrayContaining(top.map(({ name }) => `src/${name}`)));
});

function hasFormat(name: ZarrFormat): boolean {
  try {
    return formatNamed(name).name === name;
  } catch {
    return false;
  }
}

/** The second cell of the row of the README whose first is `first`. */
function cell(first: string): string {
  const row = rows.find(([name]) => name === first);
  if (row === undefined) throw new Error(`the README has no row \`${first}\``);
  return row[1] ?? "";
}

/** What stands between backticks. */
function codesOf(text: string): string[] {
  return [...text.replace(/```.*?```/gs, "").matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
}

/** Whether something is at `path`, where `*` stands for any part of its last name. */
function exists(path: string): boolean {
  if (!path.includes("*")) return existsSync(join(root, path));
  const pattern = new RegExp(
    `^${path
      .slice(path.lastIndexOf("/") + 1)
      .replaceAll(".", "\\.")
      .replaceAll("*", ".*")}$`,
  );
  return readdirSync(join(root, dirname(path))).some((name) => pattern.test(name));
}

test("docs/decisions/README.md lists every decision", () => {
  const names = readdirSync(join(root, "docs/decisions")).filter((name) => name !== "README.md");
  const listed = [...read("docs/decisions/README.md").matchAll(/^- \[.*\]\((\d.*\.md)\)$/gm)].map(
    ([, name]) => name,
  );
  expect(listed).toEqual(names.sort());
});

test("the index of test/flows names each file once", () => {
  const index = read("test/flows/README.md").split("\n").slice(6).join("\n");
  const files = readdirSync(join(root, "test/flows")).filter((name) => name.endsWith(".test.ts"));
  expect(codesOf(index).sort()).toEqual(files.map((name) => name.replace(".test.ts", "")).sort());
});

const threats = read("docs/threat-model.md")
  .split("\n")
  .filter((line) => line.startsWith("|") && !/^\| *(?:-{3}|Attack)/.test(line));

test.each(threats)("%s", (row) => {
  const tests = [...row.matchAll(/\]\(([^)]*)\)/g)].map(([, path = ""]) => path);
  expect(tests).not.toEqual([]);
  for (const path of tests) {
    expect(path).toMatch(/\.test\.ts$/);
    expect(existsSync(join(root, "docs", path))).toBe(true);
  }
});

test("the tables of docs/scale.md are what the simulator prints", { tags: ["long"] }, async () => {
  requireBuild();
  const { scaleTables } = (await import("../../bench/scale.mjs" as string)) as {
    readonly scaleTables: () => Promise<string>;
  };
  expect(read("docs/scale.md")).toContain(await scaleTables());
});

/** Where readers of the English of this table have to find its words. */
const LIST = /\n## Words\n[\s\S]*/;

describe("words that are not used", () => {
  test.each(pages)("in %s", (name) => {
    const prose = read(name)
      .replace(LIST, "")
      .replace(/```.*?```/gs, "")
      .replace(/`[^`\n]*`/g, "");
    expect(avoidedIn(prose)).toEqual([]);
  });

  test("are found where they are", () => {
    expect(avoidedIn("It tells the size anew.")).toEqual(["tells", "anew"]);
  });
});
