// @module-tag long
import { expect, test } from "vitest";
import { corrupt } from "../../src/codecs/failures.ts";
import { fuzzCommand } from "./command.ts";
import type { Subject } from "./subject.ts";

const frame = Uint8Array.from({ length: 30 }, (_, i) => i);

/** A decoder that refuses what is not whole, and does `then` with one frame in some. */
function decoder(name: string, then: () => void = () => {}): Subject {
  const decode = (source: Uint8Array) => {
    if (Buffer.compare(source, frame) === 0) return 0;
    if (source.length % 7 === 3) then();
    throw corrupt("not whole");
  };
  return { name, codes: ["corrupt-chunk"], seeds: async () => [{ frame, size: 0, decode }] };
}

async function run(args: string, ...all: readonly Subject[]) {
  const lines: string[] = [];
  const code = await fuzzCommand(args.split(" ").filter(Boolean), { print: (line) => lines.push(line) }, all);
  return { code, text: lines.join("\n") };
}

test("runs all, or those of one codec, or those from one on", async () => {
  const all = [decoder("one"), decoder("two a"), decoder("two b"), decoder("three")];
  const everything = await run("--frames 200", ...all);
  expect(everything).toMatchObject({
    code: 0,
    text: expect.stringMatching(/800 frames in \d+ s, no finding/),
  });
  expect((await run("--frames 200 --codec two", ...all)).text).toMatch(/400 frames/);
  expect((await run("--frames 200 --from three", ...all)).text).toMatch(/200 frames/);
  expect((await run("--frames 1000000000 --seconds 0.2 --codec one", ...all)).code).toBe(0);
  expect(await run("--list", ...all)).toEqual({ code: 0, text: "one\ntwo a\ntwo b\nthree" });
  expect((await run("--codec four", ...all)).code).toBe(2);
  expect((await run("--from four", ...all)).code).toBe(2);
});

test("a finding ends it, with the frame and how to see it again", async () => {
  const broken = decoder("broken", () => {
    throw new RangeError("offset is out of bounds");
  });
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
