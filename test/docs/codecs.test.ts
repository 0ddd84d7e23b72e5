import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { builtinCodecs, codecNamed, type ObjectCodecName } from "../../src/codecs/catalog.ts";
import { codecNames } from "../../src/codecs/index.ts";
import { ZSTD_KERNEL_LEVELS } from "../../src/codecs/kernels/wasm-codecs.ts";
import { makeCodec } from "../../src/codecs/registry.ts";
import { Losses } from "../../src/meta/documents.ts";
import { parseV2Codec, writeV2Codec } from "../../src/meta/v2/codecs.ts";
import { parseV3Codec, writeV3Codec } from "../../src/meta/v3/codec.ts";
import { isZarrflowError } from "../../src/util/errors.ts";
import { root } from "../built-package.ts";
import { errorOf, RAW, specOf } from "../codecs/support.ts";
import { read } from "./code-block.ts";

/** Where a format says in other words what the codec does. */
const SAID_OTHERWISE: Readonly<Record<string, Readonly<{ v2?: string; v3?: string }>>> = {
  bytes: { v2: "in `dtype`" },
  transpose: { v2: "`order`" },
  "v1.gzip": { v2: "v1 only" },
  zep0007: { v3: "by the data type" },
};

/** The table of the page, with the measurements of `results`, the text of `bench/RESULTS.md`. */
function codecTable(results: string): string {
  const rows = builtinCodecs().map(({ name, engines: { node = "", browser = "" } = {} }) => {
    const { v2, v3 } = { v2: v2Id(name), v3: v3Name(name) };
    const said = SAID_OTHERWISE[name];
    const names = [v2 ? code(v2) : (said?.v2 ?? "-"), v3 ? code(v3) : (said?.v3 ?? "-")];
    return [code(name), ...names, node, browser, measured(name, results)];
  });
  const head = ["codec", "v2 `id`", "v3 `name`", "in Node", "in browsers", "% of Python"];
  const widths = head.map((title, i) =>
    Math.max(...[head, ...rows].map((cells) => cells[i]?.length ?? 0), title.length),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

/** The id that v2 writes for the codec and reads as it. */
function v2Id(name: string): string | undefined {
  const losses = new Losses();
  const { id } = writeV2Codec({ name, configuration: {} }, "", losses);
  try {
    losses.check("v2", "");
    return parseV2Codec({ id: id ?? null }, "").name === name ? String(id) : undefined;
  } catch (error) {
    if (isZarrflowError(error)) return undefined;
    throw error;
  }
}

/** The name that v3 writes for the codec and reads as it. */
function v3Name(name: string): string | undefined {
  const json = writeV3Codec({ name, configuration: {} }, 1);
  const written = typeof json === "string" ? json : (json as { name?: string } | undefined)?.name;
  if (written === undefined) return undefined;
  return parseV3Codec(written, "").name === name ? written : undefined;
}

/** Encoding and decoding 1 MiB against Python, the least and the most of the codec's rows. */
function measured(name: string, results: string): string {
  const section = /### Chunks of 1 MiB\n([\s\S]*?)(?=\n##|$)/.exec(results)?.[1] ?? "";
  const rows = section
    .split("\n")
    .map((row) => row.split("|").map((cell) => cell.trim()))
    .filter(([, title = ""]) => title.split(/[ ,]/)[0] === name);
  const range = (cell: number) => {
    const percents = rows.map((row) => Number(row[cell]));
    const [least, most] = [Math.min(...percents), Math.max(...percents)];
    return least === most ? `${least}` : `${least}-${most}`;
  };
  return rows.length === 0 ? "" : `${range(3)} / ${range(5)}`;
}

function code(text: string): string {
  return `\`${text}\``;
}

const PAGE = "docs/codecs.md";
const TABLE = /(?<=<!-- codecs -->\n\n)[\s\S]*?(?=\n\n<!-- end -->)/;

describe("the table of docs/codecs.md", () => {
  test("has every codec of the registry, and no other", () => {
    expect(
      builtinCodecs()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(codecNames());
  });

  test("has the codecs of objects that types name", () => {
    const named: Record<ObjectCodecName, true> = {
      categorize: true,
      json2: true,
      msgpack2: true,
      "vlen-array": true,
      "vlen-bytes": true,
      "vlen-utf8": true,
    };
    const found = builtinCodecs().filter(({ objects }) => objects !== undefined);
    expect(found.map(({ name }) => name).sort()).toEqual(Object.keys(named));
  });

  test("lists kernels where a codec calls them", () => {
    const folder = join(root, "src/codecs");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(".ts"),
    );
    const codecs = files.map((path) => ({
      path,
      name:
        path
          .replace(/(?:\/codec)?\.ts$/, "")
          .split("/")
          .at(-1) ?? "",
    }));
    const callers = codecs
      .filter(({ name }) => codecNamed(name) !== undefined)
      .filter(({ path }) => readFileSync(join(folder, path), "utf8").includes('kernels/kernels.ts"'))
      .map(({ name }) => name);
    expect(callers).toContain("lz4");
    for (const name of callers) expect(codecNamed(name)?.engines?.node, name).toContain("kernel");
  });

  // `npx vitest run test/docs/codecs.test.ts -u` writes it anew, with the figures of bench/RESULTS.md.
  test("is what the registry, the formats and the measurements say", async () => {
    const page = read(PAGE);
    expect(page).toMatch(TABLE);
    const table = codecTable(read("bench/RESULTS.md"));
    await expect(page.replace(TABLE, () => table)).toMatchFileSnapshot(`../../${PAGE}`);
  });
});

describe("the text of docs/codecs.md", () => {
  const page = read(PAGE);
  const context = { spec: specOf([1], RAW(1)), itemSize: 1, endian: "little" } as const;

  test("codecs listed as not supported are rejected", async () => {
    const section = /## Not supported\n([\s\S]*?)\n##/.exec(page)?.[1] ?? "";
    const names = [...section.matchAll(/^- ((?:`\w+`(?:, )?)+)/gm)].flatMap(([, list = ""]) =>
      [...list.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
    );
    expect(names).toContain("pickle");
    for (const name of names) {
      await errorOf(() => makeCodec({ name, configuration: {} }, context), "unsupported-codec");
    }
  });

  test("other names that v3 reads", () => {
    const names = [...page.matchAll(/`numcodecs\.(\w+)`(?=,| and| too)/g)].map(([, name = ""]) => name);
    expect(names.length).toBeGreaterThan(3);
    for (const name of names) expect(parseV3Codec(`numcodecs.${name}`, "").name).toBe(name);
  });

  test("what kernels of zstd there are", () => {
    const { least, most } = ZSTD_KERNEL_LEVELS;
    expect(page).toContain(`levels ${least} to ${most}`);
  });
});
