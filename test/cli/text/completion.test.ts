import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { commandNames, loadCommands } from "../../../src/cli/command-list.ts";
import { completionScript, namesInside } from "../../../src/cli/commands/completion.ts";
import { create } from "../../../src/hierarchy/create/create.ts";
import { BUCKET } from "../../stores/s3-server.ts";
import { serveValues } from "../../stores/value-server.ts";
import { testFolder } from "../../support/cli.ts";
import { valuesIn } from "../../support/consume.ts";
import { given } from "../../support/given.ts";
import { serveReachableBucket } from "../../support/s3-environment.ts";
import { writeV2Group } from "../../support/v2-store.ts";

/** What bash offers for the last of `words`. */
const offered = (...words: readonly string[]) => offeredBy("", ...words);

/** The same, with functions of the shell in place of programs. */
async function offeredBy(functions: string, ...words: readonly string[]): Promise<string[]> {
  const script = completionScript("bash", await loadCommands());
  const line = words.map((word) => `'${word}'`).join(" ");
  const program = `${script}
${functions}
COMP_WORDS=(zarrflow ${line}); COMP_CWORD=${words.length}; _zarrflow; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync("bash", ["-c", program], {
    encoding: "utf8",
    // bash warns of a language that is not installed
    env: { ...process.env, LC_ALL: "C" },
  });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return stdout.split("\n").filter(Boolean);
}

describe("completion in bash", () => {
  it("offers the commands", async () => {
    expect(await offered("")).toEqual([...commandNames, "help"]);
    expect(await offered("di")).toEqual(["digest", "diff"]);
    expect(await offered("help", "rec")).toEqual(["rechunk"]);
  });

  it("offers the flags of a command, and the values of a flag", async () => {
    const reading = ["ascii", "anonymous", "missing-403", "header", "attempts", "timeout", "max-metadata"];
    const flags = [...reading, "quiet", "no-warnings", "json", "help"].map((name) => `--${name}`);
    expect(await offered("tree", "--")).toEqual(flags);
    expect(await offered("copy", "a", "--if-exists", "")).toEqual(["error", "skip", "replace"]);
    expect(await offered("completion", "")).toEqual(["bash", "zsh", "fish"]);
  });
});

describe.each(["zsh", "fish"] as const)("completion in %s", (shell) => {
  it("names every command, and every flag with its words", async () => {
    const script = completionScript(shell, await loadCommands());
    for (const [name, { options }] of await loadCommands()) {
      expect(script).toContain(name);
      for (const [flag, { bare }] of Object.entries(options)) {
        const inZsh = bare === undefined ? `--${flag}[` : `--${flag}=-[`;
        expect(script).toContain(shell === "zsh" ? inZsh : `-l ${flag} `);
      }
    }
  });

  it("closes every quote", async () => {
    const script = completionScript(shell, await loadCommands());
    for (const line of script.split("\n").filter((each) => !each.startsWith("#"))) {
      expect(line.replaceAll("'\\''", "").split("'").length % 2, line).toBe(1);
    }
  });
});

describe("completion of names inside stores", () => {
  async function store(): Promise<string> {
    const cwd = await testFolder();
    const array = { shape: [4], chunks: [2] };
    await writeV2Group(join(cwd, "d.zarr"), { t2m: array, time: array, "sub/u v": array });
    await writeFile(join(cwd, "d.zarr/sub/.zgroup"), '{"zarr_format":2}');
    return cwd;
  }

  it("are arrays, and groups with a slash", async () => {
    const cwd = await store();
    const names = async (url: string) =>
      (await namesInside(join(cwd, url), 60_000)).map((name) => name.slice(cwd.length + 1));
    expect(await names("d.zarr/")).toEqual(["d.zarr/sub/", "d.zarr/t2m", "d.zarr/time"]);
    expect(await names("d.zarr/t2")).toEqual(["d.zarr/t2m"]);
    expect(await names("d.zarr/sub/")).toEqual(["d.zarr/sub/u v"]);
  });

  it("are none where there is nothing, or no place", async () => {
    const cwd = await store();
    for (const path of ["nothing.zarr/", "d.zarr/t2m/", "d.zarr/sub/no/", "d"])
      expect([path, await namesInside(`${cwd}/${path}`)]).toEqual([path, []]);
    for (const url of ["", "d", "s3:///", "ftp://x/"])
      expect([url, await namesInside(url)]).toEqual([url, []]);
  });

  it("are found in buckets, too", async () => {
    const bucket = await serveReachableBucket();
    try {
      for (const name of ["t2m", "time"]) {
        const array = { shape: [4], chunks: [2], dataType: "float32", zarrFormat: "v3" } as const;
        await (await create(`s3://${BUCKET}/d.zarr/${name}`, array)).close();
      }
      expect(await namesInside(`s3://${BUCKET}/d.zarr/t`, 60_000)).toEqual([
        `s3://${BUCKET}/d.zarr/t2m`,
        `s3://${BUCKET}/d.zarr/time`,
      ]);
    } finally {
      await bucket.close();
    }
  });

  it("are found over HTTP where consolidated metadata name them, by a server that answers in time", async () => {
    const array = { shape: [4], chunks: [2], dataType: "float32", values: null };
    const arrays = { t2m: array, time: array, "sub/u": array };
    const values = await valuesIn(await given({ arrays, consolidated: true }), "d.zarr");
    const server = await serveValues(values);
    onTestFinished(() => server.close());
    const url = `${server.url}/d.zarr`;
    expect(await namesInside(`${url}/`, 60_000)).toEqual([`${url}/sub/`, `${url}/t2m`, `${url}/time`]);
    expect(await namesInside(`${url}/t2`, 60_000)).toEqual([`${url}/t2m`]);
    expect(await namesInside(`${url}/sub/`, 60_000)).toEqual([`${url}/sub/u`]);
    expect(await namesInside(`${url}/t2m/`, 60_000)).toEqual([]);
    server.faults.push(...Array.from({ length: 99 }, () => () => true));
    expect(await namesInside(`${url}/`, 50)).toEqual([]);
  });

  it("are what follows a colon, which ends a word of bash", async () => {
    const asked = `zarrflow() { [ "$*" = "completion names s3://b/d.zarr/" ] && printf '%s\\n' s3://b/d.zarr/{a,b/}; }`;
    expect(await offeredBy(asked, "info", "s3", ":", "//b/d.zarr/")).toEqual([
      "//b/d.zarr/a",
      "//b/d.zarr/b/",
    ]);
    expect(await offeredBy(asked, "info", "s3://b/d.zarr/")).toEqual(["s3://b/d.zarr/a", "s3://b/d.zarr/b/"]);
  });

  it("is asked for by bash inside of stores alone", async () => {
    const asked = (word: string) =>
      offeredBy(
        `zarrflow() { [ "$*" = "completion names $current" ] && printf '%s\\n' "$current"{a,b\\ c/}; }`,
        "info",
        word,
      );
    expect(await asked("d.zarr/")).toEqual(["d.zarr/a", "d.zarr/b c/"]);
    expect(await asked("package.js")).toEqual(["package.json"]);
    expect(await offeredBy("zarrflow() { return 1; }", "info", "x.zarr/")).toEqual([]);
  });
});
