// @module-tag long
import { describe, expect, test } from "vitest";
import type { ArrayToBytesCodec, CodecContext } from "../../src/codecs/codec.ts";
import { lz4Decode } from "../../src/codecs/kernels/lz4-block.ts";
import { corrupt } from "../../src/codecs/limits.ts";
import { codecNames, makeCodec } from "../../src/codecs/registry.ts";
import { decodeBytes } from "../../src/codecs/standalone.ts";
import { plainBuffers } from "../../src/util/bytes.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
import { errorOf, specOf } from "../codecs/support.ts";
import { fuzzCommand } from "./command.ts";
import { documentSubjects } from "./document-subjects.ts";
import { FrameMutator } from "./frame-mutator.ts";
import { type FuzzOptions, fuzz } from "./fuzz.ts";
import { planSubjects } from "./plan-subjects.ts";
import { Random } from "./random.ts";
import { runSubjects } from "./run-subjects.ts";
import { Fault, type Seed, type Subject } from "./subject.ts";
import { subjects } from "./subjects.ts";
import { WasmArena } from "./wasm-arena.ts";

const FRAMES = 1000;
/** Of what is no chunk, and of shards, whose indexes say where chunks are. */
const MORE_FRAMES = 20_000;
const OTHERS = [...documentSubjects(), ...runSubjects(), ...planSubjects()];
const MORE_FRAMES_OF = new Set(["sharding_indexed", ...OTHERS.map(({ name }) => name)]);

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

const bytes = (length: number) => Uint8Array.from({ length }, (_, i) => i);
const raised = (error: Error) => () => {
  throw error;
};

describe("what decoders must not do is found", () => {
  const frame = bytes(40);
  const copy: Seed["decode"] = (source, target) => {
    if (source.length > target.length) throw corrupt("too long");
    target.set(source);
    return source.length;
  };
  const readBy = async (decode: Seed["decode"], options: Partial<FuzzOptions> = {}) => {
    const isSeed = (source: Uint8Array) => Buffer.compare(source, frame) === 0;
    const either: Seed["decode"] = (source, target) => (isSeed(source) ? copy : decode)(source, target);
    const seeds = async () => [{ frame, size: 40, decode: either }];
    const subject: Subject = { name: "planted", codes: ["corrupt-chunk"], seeds };
    return (await fuzz(subject, { seed: 1, frames: 300, ...options })).finding;
  };
  const around = (view: Uint8Array) => new Uint8Array(view.buffer);
  const short: Seed["decode"] = (source, target) => copy(source.subarray(0, target.length), target);

  test("nothing, where there is nothing", async () => {
    expect(await readBy(copy)).toBeUndefined();
    expect(await readBy(async (source, target) => copy(source, target))).toBeUndefined();
  });

  test.each<[string, RegExp, Seed["decode"]]>([
    ["an error of another kind", /TypeError: not ours/, raised(new TypeError("not ours"))],
    [
      "an error with a code that is for others",
      /not-found/,
      raised(new ZarrflowError("not-found", "nothing")),
    ],
    ["a rejection", /the result is wrong/, async () => raised(new Fault("the result is wrong"))()],
    ["more bytes than there is room for", /are said to be in a target/, (_, target) => target.length + 1],
    ["no number of bytes", /are said to be in a target/, () => Number.NaN],
    ["a write to the source", /the source was changed/, (source, target) => short(source.fill(1), target)],
    [
      "a write before the target",
      /beside the target/,
      (_, target) => {
        around(target).fill(1, target.byteOffset - 1, target.byteOffset);
        return 0;
      },
    ],
    [
      "a write behind the source",
      /beside the source/,
      (source) => {
        const end = source.byteOffset + source.length;
        around(source).fill(1, end + 63, end + 64);
        return 0;
      },
    ],
    [
      "a read behind the source",
      /something else amid other bytes/,
      (source, target) => {
        target.fill(around(source)[source.byteOffset + source.length] ?? 0);
        return target.length;
      },
    ],
  ])("%s", async (_, reason, decode) => {
    const finding = await readBy(decode);
    expect(finding?.reason).toMatch(reason);
    // The one frame by its number does it again.
    const first = finding?.number ?? -1;
    const again = await readBy(decode, { first, frames: 1 });
    expect(again).toMatchObject({ number: first, reason: finding?.reason, frame: finding?.frame });
  });

  test("a loop without an end, a frame that takes too long, and memory that is kept", async () => {
    const loop = () => {
      for (;;);
    };
    expect((await readBy(loop, { batchTime: 200 }))?.reason).toMatch(/no end/);
    const slow: Seed["decode"] = (source, target) => {
      for (const end = performance.now() + 20; performance.now() < end; );
      return short(source, target);
    };
    expect((await readBy(slow, { frameTime: 10 }))?.reason).toMatch(/more than 10/);
    const kept: Uint8Array[] = [];
    const keep: Seed["decode"] = (source, target) => {
      kept.push(new Uint8Array(300_000).fill(1));
      return short(source, target);
    };
    expect((await readBy(keep))?.reason).toMatch(/more are held/);
    expect(kept.length).toBeGreaterThan(0);
  });
});

test("frames are changed in many ways, within the bound, the same ones by the same seed, and stay as they were", () => {
  const [frame, other] = [bytes(50), new Uint8Array(200).fill(99)];
  const mutants = (seed: number, count: number) => {
    const mutator = new FrameMutator(120, new Random(seed));
    return Array.from({ length: count }, () => mutator.mutate(frame, [other]).slice());
  };
  const made = mutants(3, 3000);
  expect(made.every(({ length }) => length <= 120)).toBe(true);
  expect(new Set(made.map(({ length }) => length)).size).toBeGreaterThan(80);
  expect(new Set(made.map((one) => Buffer.from(one).toString("hex"))).size).toBeGreaterThan(2500);
  expect(made.some((one) => one.includes(99) && one.includes(3))).toBe(true);
  expect(frame).toEqual(bytes(50));
  expect(mutants(3, 100)).toEqual(made.slice(0, 100));
  expect(mutants(4, 100)).not.toEqual(made.slice(0, 100));
  const [none, mutator] = [new Uint8Array(0), new FrameMutator(64, new Random(1))];
  const lengths = Array.from({ length: 500 }, () => mutator.mutate(none, [none]).length);
  expect(Math.max(...lengths)).toBeGreaterThan(0);
});

describe("the command", () => {
  const frame = bytes(30);
  /** A decoder that refuses what is not whole, and does `then` with one frame in some. */
  const decoder = (name: string, then: () => void = () => {}): Subject => {
    const decode = (source: Uint8Array) => {
      if (Buffer.compare(source, frame) === 0) return 0;
      if (source.length % 7 === 3) then();
      throw corrupt("not whole");
    };
    return { name, codes: ["corrupt-chunk"], seeds: async () => [{ frame, size: 0, decode }] };
  };
  const run = async (args: string, ...all: readonly Subject[]) => {
    const lines: string[] = [];
    const print = (line: string) => void lines.push(line);
    const code = await fuzzCommand(args.split(" ").filter(Boolean), { print }, all);
    return { code, text: lines.join("\n") };
  };

  test("runs all, or those of one codec, or those from one on", async () => {
    const all = ["one", "two a", "two b", "three"].map((name) => decoder(name));
    const text = expect.stringMatching(/800 frames in \d+ s, no finding/);
    expect(await run("--frames 200", ...all)).toMatchObject({ code: 0, text });
    expect((await run("--frames 200 --codec two", ...all)).text).toMatch(/400 frames/);
    expect((await run("--frames 200 --from three", ...all)).text).toMatch(/200 frames/);
    expect((await run("--frames 1000000000 --seconds 0.2 --codec one", ...all)).code).toBe(0);
    expect(await run("--list", ...all)).toEqual({ code: 0, text: "one\ntwo a\ntwo b\nthree" });
    expect((await run("--codec four", ...all)).code).toBe(2);
    expect((await run("--from four", ...all)).code).toBe(2);
  });

  test("ends with a finding, the frame and how to see it again", async () => {
    const broken = decoder("broken", raised(new RangeError("offset is out of bounds")));
    const { code, text } = await run("--frames 2000 --seed 5", broken, decoder("after"));
    expect(code).toBe(1);
    expect(text).toMatch(/broken: threw RangeError: offset is out of bounds/);
    expect(text).not.toContain("after");
    const [, again = ""] = /again: npm run fuzz -- (.+)$/.exec(text) ?? [];
    expect(again).toMatch(/^--codec "broken" --seed 5 --frame \d+$/);
    const second = await run(again.replaceAll('"', ""), broken);
    const base64 = /base64:\n(.*)\n/;
    expect(second.code).toBe(1);
    expect(base64.exec(second.text)?.[1]).toBe(base64.exec(text)?.[1]);
  });
});

describe("what fuzzing found", () => {
  test("an LZ4 block that gives fewer bytes than the value states is refused, also where no size is known", async () => {
    const frame = "AAIAAB8AAQAAHwABACwfAQEALB8DAQAsHwIBACwfAwEALB8EAQAsHwcBACdQBwcHBwc=";
    await errorOf(() => decodeBytes({ id: "lz4" }, Buffer.from(frame, "base64")), "corrupt-chunk");
  });

  test.each([
    ["texts", "é".repeat(700)],
    ["floats", 0.5],
    ["integers of 64 bits", 2 ** 40],
    ["names", { ["n".repeat(1500)]: null }],
  ])("msgpack2 writes more %s than its first buffer holds", async (_, value) => {
    const text = JSON.stringify(value);
    const offsets = Uint32Array.from({ length: 301 }, (_, i) => i * Buffer.byteLength(text));
    const context: CodecContext = { spec: specOf([300], { kind: "object" }), itemSize: 1, endian: "little" };
    const codec = (await makeCodec({ name: "msgpack2", configuration: {} }, context)) as ArrayToBytesCodec;
    const bytes = new Uint8Array(Buffer.from(text.repeat(300)));
    const data = { kind: "variable", bytes, offsets, shape: [300] } as const;
    const found = await codec.decode(await codec.encode(data, plainBuffers), plainBuffers);
    expect(Buffer.from(found.bytes).toString()).toBe(text.repeat(300));
  });

  test("the LZ4 kernel leaves alone what lies behind a target that ends within a short match", () => {
    const frame = Buffer.from(
      "8FGLTI0FMKm92gSd9Zyz5xx55Hg2B2bYeHGPuzDbdw8h/hAmCk2Efz1l9BZwXLNl0uU4acsshSEUotzyDi2geMPr1b8TDKeahyl5OKA/" +
        "USqIRz4zIjQBABs1AQAbNgEAGzcBAPsiODg4OD/RNmsgYIV93/K5IdiuLffWJrpCyWV5Xfo4l8j7CNA5VLNBhrbTjbo6Ojo6OwEAGzwB" +
        "ABs9AQATPgEA8AlZXnjxuaG+Aqt87VuadAEhy8FpleaQHd0=",
      "base64",
    );
    const arena = new WasmArena();
    for (let size = 0; size < 600; size++) {
      const [target, twin] = [new Uint8Array(size), new Uint8Array(size)];
      const written = arena.decode("lz4Decode", frame, target);
      expect(written).toBe(lz4Decode(frame, 0, frame.length, twin, 0, size));
      if (written > 0) expect(target).toEqual(twin);
    }
  });
});
