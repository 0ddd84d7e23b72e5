import { parsePlan } from "../../src/flows/jobs/parse-plan.ts";
import {
  checksumOf,
  type PlanFile,
  planFileOf,
  type WrittenPlanFile,
} from "../../src/flows/jobs/plan-file.ts";
import { tasksOf } from "../../src/flows/jobs/run-share.ts";
import { type PlannedFlow, planFlow } from "../../src/flows/request/flow.ts";
import { itemsOf, taskAt } from "../../src/plan/task.ts";
import { isKey } from "../../src/stores/key.ts";
import type { StoreSpec } from "../../src/stores/store.ts";
import { crc32 } from "../../src/util/crc32.ts";
import { type ErrorCode, isZarrflowError } from "../../src/util/errors.ts";
import { makeArray } from "../support/made-array.ts";
import { Fault, type Seed, type Subject } from "./subject.ts";

/** Plans in files, as anybody may have changed them. */
export function planSubjects(): readonly Subject[] {
  return [{ name: "plan file", codes: CODES, seeds }];
}

const CODES: readonly ErrorCode[] = ["plan-mismatch", "resource-limit"];

async function seeds(): Promise<readonly Seed[]> {
  const recipe = { shape: [40, 30], chunks: [1, 30], order: "C", itemSize: 4, missing: 0, seed: 1 } as const;
  const { store } = await makeArray(recipe, "group/t2m");
  await store.set("group/.zgroup", new TextEncoder().encode('{"zarr_format":2}'));
  const group = { store, path: "group" };
  const budget = { maxMemory: 100_000, threads: 1 };
  const staged = { chunks: [40, 3], strategy: "staged", scratch: "/data/scratch" } as const;
  const plans = [
    planFlow({ store, path: "group/t2m" }, "/data/out.zarr", { ...budget, chunks: [40, 3] }),
    planFlow({ store, path: "group/t2m" }, "/data/out.zarr/part", { ...budget, ...staged }),
    planFlow(group, "/data/new.zarr", { ...budget, to: "v3" }),
  ];
  return Promise.all(plans.map(async (plan) => seedOf(await textOf(await plan))));
}

/** The text of a plan whose source is taken to be a folder. */
async function textOf(planned: PlannedFlow): Promise<string> {
  const store: StoreSpec = { kind: "directory", path: "/data/src.zarr" };
  const plan = { ...planned.plan, source: { ...planned.plan.source, store } };
  const encoders = { zarrflow: "1", zlib: "1" };
  await planned.close();
  return JSON.stringify(planFileOf({ ...planned, plan }, { encoders }));
}

function seedOf(text: string): Seed {
  const frame = new TextEncoder().encode(JSON.stringify(JSON.parse(text)));
  const decoder = new TextDecoder();
  return {
    frame,
    size: 0,
    decode(source) {
      // what was changed gets the checksum of what it says now: whoever edits a plan can make one
      const isWhole = Buffer.compare(source, frame) === 0;
      if (!isWhole) accept(editedBy(text, crc32(source)));
      accept(withChecksum(decoder.decode(source)));
      return 0;
    },
  };
}

/** Reads a plan, which may be refused; what is accepted must be harmless. */
function accept(text: string): void {
  let file: PlanFile;
  try {
    file = parsePlan(text);
  } catch (error) {
    if (isZarrflowError(error) && CODES.includes(error.code)) return;
    throw error;
  }
  assertHarmless(file);
}

const HOSTILE: readonly unknown[] = [
  ...[-1, 0, 1, 0.5, 2 ** 31, 2 ** 53, 1e300, true, null, [], {}, [1e9, 1e9], [0, 0], [-1, 4], [[1], [2]]],
  ...["", "..", "../x", "a/../../b", "/etc/passwd", "a\\b", "a\0b", "__proto__", "constructor", "\ud800"],
  { kind: "memory", name: "x" },
  { kind: "http", url: "http://user:secret@host/" },
  { kind: "s3", bucket: "b", prefix: "../x" },
];

/** A plan of which one to three values were changed, as a number says. */
function editedBy(text: string, seed: number): string {
  const random = randomNumbers(seed);
  const file: unknown = JSON.parse(text);
  for (let changes = 1 + random(3); changes > 0; changes--) {
    const places = [...placesIn(file)];
    const place = places[random(places.length)];
    const other = places[random(places.length)];
    if (place === undefined || other === undefined) continue;
    const value = random(3) === 0 ? other.holder[other.name] : HOSTILE[random(HOSTILE.length)];
    if (random(10) === 0) delete place.holder[place.name];
    else place.holder[place.name] = structuredClone(value);
  }
  return withChecksum(JSON.stringify(file));
}

interface Place {
  readonly holder: Record<string, unknown>;
  readonly name: string;
}

function* placesIn(value: unknown): Generator<Place> {
  if (typeof value !== "object" || value === null) return;
  const holder = value as Record<string, unknown>;
  for (const name of Object.keys(holder)) {
    yield { holder, name };
    yield* placesIn(holder[name]);
  }
}

/** Whole numbers below a bound, always the same ones. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed | 1;
  return (below) => {
    state = Math.imul(state, 0x9e3779b1) ^ (state >>> 15);
    return (state >>> 3) % below;
  };
}

function withChecksum(text: string): string {
  try {
    const { checksum: _, ...file } = JSON.parse(text) as WrittenPlanFile & { readonly checksum: string };
    return JSON.stringify({ ...file, checksum: checksumOf(file as WrittenPlanFile) });
  } catch {
    return text;
  }
}

/** Holds that nothing of a plan that was accepted leads outside, and that its tasks are there. */
function assertHarmless({ id, plan }: PlanFile): void {
  const { source, target, scratch, jobs, publication, stages } = plan;
  const keys = publication.documents.flatMap((one) => ("from" in one ? [one.key, one.from] : [one.key]));
  const paths = [source.path, target.path, ...jobs.flatMap(({ path, targetPath }) => [path, targetPath])];
  if (![...keys, ...paths].every((path) => path === "" || isKey(path)))
    throw new Fault("a path leads outside");
  for (const spec of [source.store, target.store, ...(scratch ? [scratch] : [])]) {
    if ("path" in spec && (!spec.path.startsWith("/") || /(?:^|\/)\.\.(?:\/|$)/.test(spec.path))) {
      throw new Fault("a folder depends on where a process runs");
    }
  }
  if (!/^[\da-f-]{36}$/.test(id)) throw new Fault("the run has a name that is no name");
  for (const [stage, tasks] of stages.entries()) {
    for (const index of tasks === 0 ? [] : [0, tasks - 1]) {
      const { shape } = itemsOf(taskAt(plan, stage, index));
      if (!shape.every((length) => length >= 0)) throw new Fault("a task has less than no items");
    }
    const { end } = tasksOf(plan, { stage, index: 6, count: 7 });
    if (end !== tasks) throw new Fault("shares are not all tasks");
  }
}
