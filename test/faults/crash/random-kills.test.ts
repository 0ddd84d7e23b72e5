// @module-tag long
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { create } from "../../../src/hierarchy/create/create.ts";
import { isListable, type Store, type StoreSpec } from "../../../src/stores/store.ts";
import { openStore } from "../../../src/stores/url.ts";
import { command } from "../../built-package.ts";
import { BUCKET, type S3Server } from "../../stores/s3-server.ts";
import { exitOf } from "../../support/cli.ts";
import { serveReachableBucket } from "../../support/s3-environment.ts";
import { IS_LONG } from "./cases.ts";

/** Items of 4 bytes in a step of time, and steps. */
const STEP = [256, 1024] as const;
const STEPS = IS_LONG ? 1024 : 32;
/** Runs of each case that are killed, each up to five times, before one is left to end. */
const KILLED_RUNS = Number(process.env.ZARRFLOW_KILLS ?? (IS_LONG ? 12 : 1));
const KILLS_OF_A_RUN = 5;
const MEMORY = IS_LONG ? "128MB" : "32MB";

let folder = "";
let source = "";
let bucket: S3Server;
const counts = { kills: 0, resumed: 0, wrong: 0 };
/** What a kill at 95 % of a run cost, of the time of a run. */
const costs: number[] = [];

beforeAll(async () => {
  bucket = await serveReachableBucket();
  folder = await mkdtemp(join(process.env.ZARRFLOW_CRASH_FOLDER ?? tmpdir(), "zarrflow-kills-"));
  source = join(folder, "source.zarr");
  const array = await create(source, {
    shape: [STEPS, ...STEP],
    chunks: [1, ...STEP],
    dataType: "float32",
    zarrFormat: "v2",
    codec: "blosc:lz4:1",
  });
  const items = STEP[0] * STEP[1];
  for (let step = 0; step < STEPS; step++) {
    await array.write(
      [step],
      Float32Array.from({ length: items }, (_, i) => Math.fround(Math.sin(i / 50) + step)),
    );
  }
  await array.close();
}, 600_000);

afterAll(async () => {
  await bucket.close();
  await rm(folder, { recursive: true, force: true });
  const median = costs.sort((a, b) => a - b)[costs.length >> 1] ?? 0;
  console.log(
    `${counts.kills} kills, ${counts.resumed} runs resumed, ${counts.wrong} wrong; a kill at 95 % cost ${(100 * median).toFixed(1)} % of a run`,
  );
});

const CASES = {
  "rechunk, direct": ["rechunk", "--chunks", `${STEPS},16,64`, "--strategy", "direct"],
  "rechunk, staged": ["rechunk", "--chunks", `${STEPS},16,64`, "--strategy", "staged"],
  "copy with another codec": ["copy", "--codec", "zstd:1"],
  convert: ["convert", "--to", "v3", "--codec", "zstd:1"],
  slice: ["slice", "--slice", `1:${STEPS},0:${STEP[0] - 16}`],
} as const;

/** Runs the command, which is killed after so many milliseconds; its exit code. */
async function run(
  args: readonly string[],
  killAfter?: number,
): Promise<{ readonly code: number | null; readonly ms: number }> {
  const began = performance.now();
  const child = spawn(process.execPath, [command, ...args], { stdio: ["ignore", "ignore", "inherit"] });
  const exit = exitOf(child);
  if (killAfter !== undefined) {
    await Promise.race([sleep(killAfter), exit]);
    if (child.exitCode === null) counts.kills++;
    child.kill("SIGKILL");
  }
  return { code: await exit, ms: performance.now() - began };
}

/** Where targets are, and what is there of them. */
interface Place {
  readonly target: string;
  /** Whether readers find it. */
  isThere(): boolean;
  values(): Promise<ReadonlyMap<string, string>>;
  /** What runs left beside it. */
  left(): readonly string[];
  remove(): Promise<void>;
}

type PlaceIn = (name: string) => Place;

const PLACES: Readonly<Record<string, PlaceIn>> = {
  "a folder": (name) => filePlace(join(folder, name, "out.zarr")),
  "a zip file": (name) => filePlace(join(folder, name, "out.zarr.zip")),
  S3: bucketPlace,
  "a zip in S3": zipInBucket,
};

function filePlace(target: string): Place {
  return {
    target,
    isThere: () => existsSync(target),
    values: async () =>
      target.endsWith(".zip") ? valuesIn({ kind: "zip", path: target }) : filesBelow(target),
    left: () => readdirSync(dirname(target)).filter((found) => found !== basename(target)),
    remove: () => rm(dirname(target), { recursive: true, force: true }),
  };
}

function bucketPlace(name: string): Place {
  const prefix = `${name}/out.zarr/`;
  const keys = () => [...bucket.objects.keys()].filter((key) => key.startsWith(prefix));
  return {
    target: `s3://${BUCKET}/${name}/out.zarr`,
    isThere: () => [".zarray", "zarr.json"].some((document) => bucket.objects.has(prefix + document)),
    values: async () =>
      new Map(
        keys().map((key) => [key.slice(prefix.length), `${bucket.objects.get(key)?.toString("latin1")}`]),
      ),
    left: () => [...keys().filter((key) => key.includes(".zarrflow")), ...bucket.uploads.keys()],
    async remove() {
      for (const key of keys()) bucket.objects.delete(key);
    },
  };
}

function zipInBucket(name: string): Place {
  const key = `${name}/out.zarr.zip`;
  const target = `s3://${BUCKET}/${key}`;
  return {
    target,
    isThere: () => bucket.objects.has(key),
    async values() {
      const path = join(folder, "fetched.zip");
      await writeFile(path, bucket.objects.get(key) ?? "");
      return valuesIn({ kind: "zip", path });
    },
    left: () => [...bucket.objects.keys()].filter((found) => found.startsWith(`${name}/`) && found !== key),
    async remove() {
      // an upload of a run that was killed before it could note that upload is taken for another program's for a day
      await run(["clean", target, "--break-lock"]);
      expect([...bucket.uploads.keys()]).toEqual([]);
      bucket.objects.delete(key);
    },
  };
}

async function valuesIn(spec: StoreSpec): Promise<Map<string, string>> {
  const store: Store = await openStore(spec);
  if (!isListable(store)) throw new Error("a zip lists its keys");
  const values = new Map<string, string>();
  for await (const { key } of store.list("")) {
    values.set(key, Buffer.from((await store.get(key)) ?? []).toString("latin1"));
  }
  await store.close?.();
  return values;
}

function filesBelow(path: string): Map<string, string> {
  const names = readdirSync(path, { recursive: true, encoding: "utf8" }).sort();
  const files = names.filter((name) => statSync(join(path, name)).isFile());
  return new Map(files.map((name) => [name, readFileSync(join(path, name), "latin1")]));
}

/** The keys whose values differ, or that one of two has alone. */
function differences(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): string[] {
  return [...new Set([...a.keys(), ...b.keys()])].filter((key) => a.get(key) !== b.get(key));
}

describe.each(Object.entries(CASES).map((one, n) => [...one, n] as const))("%s", (_name, words, n) => {
  const [operation, ...options] = words;
  // each flow to two of the places, each place of two flows or more, in the short form
  it.each(Object.entries(PLACES).filter((_, m) => IS_LONG || (m + n) % 2 === 0))(
    "to %s, killed at random moments, ends as an undisturbed run",
    async (_place, placeIn) => {
      const scratch = join(folder, "scratch");
      const argsTo = (target: string) => [
        ...[operation, source, target, ...options, "--max-mem", MEMORY, "--quiet"],
        ...(operation === "rechunk" ? ["--scratch", scratch] : []),
      ];
      const undisturbed = placeIn("undisturbed");
      const whole = await run(argsTo(undisturbed.target));
      expect(whole.code).toBe(0);
      const expected = await undisturbed.values();
      const killed = placeIn("killed");
      const args = [...argsTo(killed.target), "--resume"];
      const wrong: string[] = [];
      for (let number = 0; number < KILLED_RUNS; number++) {
        const isLate = number % 2 === 1;
        const kills = isLate ? 1 : 1 + Math.floor(Math.random() * KILLS_OF_A_RUN);
        let spent = 0;
        for (let kill = 0; kill < kills && !killed.isThere(); kill++) {
          spent += (await run(args, (isLate ? 0.95 : Math.random()) * whole.ms)).ms;
        }
        if (!killed.isThere()) {
          counts.resumed++;
          const last = await run(args);
          if (last.code !== 0) wrong.push(`resumed: exit code ${last.code}`);
          else if (isLate) costs.push((spent + last.ms) / whole.ms - 1);
        } else await run(["clean", killed.target]); // its control folder or lock is left where it was killed after publication
        if (killed.isThere()) wrong.push(...differences(await killed.values(), expected));
        wrong.push(...killed.left(), ...(existsSync(scratch) ? readdirSync(scratch) : []));
        await killed.remove();
      }
      counts.wrong += wrong.length;
      expect(wrong).toEqual([]);
      await undisturbed.remove();
    },
    3_600_000,
  );
});
