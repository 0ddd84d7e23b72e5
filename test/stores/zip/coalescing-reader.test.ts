import { describe, expect, it } from "vitest";
import { NearReads } from "../../../src/stores/zip/coalescing-reader.ts";
import type { RangeReadOptions } from "../../../src/util/byte-range.ts";
import { BytesReader } from "../bytes-reader.ts";
import { assertBytes } from "../expect-bytes.ts";

const KIB = 1024;
const DATA = new Uint8Array(6 * KIB * KIB).map((_, i) => (i * i) >> 7);

function readers(): { far: BytesReader; near: NearReads } {
  const far = new BytesReader(DATA);
  return { far, near: new NearReads(far) };
}

describe("NearReads", () => {
  it("reads what is asked for at one time and lies near in one request, each into its own buffer", async () => {
    const { far, near } = readers();
    const into = new Uint8Array(500);
    const parts = await Promise.all([
      near.read(200 * KIB, 10 * KIB),
      near.read(100, 500, { into }),
      near.read(60 * KIB, 80 * KIB),
      near.read(60 * KIB, 100),
    ]);
    expect(far.reads).toEqual([{ offset: 100, length: 210 * KIB - 100 }]);
    expect(parts[1]).toBe(into);
    assertBytes(parts[0], DATA.subarray(200 * KIB, 210 * KIB));
    assertBytes(into, DATA.subarray(100, 600));
    assertBytes(parts[2], DATA.subarray(60 * KIB, 140 * KIB));
    assertBytes(parts[3], DATA.subarray(60 * KIB, 60 * KIB + 100));
    parts[3]?.fill(0);
    assertBytes(parts[2], DATA.subarray(60 * KIB, 140 * KIB));
  });

  it("leaves apart what is more than 64 KiB apart, or more than 1 MiB together", async () => {
    const { far, near } = readers();
    await Promise.all([near.read(0, 10), near.read(64 * KIB + 11, 10)]);
    expect(far.reads).toHaveLength(2);
    far.reads.length = 0;
    await Promise.all([0, 1, 2].map((i) => near.read(i * 400 * KIB, 400 * KIB)));
    expect(far.reads.map(({ length }) => length)).toEqual([800 * KIB, 400 * KIB]);
  });

  it("reads one by one beyond the memory that it may hold", async () => {
    const { far, near } = readers();
    await Promise.all(Array.from({ length: 12 }, (_, i) => near.read(i * 256 * KIB, 256 * KIB)));
    expect(far.reads.map(({ length }) => length / KIB)).toEqual([...[1024, 1024], ...[256, 256, 256, 256]]);
  });

  it("brings what is behind a small entry, but not behind a part", async () => {
    const { far, near } = readers();
    await near.read(5000, 100, { isEntry: true });
    assertBytes(await near.read(5200, 20_000), DATA.subarray(5200, 25_200));
    expect(far.reads).toEqual([{ offset: 5000, length: 32 * KIB }]);
    await near.read(DATA.length - 10, 10, { isEntry: true });
    await near.read(90_000, 100);
    await near.read(95_000, 5000, { isEntry: true });
    expect(far.reads.slice(1).map(({ length }) => length)).toEqual([10, 100, 5000]);
  });

  it("takes what lies whole in a part that is held from there, until it is let go", async () => {
    const { far, near } = readers();
    const part = new Uint8Array(50 * KIB);
    const letGo = await near.hold(part, 1000);
    assertBytes(part, DATA.subarray(1000, 1000 + 50 * KIB));
    const inside = await near.read(2000, 100);
    assertBytes(inside, DATA.subarray(2000, 2100));
    inside.fill(0);
    assertBytes(await near.read(2000, 100), DATA.subarray(2000, 2100));
    expect(far.reads).toHaveLength(1);
    assertBytes(await near.read(990, 100), DATA.subarray(990, 1090));
    letGo();
    part.fill(0);
    assertBytes(await near.read(2000, 100), DATA.subarray(2000, 2100));
    expect(far.reads.map(({ offset }) => offset)).toEqual([1000, 990, 2000]);
  });

  it("gives its own reason to who gives up, and ends a request only when nobody waits for it", async () => {
    const far = new BytesReader(DATA);
    const signals: (AbortSignal | undefined)[] = [];
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const near = new NearReads({
      size: far.size,
      remote: true,
      async read(offset: number, length: number, { signal }: RangeReadOptions = {}) {
        signals.push(signal);
        await asked;
        signal?.throwIfAborted();
        return far.read(offset, length);
      },
    });
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
    third.abort("never");
    const reads = [
      near.read(0, 10_000, { signal: first.signal }),
      near.read(10_000, 10_000, { signal: second.signal }),
      near.read(20_000, 10_000, { signal: third.signal }),
    ];
    await expect(reads[2]).rejects.toMatchObject({ code: "aborted", cause: "never" });
    first.abort("enough");
    await expect(reads[0]).rejects.toMatchObject({ code: "aborted", cause: "enough" });
    expect(signals[0]?.aborted).toBe(false);
    second.abort("me too");
    expect(signals[0]?.aborted).toBe(true);
    await expect(reads[1]).rejects.toMatchObject({ code: "aborted", cause: "me too" });
    answer();
  });

  it("passes a failure to all who wait, and goes on", async () => {
    const { far, near } = readers();
    const failure = new Error("reset");
    const { read } = far;
    far.read = async () => Promise.reject(failure);
    const reads = await Promise.allSettled([near.read(0, 10_000), near.read(10_000, 10)]);
    expect(reads.map((one) => one.status === "rejected" && one.reason)).toEqual([failure, failure]);
    far.read = read;
    assertBytes(await near.read(7, 9), DATA.subarray(7, 16));
  });
});
