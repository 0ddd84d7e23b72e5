// @module-tag slow
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGroup } from "../../src/index.ts";
import { hasProgram } from "../support/programs.ts";
import { read } from "./code-block.ts";
import { UserProject } from "./user-project.ts";

const [PLANES, SIDE] = [8, 512];

describe.runIf(hasProgram("ffmpeg"))("the line of docs/guides/slices.md that makes a film", () => {
  let project: UserProject;
  beforeAll(() => {
    project = new UserProject();
  });
  afterAll(() => project?.remove());

  /** A bright square on a dark ground, a step further in each plane. */
  function itemAt(z: number, y: number, x: number): number {
    const isInside = Math.abs(x - 64 - 48 * z) < 32 && Math.abs(y - 256) < 32;
    return isInside ? 200 : 40;
  }

  test("shows each plane, as far as a film can", async () => {
    const image = await createGroup(join(project.folder, "cells.zarr"));
    const level = await image.create("0", {
      shape: [2, PLANES, SIDE, SIDE],
      chunks: [1, 1, 256, 256],
      dataType: "uint8",
      dimensionNames: ["c", "z", "y", "x"],
    });
    const items = Uint8Array.from({ length: PLANES * SIDE * SIDE }, (_, i) =>
      itemAt(Math.floor(i / (SIDE * SIDE)), Math.floor(i / SIDE) % SIDE, i % SIDE),
    );
    await level.write([0], items);
    await level.close();
    await image.close();
    const [line = ""] = /^zarrflow .*\| ffmpeg .*$/m.exec(read("docs/guides/slices.md")) ?? [];
    await project.shell(line, project.folder);
    const back = ["-loglevel", "error", "-i", "cells.mp4", "-f", "rawvideo", "-pix_fmt", "gray", "-"];
    const film = execFileSync("ffmpeg", back, { cwd: project.folder, maxBuffer: 2 ** 26 });
    expect(film).toHaveLength(items.length);
    const error = items.reduce((sum, item, i) => sum + Math.abs(item - (film[i] ?? 0)), 0) / items.length;
    expect(error).toBeLessThan(2);
    for (let z = 0; z < PLANES; z++) {
      expect(film[(z * SIDE + 256) * SIDE + 64 + 48 * z]).toBeGreaterThan(180);
    }
  });
});
