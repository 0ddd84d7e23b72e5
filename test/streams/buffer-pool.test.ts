import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BufferPool } from "../../src/streams/buffer-pool.ts";

const KIB = 1024;

describe("BufferPool", () => {
  it("gives buffers of exactly the length asked for, and takes each back once, by any view of it", () => {
    const pool = new BufferPool(2 ** 20);
    for (const length of [0, 1, 4095, 4096, 4097, 5000, 100_000])
      expect(pool.take(length).length).toBe(length);
    const other = new BufferPool(2 ** 20);
    const [a, b] = [other.take(4 * KIB), other.take(8 * KIB)];
    expect(other.taken).toBe(12 * KIB);
    for (const view of [a, a, b.subarray(100, 200), new Uint8Array(4 * KIB), pool.take(4 * KIB)])
      other.give(view);
    expect([other.taken, other.peak]).toEqual([0, 12 * KIB]);
    expect(other.take(8 * KIB).buffer).toBe(b.buffer);
    const [first, second] = [other.take(4 * KIB), other.take(4 * KIB)];
    expect(first.buffer).toBe(a.buffer);
    expect(second.buffer).not.toBe(a.buffer);
  });

  it("takes back a buffer that another thread returns, once, if it is one that was taken", () => {
    const pool = new BufferPool(2 ** 20);
    const view = pool.take(4 * KIB);
    pool.returned(view, new ArrayBuffer(8 * KIB));
    pool.returned(new Uint8Array(4 * KIB), new ArrayBuffer(4 * KIB));
    const sent = new ArrayBuffer(4 * KIB);
    pool.returned(view, sent);
    expect(pool.taken).toBe(4 * KIB);
    pool.give(view);
    expect([pool.taken, pool.take(4 * KIB).buffer === sent]).toEqual([0, true]);
    const other = new BufferPool(2 ** 20);
    const kept = other.take(4 * KIB);
    other.returned(kept, new ArrayBuffer(8 * KIB));
    other.give(kept);
    expect(other.take(4 * KIB).buffer).toBe(kept.buffer);
  });

  it("counts what is taken by the buffer behind it: at most a quarter more than asked, from 4 KiB on", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 22 }), (length) => {
        const pool = new BufferPool(2 ** 30);
        const bytes = pool.take(length);
        expect(pool.taken).toBe(bytes.buffer.byteLength);
        expect(pool.taken).toBeGreaterThanOrEqual(length);
        expect(pool.taken).toBeLessThanOrEqual(Math.max(4 * KIB, length * 1.25));
      }),
      { numRuns: 50 },
    );
  });

  it("uses a buffer again for another length of its class", () => {
    const pool = new BufferPool(2 ** 20);
    const first = pool.take(10_000);
    pool.give(first);
    const second = pool.take(9_000);
    expect(second.buffer).toBe(first.buffer);
    expect(second.length).toBe(9_000);
    expect(pool.take(10_000).buffer).not.toBe(first.buffer);
  });

  it("holds no more of a source than was taken at one time, whichever sizes come", () => {
    const memory = new ArrayBuffer(16 * 2 ** 20);
    let held = 0;
    let place = 0;
    const source = {
      memory,
      allocate(byteLength: number) {
        held += byteLength;
        place += byteLength;
        return new Uint8Array(memory, place - byteLength, byteLength);
      },
      beginOf: (view: Uint8Array) => view.byteOffset,
      release: (buffer: Uint8Array) => {
        held -= buffer.length;
      },
    };
    const pool = new BufferPool(2 ** 24, { source });
    for (const size of [64, 40, 56, 32, 48, 64].map((kib) => kib * KIB)) {
      const two = [pool.take(size), pool.take(size)];
      expect(held).toBeLessThanOrEqual(pool.peak);
      for (const buffer of two) pool.give(buffer);
    }
    expect(pool.peak).toBe(128 * KIB);
  });

  it("counts out a buffer that was transferred, and does not use it again", () => {
    const pool = new BufferPool(2 ** 20);
    const bytes = pool.take(4 * KIB);
    structuredClone(bytes, { transfer: [bytes.buffer as ArrayBuffer] });
    pool.give(bytes);
    expect(pool.taken).toBe(0);
    expect(pool.take(4 * KIB).length).toBe(4 * KIB);
  });

  it("keeps no free buffer that would pass the limit", () => {
    const pool = new BufferPool(8 * KIB);
    const [a, b, c] = [pool.take(4 * KIB), pool.take(4 * KIB), pool.take(4 * KIB)];
    pool.give(a);
    expect(pool.take(4 * KIB).buffer).not.toBe(a.buffer);
    pool.give(b);
    pool.give(c);
    expect(pool.taken).toBe(4 * KIB);
    expect(pool.peak).toBe(12 * KIB);
  });

  it("lets free buffers go to make room for one of another size", () => {
    const pool = new BufferPool(16 * KIB);
    const small = [pool.take(4 * KIB), pool.take(4 * KIB)];
    for (const bytes of small) pool.give(bytes);
    pool.take(16 * KIB);
    expect(small.map(({ buffer }) => buffer)).not.toContain(pool.take(4 * KIB).buffer);
  });

  it("goes on using buffers again, however often they were used or let go before", () => {
    const pool = new BufferPool(16 * KIB);
    const buffers = new Set<ArrayBufferLike>();
    for (let i = 0; i < 50; i++) {
      const bytes = pool.take(12 * KIB);
      buffers.add(bytes.buffer);
      pool.give(bytes);
    }
    expect(buffers.size).toBe(1);
    for (let i = 0; i < 50; i++) for (const length of [12 * KIB, 8 * KIB]) pool.give(pool.take(length));
    const last = pool.take(12 * KIB);
    pool.give(last);
    expect(pool.take(12 * KIB).buffer).toBe(last.buffer);
  });

  it("never hands one buffer to two, whatever is taken and given", () => {
    const steps = fc.array(fc.record({ length: fc.nat(40_000), give: fc.nat(5) }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (script) => {
        const pool = new BufferPool(64 * KIB);
        const held: Uint8Array[] = [];
        for (const { length, give } of script) {
          held.push(pool.take(length));
          const [given] = held.splice(give, 1);
          if (given) pool.give(given);
          const buffers = new Set(held.map(({ buffer }) => buffer));
          expect(buffers.size).toBe(held.length);
          expect(pool.taken).toBe([...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0));
        }
      }),
      { numRuns: 60 },
    );
  });
});
