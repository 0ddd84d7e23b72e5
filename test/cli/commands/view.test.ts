// @module-tag slow
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { exitOf, startCli, testFolder } from "../../support/cli.ts";
import { runHere } from "../../support/cli-here.ts";
import { folderWithGroup, writeV2Array, writeV2Group } from "../../support/v2-store.ts";

/** `g.zarr` with an array of numbers, `empty.zarr` without arrays, `names.zarr` of text. */
async function samples(): Promise<string> {
  const cwd = await folderWithGroup();
  await writeV2Group(join(cwd, "empty.zarr"), {});
  await writeV2Array(join(cwd, "names.zarr"), { shape: [2], chunks: [2], dtype: "|O", items: ["a", "b"] });
  return cwd;
}

/** A port at which another program listens. */
async function busyPort(): Promise<number> {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  return (other.address() as AddressInfo).port;
}

describe("zarrflow view", () => {
  it("answers a person's mistakes", async () => {
    const cwd = await samples();
    const port = await busyPort();
    let transcript = "";
    for (const line of [
      "view",
      "view g.zarr --port BUSY",
      "view g.zarr --port 80800",
      "view g.zarr --port http",
      "view empty.zarr",
      "view names.zarr",
      "view g.zar",
    ]) {
      const { code, stdout, stderr } = await runHere(cwd, ...line.replace("BUSY", `${port}`).split(" "));
      transcript += `$ zarrflow ${line}\n${stdout}${stderr}[exit ${code}]\n\n`;
    }
    const approved = transcript.replaceAll(`${port}`, "BUSY").replaceAll(cwd, "DIR");
    await expect(approved).toMatchFileSnapshot("../approved/view.txt");
  });

  it("prints where it answers, and ends when it is interrupted", async () => {
    const child = startCli(await samples(), "view", "g.zarr", "--json");
    const ended = exitOf(child);
    const [line] = await once(child.stdout, "data");
    const { url } = JSON.parse(`${line}`);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{24}\/$/);
    const response = await fetch(`${url}tree`);
    expect(await response.json()).toMatchObject({ url: "g.zarr", nodes: [{ path: "" }, { path: "t" }] });
    child.kill("SIGINT");
    expect(await ended).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });

  it("shows no credentials of the URL", async () => {
    const cwd = await testFolder();
    const { stderr } = await runHere(cwd, "view", "https://user:secret@127.0.0.1:1/x.zarr");
    expect(stderr).not.toContain("secret");
  });
});
