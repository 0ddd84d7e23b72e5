// @module-tag slow
import { readdir, readFile, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { headersOf, planAccessOf } from "../../src/cli/request-headers.ts";
import { withoutSecretFlags } from "../../src/cli/unfinished-run.ts";
import { open } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { serveValues, type ValueServer } from "../stores/value-server.ts";
import { runHere } from "../support/cli-here.ts";
import { valuesIn } from "../support/consume.ts";
import { given } from "../support/given.ts";

const SECRET = "hunter2";

let server: ValueServer;
const folder = temporaryFolder();
let cwd = "";
beforeAll(async () => {
  const array = { chunks: [2], dataType: "uint8", values: [1, 2, 3, 4, 5, 6] };
  const values = await valuesIn(await given({ arrays: { "a.zarr": array } }));
  server = await serveValues(values, {
    isLetIn: ({ url, headers }) => url.endsWith(`?k=${SECRET}`) || headers["x-key"] === SECRET,
  });
  cwd = folder.path;
  await writeFile(join(cwd, "headers"), `X-Key: ${SECRET}\n\nX-More: 1\n`);
  await writeFile(join(cwd, "query"), `k=${SECRET}\n`);
});
afterAll(async () => {
  await server.close();
});
afterEach(() => vi.unstubAllEnvs());

/** Runs a command, which shows no secret, neither in its output nor in a file. */
async function run(...args: readonly string[]) {
  const ran = await runHere(cwd, ...args);
  expect(ran.stdout + ran.stderr).not.toContain(SECRET);
  for (const entry of await readdir(cwd, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || ["headers", "query"].includes(entry.name)) continue;
    expect(await readFile(join(entry.parentPath, entry.name), "latin1"), entry.name).not.toContain(SECRET);
  }
  return ran;
}

const header = ["--header", `X-Key: ${SECRET}`];
const plain = () => `${server.url}/a.zarr`;
const withQuery = () => `${server.url}/a.zarr?k=${SECRET}`;

describe("--header, and a query in the URL", () => {
  it.each<[string, () => string[]]>([
    ["--header", () => [plain(), ...header]],
    ["--header=", () => [plain(), `--header=X-Key:${SECRET}`]],
    ["--header @FILE", () => [plain(), "--header", "@headers"]],
    ["a query", () => [withQuery()]],
  ])("%s let in info, tree, slice, digest, validate and diff", async (_, source) => {
    for (const command of ["info", "tree", "digest", "validate"]) {
      const { code, stderr } = await run(command, ...source());
      expect([command, code, stderr]).toEqual([command, 0, expect.any(String)]);
    }
    const { stdout } = await run("slice", ...source(), "--format", "json");
    expect(JSON.parse(stdout)).toEqual([1, 2, 3, 4, 5, 6]);
    const [url = "", ...flags] = source();
    expect((await run("diff", url, url, ...flags)).code).toBe(0);
  });

  it("ZARRFLOW_HEADERS stands in the place of --header", async () => {
    vi.stubEnv("ZARRFLOW_HEADERS", `X-Key: ${SECRET}`);
    expect((await run("info", plain())).code).toBe(0);
  });

  it.each<[string, () => string[]]>([
    ["headers", () => [plain(), ...header]],
    ["a query", () => [withQuery()]],
  ])("%s are in no report, trace, plan or error of copy", async (name, source) => {
    const [url = "", ...flags] = source();
    const target = `${name.replace(" ", "-")}.zarr`;
    const files = ["--report", `${target}.html`, "--trace", `${target}.ndjson`, "--verify"];
    expect(await run("copy", url, target, ...flags, ...files)).toMatchObject({ code: 0 });
    expect(await readFile(join(cwd, `${target}.html`), "utf8")).toContain("***");
    expect((await open(join(cwd, target))).kind).toBe("array");
    expect((await run("copy", url, "dry.zarr", ...flags, "--dry-run", "--json")).code).toBe(0);
    expect((await run("rechunk", url, target, "--chunks", "3", ...flags)).code).toBe(2);
    server.faults.push(
      ...Array.from({ length: 40 }, () => (response: ServerResponse) => {
        response.writeHead(418).end();
        return true;
      }),
    );
    const failed = await run("copy", url, "failed.zarr", ...flags, "--json");
    server.faults.length = 0;
    expect(failed.code).toBe(4);
  });

  it.each<[string, () => string[], string[], Record<string, string>]>([
    ["--header", () => [plain(), ...header], header, {}],
    ["--query", () => [withQuery()], ["--query", `k=${SECRET}`], {}],
    ["--query @FILE", () => [withQuery()], ["--query", "@query"], {}],
    ["ZARRFLOW_QUERY", () => [withQuery()], [], { ZARRFLOW_QUERY: `?k=${SECRET}` }],
    ["ZARRFLOW_HEADERS", () => [plain(), ...header], [], { ZARRFLOW_HEADERS: `X-Key: ${SECRET}` }],
  ])("a plan is run with %s, and says what is lacking without", async (name, source, flags, variables) => {
    const [url = "", ...given] = source();
    const file = `${name.replace(/\W/g, "")}.json`;
    const target = `${file}.zarr`;
    expect((await run("plan", "rechunk", url, target, "--chunks", "3", ...given, "-o", file)).code).toBe(0);
    const share = ["--task-index", "0", "--task-count", "1"];
    const lacking = await run("run", file, ...share);
    expect(lacking.code).toBe(1);
    expect(lacking.stderr).toContain("must be given again");
    expect(lacking.stderr).toMatch(/--header or ZARRFLOW_HEADERS|--query or ZARRFLOW_QUERY/);
    for (const [variable, value] of Object.entries(variables)) vi.stubEnv(variable, value);
    expect(await run("run", file, ...share, ...flags)).toMatchObject({ code: 0 });
    expect(await run("finish", file, ...flags)).toMatchObject({ code: 0 });
    vi.unstubAllEnvs();
    expect((await run("slice", target, "--format", "json")).stdout.trim()).toBe("[1,2,3,4,5,6]");
  });

  it("completes no names behind a query", async () => {
    const before = server.requests.length;
    expect((await run("completion", "names", `${server.url}/a.zarr/t?k=${SECRET}/`)).stdout).toBe("");
    expect(server.requests).toHaveLength(before);
  });
});

it("takes headers apart, and refuses what is none without showing it", () => {
  expect(headersOf(["A: b: c", "a:d", " "].slice(0, 2))).toEqual({ headers: { a: "b: c, d" } });
  expect(headersOf([])).toEqual({});
  for (const text of [SECRET, `: ${SECRET}`, "a:", `a b: ${SECRET}`, `a: ${SECRET}\n\x01`]) {
    const error = (() => {
      try {
        headersOf([text]);
        return undefined;
      } catch (failure) {
        return failure;
      }
    })();
    expect(error).toMatchObject({ code: "invalid-option" });
    expect(String(error)).not.toContain(SECRET);
  }
  expect(planAccessOf({ query: "a=b" })).toEqual({ query: "a=b" });
});

it("leaves the values of flags that are secret out of a command", () => {
  const words = [
    "copy",
    "a",
    "--header",
    `A: ${SECRET}`,
    `--header=A: ${SECRET}`,
    "--query",
    SECRET,
    "--header",
    "@f",
  ];
  expect(withoutSecretFlags(words).join(" ")).toBe(
    "copy a --header *** --header=*** --query *** --header @f",
  );
});
