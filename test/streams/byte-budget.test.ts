import { getEventListeners } from "node:events";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteBudget, type Lease } from "../../src/streams/byte-budget.ts";
import { failOnUnhandledRejections, rejection, settle } from "./support.ts";

failOnUnhandledRejections();

/** Acquires in turn and notes who was admitted, in that order. */
function queueAt(budget: ByteBudget) {
  const admitted: string[] = [];
  const leases = new Map<string, Lease>();
  const ask = async (name: string, bytes: number, signal?: AbortSignal) => {
    leases.set(name, await budget.acquire(bytes, signal));
    admitted.push(name);
  };
  return { admitted, ask, release: (name: string) => leases.get(name)?.release() };
}

describe("ByteBudget", () => {
  it("admits at once what fits, up to the limit itself, and leases of nothing; others wait", async () => {
    const budget = new ByteBudget(100);
    const { admitted, ask, release } = queueAt(budget);
    await ask("a", 60);
    await ask("b", 40);
    expect((await budget.acquire(0)).bytes).toBe(0);
    expect([budget.leased, budget.peak]).toEqual([100, 100]);
    const c = ask("c", 50);
    await settle();
    release("b");
    await settle();
    expect(admitted).toEqual(["a", "b"]);
    release("a");
    await c;
    expect(budget.leased).toBe(50);
  });

  it("admits first come, first served, though a later one would fit", async () => {
    const budget = new ByteBudget(100);
    const { admitted, ask, release } = queueAt(budget);
    await ask("a", 60);
    const waiting = [ask("large", 80), ask("small", 10)];
    await settle();
    expect(admitted).toEqual(["a"]);
    release("a");
    await Promise.all(waiting);
    expect(admitted).toEqual(["a", "large", "small"]);
  });

  it("takes a lease back once, and refuses what can never fit, naming both figures", async () => {
    const budget = new ByteBudget(100);
    const lease = await budget.acquire(70);
    await budget.acquire(30);
    for (let i = 0; i < 2; i++) lease.release();
    expect([budget.leased, lease.bytes]).toEqual([30, 70]);
    expect(await rejection(budget.acquire(101))).toMatchObject({
      code: "budget-too-small",
      details: { expected: "at most 100 bytes", found: "101 bytes" },
    });
    expect(budget.leased).toBe(30);
  });

  describe("aborted", () => {
    it("before it waits, it rejects with the reason", async () => {
      const budget = new ByteBudget(100);
      const error = await rejection(budget.acquire(1, AbortSignal.abort("no")));
      expect(error).toMatchObject({ code: "aborted", cause: "no" });
      expect(budget.leased).toBe(0);
    });

    it("while it waits, it rejects with the reason and those behind it move up", async () => {
      const budget = new ByteBudget(100);
      const { admitted, ask, release } = queueAt(budget);
      const abort = new AbortController();
      await ask("a", 60);
      const large = rejection(ask("large", 80, abort.signal));
      const small = ask("small", 30);
      await settle();
      expect(admitted).toEqual(["a"]);
      const reason = new Error("stop");
      abort.abort(reason);
      expect(await large).toMatchObject({ code: "aborted", cause: reason });
      await small;
      expect(admitted).toEqual(["a", "small"]);
      release("a");
      release("small");
      expect(budget.leased).toBe(0);
    });

    it("after it was admitted, it changes nothing and left no listener", async () => {
      const budget = new ByteBudget(100);
      const abort = new AbortController();
      const first = await budget.acquire(100);
      const second = budget.acquire(50, abort.signal);
      first.release();
      const lease = await second;
      expect(getEventListeners(abort.signal, "abort")).toEqual([]);
      abort.abort();
      expect(budget.leased).toBe(50);
      lease.release();
      expect(budget.leased).toBe(0);
    });
  });

  it("never passes its limit and admits all in order, whatever is asked", async () => {
    const asked = fc.array(fc.record({ bytes: fc.nat(100), turns: fc.nat(3), aborted: fc.boolean() }), {
      maxLength: 20,
    });
    await fc.assert(
      fc.asyncProperty(asked, async (requests) => {
        const budget = new ByteBudget(100);
        const admitted: number[] = [];
        const run = async (i: number, bytes: number, turns: number, signal: AbortSignal) => {
          const lease = await budget.acquire(bytes, signal);
          admitted.push(i);
          expect(budget.leased).toBeLessThanOrEqual(100);
          await settle(turns);
          lease.release();
        };
        const aborts = requests.map(() => new AbortController());
        const runs = requests.map(({ bytes, turns }, i) =>
          run(i, bytes, turns, aborts[i]?.signal as AbortSignal).catch((reason) => {
            expect(reason).toMatchObject({ code: "aborted", cause: "gone" });
          }),
        );
        await settle(1);
        requests.forEach(({ aborted }, i) => {
          if (aborted) aborts[i]?.abort("gone");
        });
        await Promise.all(runs);
        expect(admitted).toEqual([...admitted].sort((a, b) => a - b));
        expect(requests.filter(({ aborted }, i) => !aborted && !admitted.includes(i))).toEqual([]);
        expect(budget.leased).toBe(0);
        expect(budget.peak).toBeLessThanOrEqual(100);
      }),
      { numRuns: 40 },
    );
  });
});

describe("a budget that others share", () => {
  it("is taken from with each lease, and given back with it", async () => {
    const shared = new ByteBudget(100);
    const [a, b] = [new ByteBudget(80, shared), new ByteBudget(80, shared)];
    const first = await a.acquire(60);
    const waiting = b.acquire(60);
    await settle(3);
    expect([b.acquireNow(10), shared.leased]).toEqual([undefined, 60]);
    first.release();
    (await waiting).release();
    const leases = await a.acquireEach(2, 30);
    expect(shared.leased).toBe(60);
    for (const lease of leases) lease.release();
    expect([shared.leased, shared.peak, a.leased, b.leased]).toEqual([0, 60, 0, 0]);
  });

  it("gets back what is leased, and what was waited for, when one of these is closed", async () => {
    const shared = new ByteBudget(100);
    const [a, b] = [new ByteBudget(100, shared), new ByteBudget(100, shared)];
    await a.acquire(70);
    const other = await b.acquire(30);
    const late = a.acquire(30);
    a.close();
    other.release();
    await late;
    expect(shared.leased).toBe(0);
  });

  it("keeps nothing of who gives up while it waits", async () => {
    const shared = new ByteBudget(100);
    const all = await shared.acquire(100);
    const stop = new AbortController();
    const own = new ByteBudget(100, shared);
    const waiting = rejection(own.acquire(10, stop.signal));
    stop.abort("gone");
    expect(await waiting).toMatchObject({ code: "aborted" });
    all.release();
    expect([own.leased, shared.leased]).toEqual([0, 0]);
  });
});
