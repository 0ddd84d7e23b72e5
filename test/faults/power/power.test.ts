// @module-tag long
// @module-tag alone
import "./recorded-calls.ts";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copy, type RunReport, rechunk } from "../../../src/index.ts";
import { digestOf } from "../../support/consume.ts";
import { ofEarlierStart } from "../../support/edit-ledger.ts";
import { given } from "../../support/given.ts";
import { Disk, type Left, type Loss, restore } from "./disk.ts";
import { watched } from "./watched-disk.ts";

const SHAPE = [16, 24] as const;
const SERIAL = { threads: 1, concurrency: 1 } as const;

let folder = "";
let source = "";
let expected = "";
const counts = { cuts: 0, published: 0, resumed: 0, wrong: 0 };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "zarrflow-power-"));
  source = join(folder, "source.zarr");
  const grid = { shape: SHAPE, chunks: [2, 24], dataType: "int32", codec: "none" };
  await given({ at: source, ...grid, zarrFormat: "v2", values: (i) => (i * 2654435761) % 1000 });
  expected = await digestOf(source);
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  console.log(
    `${counts.cuts} losses of power, ${counts.published} after the publication; ${counts.resumed} tasks resumed, ${counts.wrong} wrong`,
  );
});

type Options = { readonly fsync: boolean; readonly resume?: boolean; readonly breakLock?: boolean };

const FLOWS: Readonly<Record<string, (target: string, options: Options) => Promise<RunReport>>> = {
  copy: (target, options) => copy(source, target, { codec: "zstd:1", ...SERIAL, ...options }),
  "rechunk, direct": (target, options) =>
    rechunk(source, target, { chunks: [8, 4], maxMemory: "48kB", strategy: "direct", ...SERIAL, ...options }),
  "rechunk, staged": (target, options) =>
    rechunk(source, target, {
      chunks: [16, 4],
      maxMemory: "48kB",
      strategy: "staged",
      scratch: join(folder, "scratch"),
      ...SERIAL,
      ...options,
    }),
};

const LOSSES: readonly Loss[] = ["all that was not synced", "contents that were not synced"];

/** Says in the ledgers below a folder that the machine has been started anew since. */
function restartMachine(place: string): void {
  for (const name of readdirSync(place, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith("ledger.jsonl")) continue;
    const path = join(place, name);
    writeFileSync(path, ofEarlierStart(readFileSync(path, "utf8")));
  }
}

describe.runIf(process.platform === "linux").each(Object.entries(FLOWS))("a %s", (_flow, run) => {
  describe.each(["out.zarr", "out.zarr.zip"])("to %s", (name) => {
    test.each(
      LOSSES.flatMap((loss) => [
        ["with fsync", loss, true] as const,
        ["without fsync", loss, false] as const,
      ]),
    )(
      "%s, when the power is lost and with it %s, is whole or is resumed to the right result",
      async (_how, loss, fsync) => {
        const place = join(folder, "place");
        const target = join(place, name);
        await rm(place, { recursive: true, force: true });
        await mkdir(place);
        const states = new Map<string, Left>();
        const disk = new Disk(place);
        let last = "";
        const note = () => {
          const left = disk.left(loss);
          last = nameOfState(left);
          states.set(last, left);
        };
        Object.assign(watched, { disk, onChange: note });
        try {
          await run(target, { fsync });
        } finally {
          watched.disk = undefined;
        }
        expect(await digestOf(target)).toBe(expected);
        let resumed = 0;
        for (const [state, left] of states) {
          counts.cuts++;
          restore(place, left);
          restartMachine(place);
          if (existsSync(target)) {
            // without a sync what was published may be lost: that is what --fsync is for
            if (fsync) {
              counts.published++;
              expect(await digestOf(target)).toBe(expected);
            }
            continue;
          }
          if (fsync) expect(state).not.toBe(last);
          const { tasksResumed = 0 } = await run(target, { fsync, resume: true, breakLock: true });
          counts.resumed += tasksResumed;
          resumed += tasksResumed;
          expect(await digestOf(target)).toBe(expected);
        }
        expect(states.size).toBeGreaterThan(fsync ? 5 : 0);
        if (fsync) expect(resumed).toBeGreaterThan(0);
      },
      120_000,
    );
  });
});

function nameOfState(left: Left): string {
  return [...left]
    .map(([path, bytes]) => `${path} ${bytes && Buffer.from(bytes).toString("base64")}`)
    .join("\n");
}
