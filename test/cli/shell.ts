import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { type Run, testFolder } from "../support/cli.ts";
import { runHere } from "../support/cli-here.ts";
import { type V2Array, writeV2Array, writeV2Group } from "../support/v2-store.ts";

type Stores = Readonly<Record<string, V2Array | Readonly<Record<string, V2Array>>>>;

/** A folder in which lines are typed: words after a line may have spaces in them. Its parts may be taken apart. */
export class Shell {
  readonly cwd: string;

  constructor(cwd: string) {
    this.cwd = cwd;
  }

  readonly run = (line: string, ...words: readonly string[]): Promise<Run> =>
    runHere(this.cwd, ...line.split(" ").filter(Boolean), ...words);

  /** What a command that must succeed writes to standard output. */
  readonly output = async (line: string, ...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await this.run(line, ...words);
    expect({ line, code, stderr }).toMatchObject({ line, code: 0 });
    return stdout;
  };

  readonly json = async <T = unknown>(line: string, ...words: readonly string[]): Promise<T> => {
    return JSON.parse(await this.output(`${line} --json`, ...words));
  };

  /** What a command that must be refused says on standard error. */
  readonly refusal = async (code: number, line: string, ...words: readonly string[]): Promise<string> => {
    const run = await this.run(line, ...words);
    expect({ line, ...run }).toMatchObject({ line, code, stdout: "" });
    return run.stderr;
  };

  readonly at = (...names: readonly string[]): string => join(this.cwd, ...names);

  readonly names = async (folder = "", recursive = false): Promise<string[]> =>
    (await readdir(this.at(folder), { recursive, encoding: "utf8" })).sort();

  readonly text = (file: string): Promise<string> => readFile(this.at(file), "utf8");

  readonly document = async <T = unknown>(file: string): Promise<T> => JSON.parse(await this.text(file));
}

/** A folder of the running test, with arrays and groups of arrays in it. */
export async function shell(stores: Stores = {}, attributes = {}): Promise<Shell> {
  const made = new Shell(await testFolder());
  for (const [name, store] of Object.entries(stores)) {
    if ("shape" in store) await writeV2Array(made.at(name), store as V2Array);
    else await writeV2Group(made.at(name), store as Readonly<Record<string, V2Array>>, attributes);
  }
  return made;
}

/** What lines say, one after the other: without places, versions, times and sizes. */
export async function transcript(
  lines: readonly string[],
  run: (line: string) => Promise<Omit<Run, "bytes">>,
  replaced: Readonly<Record<string, string>>,
): Promise<string> {
  let text = "";
  for (const line of lines) {
    const { code, stdout, stderr } = await run(line);
    text += `$ ${`zarrflow ${line}`.trim()}\n${stdout}${stderr}${code === 0 ? "" : `[exit ${code}]\n`}\n`;
  }
  for (const [word, other] of Object.entries(replaced)) text = text.replaceAll(word, other);
  return text
    .replace(/\b\d+(?:\.\d+)? [kMG]?B\b/g, "SIZE")
    .replace(/\b(at least|found) \d+ bytes\b/g, "$1 N bytes")
    .replace(/\b\d+ attempts in \d+(?:\.\d+)? s\b/g, "N attempts in TIME")
    .replace(/\bin \d+(?:\.\d+)? s\b/g, "in TIME")
    .replace(/"(storedBytes|logicalBytes|ratio)":[\d.]+/g, '"$1":N')
    .replace(/ratio [\d.]+/g, "ratio N");
}
