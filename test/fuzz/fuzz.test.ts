// @module-tag long
import { describe, expect, test } from "vitest";
import { corrupt } from "../../src/codecs/failures.ts";
import { codecNames } from "../../src/codecs/registry.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
import { documentSubjects } from "./document-subjects.ts";
import { type FuzzOptions, fuzz } from "./fuzz.ts";
import { planSubjects } from "./plan-subjects.ts";
import { runSubjects } from "./run-subjects.ts";
import { Fault, type Seed, type Subject } from "./subject.ts";
import { subjects } from "./subjects.ts";

const FRAMES = 1000;
/** Of what is no chunk, and of shards, whose indexes say where chunks are. */
const MORE_FRAMES = 20_000;
const MORE_FRAMES_OF = new Set([
  "sharding_indexed",
  ...[...documentSubjects(), ...runSubjects(), ...planSubjects()].map(({ name }) => name),
]);

test("no codec of the registry is left out", () => {
  const covered = new Set(subjects().map(({ name }) => name.split(" ")[0]));
  expect(codecNames().filter((name) => !covered.has(name))).toEqual([]);
});

// The same frames every time; `npm run fuzz` reads other ones, and many more.
test.each(subjects())(
  "$name reads changed frames as it may",
  async (subject) => {
    const wanted = MORE_FRAMES_OF.has(subject.name) ? MORE_FRAMES : FRAMES;
    const { finding, frames } = await fuzz(subject, { seed: 1, frames: wanted, frameTime: 5000 });
    expect(finding).toBeUndefined();
    expect(frames).toBe(wanted);
  },
  600_000,
);

describe("what decoders must not do is found", () => {
  const frame = Uint8Array.from({ length: 40 }, (_, i) => i);
  const copy: Seed["decode"] = (source, target) => {
    if (source.length > target.length) throw corrupt("too long");
    target.set(source);
    return source.length;
  };
  const readBy = async (decode: Seed["decode"], options: Partial<FuzzOptions> = {}) => {
    const isSeed = (source: Uint8Array) => Buffer.compare(source, frame) === 0;
    const subject: Subject = {
      name: "planted",
      codes: ["corrupt-chunk"],
      seeds: async () => [
        { frame, size: 40, decode: (source, target) => (isSeed(source) ? copy : decode)(source, target) },
      ],
    };
    return (await fuzz(subject, { seed: 1, frames: 300, ...options })).finding;
  };
  const around = (view: Uint8Array) => new Uint8Array(view.buffer);

  test("nothing, where there is nothing", async () => {
    expect(await readBy(copy)).toBeUndefined();
    expect(await readBy(async (source, target) => copy(source, target))).toBeUndefined();
  });

  const faults: readonly (readonly [string, Seed["decode"], RegExp])[] = [
    [
      "an error of another kind",
      () => {
        throw new TypeError("not ours");
      },
      /TypeError: not ours/,
    ],
    [
      "an error with a code that is for others",
      () => {
        throw new ZarrflowError("not-found", "nothing here");
      },
      /not-found/,
    ],
    [
      "a rejection",
      async () => {
        throw new Fault("the result is wrong");
      },
      /the result is wrong/,
    ],
    ["more bytes than there is room for", (_, target) => target.length + 1, /are said to be in a target/],
    ["no number of bytes", () => Number.NaN, /are said to be in a target/],
    [
      "a write to the source",
      (source, target) => {
        source.fill(1);
        return copy(source.subarray(0, target.length), target);
      },
      /the source was changed/,
    ],
    [
      "a write before the target",
      (_, target) => {
        around(target).fill(1, target.byteOffset - 1, target.byteOffset);
        return 0;
      },
      /beside the target/,
    ],
    [
      "a write behind the source",
      (source) => {
        const end = source.byteOffset + source.length;
        around(source).fill(1, end + 63, end + 64);
        return 0;
      },
      /beside the source/,
    ],
    [
      "a read behind the source",
      (source, target) => {
        target.fill(around(source)[source.byteOffset + source.length] ?? 0);
        return target.length;
      },
      /something else amid other bytes/,
    ],
  ];
  test.each(faults)("%s", async (_, decode, reason) => {
    const finding = await readBy(decode);
    expect(finding?.reason).toMatch(reason);
    // The one frame by its number does it again.
    const first = finding?.number ?? -1;
    const again = await readBy(decode, { first, frames: 1 });
    expect(again).toMatchObject({ number: first, reason: finding?.reason });
    expect(again?.frame).toEqual(finding?.frame);
  });

  test("a loop without an end", async () => {
    const loop = () => {
      for (;;);
    };
    expect((await readBy(loop, { batchTime: 200 }))?.reason).toMatch(/no end/);
  });

  test("a frame that takes too long", async () => {
    const slow: Seed["decode"] = (source, target) => {
      for (const end = performance.now() + 20; performance.now() < end; );
      return copy(source.subarray(0, target.length), target);
    };
    expect((await readBy(slow, { frameTime: 10 }))?.reason).toMatch(/more than 10/);
  });

  test("memory that is kept", async () => {
    const kept: Uint8Array[] = [];
    const keep: Seed["decode"] = (source, target) => {
      kept.push(new Uint8Array(300_000).fill(1));
      return copy(source.subarray(0, target.length), target);
    };
    expect((await readBy(keep))?.reason).toMatch(/more are held/);
    expect(kept.length).toBeGreaterThan(0);
  });
});
