// @module-tag slow
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { loadCommands } from "../../src/cli/command-list.ts";

const PAGE = new URL("../../dist/zarrflow.1.gz", import.meta.url).pathname;
const manual = spawnSync("man", ["--version"]).status === 0 ? it : it.skip;

describe("the manual page", () => {
  it("is named in package.json, and has every command, flag and example of the help", async () => {
    const { man } = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
    expect(man).toBe("./dist/zarrflow.1.gz");
    const page = String(gunzipSync(await readFile(PAGE)))
      .replaceAll("\\-", "-")
      .replaceAll("\\e", "\\");
    for (const [name, { summary, options, examples }] of await loadCommands()) {
      expect(page).toContain(`.SS ${name}\n${summary}.\n`);
      const [own = ""] = page.slice(page.indexOf(`.SS ${name}\n`)).split("\n.S", 1);
      const text = `${own}\n`;
      for (const flag of Object.keys(options)) expect(own).toMatch(new RegExp(`--${flag}\\b`));
      for (const { line } of examples) expect(text).toContain(`.B zarrflow ${line}\n`);
    }
  });

  manual("is read by man without a warning", () => {
    const { stdout, stderr, status } = spawnSync("man", ["--warnings", "-E", "UTF-8", "-l", PAGE], {
      encoding: "utf8",
      env: { ...process.env, MANWIDTH: "90", LC_ALL: "C.UTF-8" },
    });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toContain("FLAGS OF SEVERAL COMMANDS");
    expect(stdout).toContain("--v2-separator");
  });
});
