// @module-tag slow
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { dist, requireBuild } from "../built-package.ts";

const LONG = 2000;

it("an uncaught error prints a page at most, with the line and the functions in which it was thrown", async () => {
  requireBuild();
  const program = `import { open } from ${JSON.stringify(pathToFileURL(join(dist, "index.js")).href)};
    await open("/no/such/place.zarr");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const printed = await text(child.stderr);
  expect(printed).toContain("ZarrflowError");
  expect(printed).toMatch(/at (?:async )?\w{4,} \(file:.*dist\/.*:\d+:\d+\)/);
  expect(printed.length).toBeLessThan(4000);
  expect(printed.split("\n").length).toBeLessThan(50);
});

it("scripts have lines, but for programs that they embed in Base64, and for lists of names", () => {
  requireBuild();
  const scripts = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".js"),
  );
  const long = scripts.flatMap((name) =>
    readFileSync(join(dist, name), "utf8")
      .split("\n")
      .filter((line) => line.length > LONG && !/^(?:ex|im)port |["'`][\w+/=]{1000}/.test(line))
      .map((line) => `${name}: ${line.slice(0, 60)}`),
  );
  expect(long).toEqual([]);
});
