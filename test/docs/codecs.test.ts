import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { builtinCodecs, codecNamed, type ObjectCodecName } from "../../src/codecs/descriptors.ts";
import { codecNames } from "../../src/codecs/index.ts";
import { ZSTD_KERNEL_LEVELS } from "../../src/codecs/kernels/wasm-zstd-encoder.ts";
import { makeCodec } from "../../src/codecs/registry.ts";
import { parseV3Codec } from "../../src/meta/v3/codec.ts";
import { root } from "../built-package.ts";
import { errorOf, RAW, specOf } from "../codecs/support.ts";
import { read } from "./code-block.ts";
import { codecTable } from "./codec-table.ts";

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
    const folder = join(root, "src/codecs/bytes-to-bytes");
    const isCodec = (name: string) =>
      existsSync(join(folder, name, "codec.ts")) && codecNamed(name) !== undefined;
    const names = readdirSync(folder).filter(isCodec);
    const callers = names.filter((name) =>
      readFileSync(join(folder, name, "codec.ts"), "utf8").includes('from "../../kernels/kernels.ts"'),
    );
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
