// @module-tag alone
import "../faults/crash/mocked-calls.ts";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Case, casesAt, IS_LONG, type PlaceName } from "../faults/crash/cases.ts";
import { Cut, type CutKind } from "../faults/crash/cut.ts";
import { Readings } from "../faults/crash/expectation.ts";
import { bucketPlace, type Contents, filePlace, type SeenPlace } from "../faults/crash/places.ts";
import { before, type Run, runOnce, source } from "../faults/crash/runs.ts";
import { States } from "../faults/crash/states.ts";
import type { S3Server } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";
import { hasPython, runPython } from "./python.ts";

/** All paths at which these runs leave an array. */
const PATHS = ["a", "b", "c"];
const cases = casesAt("directory", "zip", "s3");
const formats = ["v2", "v3"] as const;

/** What may be read of each array, and the states that were seen, by each of which all must hold. */
interface Seen {
  readonly allowed: ReadonlyMap<string, ReadonlySet<string>>;
  readonly states: ReadonlySet<string>;
  /** What a whole run leaves. */
  readonly last: string;
}

/** What was read from each state, in each way, of each array. */
type PythonReadings = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>;

describe.runIf(hasPython)("a run that is cut anywhere, with zarr-python reading what is left", () => {
  const folder = temporaryFolder();
  const states = new States();
  const seen = new Map<string, Seen>();
  const ours = new Readings();
  const counts = { cuts: 0, readings: 0, unreadable: 0, wrong: 0 };
  let server: S3Server;
  let readings: PythonReadings = {};
  let withoutChunk: Seen;

  const places: Readonly<Record<Exclude<PlaceName, "object">, () => SeenPlace>> = {
    directory: () => filePlace(join(folder.path, "zarrflow-d"), "h.zarr"),
    zip: () => filePlace(join(folder.path, "zarrflow-z"), "h.zip"),
    s3: () => bucketPlace(server),
  };

  beforeAll(async () => {
    server = await serveReachableBucket();
    for (const one of cases) {
      const place = places[one.place as keyof typeof places]();
      for (const zarrFormat of formats)
        seen.set(titleOf(one, zarrFormat), await see(place, { ...one, zarrFormat }));
    }
    const [one] = seen.values() as Iterable<Seen> as [Seen];
    withoutChunk = {
      ...one,
      states: new Set([states.add(oneChunkLess(states.get(one.last)))]),
    };
    const written = join(folder.path, "states");
    await mkdir(written);
    await states.write(written);
    readings = (await runPython("read_states.py", written, ...PATHS)) as PythonReadings;
  }, 3_600_000);
  afterAll(async () => {
    await server.close();
    console.log(
      `${counts.cuts} cuts left ${states.size} states, from which zarr-python took ${counts.readings} readings: ` +
        `${counts.unreadable} unreadable, ${counts.wrong} wrong`,
    );
  });

  /** All states in which a kill leaves a target: those before each call. In the long form what other ends leave as well. */
  async function see(place: SeenPlace, run: Run): Promise<Seen> {
    const [old, from] = [await before(run), await source(run)];
    const names = new Set<string>();
    const look = () => names.add(states.add(place.contents()));
    const calls = async (cut: Cut) => {
      counts.cuts++;
      await place.reset(old);
      const { targetAt } = place;
      const scratch = join(folder.path, "zarrflow-scratch");
      await place.during(cut, () => runOnce(run, { from, targetAt, signal: cut.signal, scratch }));
    };

    await place.reset(old);
    const first = (await ours.at(place)).own;
    const killed = new Cut(undefined, 0, look);
    await calls(killed);
    counts.cuts += killed.calls - 1;
    const lastState = states.add(place.contents());
    names.add(lastState);
    const last = (await ours.at(place)).own;
    for (const kind of IS_LONG ? (["fail", "abort"] satisfies CutKind[]) : []) {
      for (let at = 0; at < killed.calls; at++) {
        await calls(new Cut(kind, at)).catch(() => {});
        look();
      }
    }
    const allowed = PATHS.map((path): [string, Set<string>] => [
      path,
      new Set([first, last].flatMap((values) => values.get(path) ?? [])),
    ]);
    return { allowed: new Map(allowed), states: names, last: lastState };
  }

  /** All that is read of what was seen, and what differs from what may be read. */
  function judge({ allowed, states }: Seen): {
    readonly texts: readonly string[];
    readonly wrong: readonly string[];
  } {
    const [texts, wrong]: [string[], string[]] = [[], []];
    for (const state of states) {
      for (const [way, arrays] of Object.entries(readings[state] ?? {})) {
        for (const [path, text] of Object.entries(arrays)) {
          texts.push(text);
          if (!isUnreadable(text) && !allowed.get(path)?.has(text))
            wrong.push(`${way} of ${path} in ${state}: ${text}`);
        }
      }
    }
    return { texts, wrong };
  }

  test.each(cases.flatMap((one) => formats.map((zarrFormat) => titleOf(one, zarrFormat))))(
    "%s shows it no wrong value",
    (title) => {
      const one = seen.get(title) as Seen;
      expect(Object.keys(readings)).toEqual(expect.arrayContaining([...one.states]));
      const { texts, wrong } = judge(one);
      counts.readings += texts.length;
      counts.unreadable += texts.filter(isUnreadable).length;
      counts.wrong += wrong.length;
      expect(wrong).toEqual([]);
    },
  );

  test("a state in which a chunk is missing is wrong by every way to open it", () => {
    expect(judge(withoutChunk).wrong).toHaveLength(4);
  });

  test("every way to open it reads the arrays that are there", () => {
    const ways = ["alone", "use_consolidated=True", "use_consolidated=False", "use_consolidated=None"];
    for (const one of seen.values()) {
      const last = readings[one.last] ?? {};
      expect(Object.keys(last)).toEqual(ways);
      for (const way of ways) expect(Object.keys(last[way] ?? {}).length).toBeGreaterThan(0);
    }
  });
});

function titleOf({ operation, place, mode }: Case, zarrFormat: string): string {
  return `a ${operation} of ${zarrFormat} into a ${place} (${mode})`;
}

function isUnreadable(text: string): boolean {
  return text.startsWith("unreadable: ");
}

/** What a hierarchy holds but one of its chunks. */
function oneChunkLess(contents: Contents): Contents {
  const chunk = [...contents.keys()].find((key) => /\/[\d.]+$/.test(key));
  return new Map([...contents].filter(([key]) => key !== chunk));
}
