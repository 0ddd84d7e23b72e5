import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  append,
  copy,
  deleteNode,
  pyramid,
  rechunk,
  renameNode,
  resizeArray,
  sliceTo,
} from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { hasPython, runPython } from "./python.ts";

const folder = temporaryFolder();

test.runIf(hasPython)(
  "netCDF-C opens what it wrote, whatever became of its grids",
  async () => {
    await runPython("nczarr_cases.py", "write", folder.path);
    const at = (name: string) => join(folder.path, name);
    const first = at("first");
    await sliceTo(first, at("slice"), { slice: { time: [0, 8, 2], y: [1, 3] } });
    await sliceTo(`${first}/t`, at("one"), { slice: { y: [1, 3] } });
    await copy(first, at("chosen"), { include: "t" });
    await copy(`${first}/g`, at("below"));
    await rechunk(first, at("rechunked"), { chunks: { y: 2 } });
    await pyramid(first, at("pyramid"), { levels: 2 });
    for (const name of ["appended", "resized", "edited"]) cpSync(first, at(name), { recursive: true });
    await append(at("more"), at("appended"), { dim: "time" });
    await resizeArray(`${at("resized")}/t`, [12, 2, 6]);
    await deleteNode(`${at("edited")}/time`);
    await renameNode(`${at("edited")}/t`, "g/u");
    const names = [
      "edited",
      "slice",
      "one",
      "chosen",
      "below",
      "rechunked",
      "pyramid",
      "appended",
      "resized",
    ];
    const sum = (n: number) => (n * (n - 1)) / 2;
    const all = { time: 8, y: 4, x: 6 };
    const ofFirst = { "/t": [[8, 4, 6], sum(192)], "/time": [[8], sum(8)], "/g/w": [[3, 4], 12] };
    expect(await runPython("nczarr_cases.py", "read", folder.path, ...names)).toMatchObject({
      edited: { "/": all, "/g/u": ofFirst["/t"], "/g/w": ofFirst["/g/w"] },
      slice: { "/": { time: 4, y: 2, x: 6 }, "/t": [[4, 2, 6], expect.anything()], "/g/w": [[3, 2], 6] },
      one: { "/": { time: 8, y: 2, x: 6 }, "/t": [[8, 2, 6], expect.anything()] },
      chosen: { "/": all, "/t": ofFirst["/t"] },
      below: { "/w": [[3, 4], 12] },
      rechunked: { "/": all, ...ofFirst },
      pyramid: {
        "/0": all,
        "/0/t": ofFirst["/t"],
        "/1": { time: 8, y: 2, x: 3 },
        "/1/t": [[8, 2, 3], sum(192) / 4],
      },
      appended: { "/": { ...all, time: 12 }, "/t": [[12, 4, 6], sum(288)], "/time": [[12], sum(12)] },
      resized: {
        "/": { ...all, time_12: 12, y_2: 2 },
        "/t": [[12, 2, 6], expect.anything()],
        "/time": ofFirst["/time"],
      },
    });
  },
  300_000,
);
