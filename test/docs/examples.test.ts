import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../built-package.ts";
import { ModuleRunner } from "../support/module-runner.ts";
import { UserProject } from "./user-project.ts";

const files = readdirSync(join(root, "examples")).filter((name) => /^\d\d-.*\.ts$/.test(name));

/** What each example must print, line by line. */
const printed: Readonly<Record<string, readonly RegExp[]>> = {
  "01-copy-directory-to-zip.ts": [/^1 array, copy$/, /^36 keys, [1-9]\d* bytes, 36 read back$/],
  "02-rechunk-to-time-series.ts": [
    /^31 chunks read, 21 written$/,
    /^[1-9]\d* bytes in buffers at most, of 16000000$/,
    /^chunks of 744 x 11 x 7$/,
    /^t2m ([0-9a-f]{16})\nt2m \1$/,
  ],
  "03-stream-a-slice.ts": [
    /^chunk of 24 x 33 x 49 at 0, 0, 0$/,
    /^155232 bytes, 24 \* 33 \* 49 \* 4 = 155232$/,
    /^shape 8: (\d{3}\.\d\d ?){8}$/,
  ],
  "04-stages-by-hand.ts": [/^24 x 33 x 49: 283\.00$/, /^744 x 11 x 7: 9\.85$/],
  "05-custom-store.ts": [/^31 chunks over HTTP, 21 written to 744 x 33 x 49$/],
  "06-write-frames.ts": [/^315 x 64 of 25\d at most in the middle line$/, /^the last frame is at 12560 ms$/],
};

describe("examples", () => {
  let project: UserProject;
  let runner: ModuleRunner;
  beforeAll(() => {
    runner = new ModuleRunner();
    project = new UserProject();
    project.transpile(["make-input.ts", ...files].map((name) => `examples/${name}`));
  });
  afterAll(async () => {
    await runner.end();
    project?.remove();
  });

  test("each is listed here", () => {
    expect(files).toEqual(Object.keys(printed));
    expect(existsSync(join(project.folder, "examples/make-input.ts"))).toBe(true);
  });

  test.each(files)("%s", async (name) => {
    const lines = readFileSync(join(root, "examples", name), "utf8")
      .trimEnd()
      .split("\n");
    expect(lines.length).toBeLessThan(60);
    const cwd = join(project.folder, name.slice(0, 2));
    mkdirSync(cwd);
    const output = await runner.run(project.compiled(`examples/${name}`), cwd);
    for (const pattern of printed[name] ?? []) expect(output).toMatch(new RegExp(pattern.source, "m"));
    expect(readdirSync(cwd), "it left something in the working directory").toEqual([]);
  });
});
