import { expect, test } from "vitest";
import { KeyMutex } from "../../../src/hierarchy/write/key-mutex.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { rejection, settle } from "../../streams/support.ts";

test("one after another at each key of a store, in the order in which they came", async () => {
  const store = new MemoryStore();
  const seen: string[] = [];
  const visit = async (name: string, key: string, turns = new KeyMutex(store)) => {
    const end = await turns.take(key);
    seen.push(`${name} begins`);
    await settle(2);
    seen.push(`${name} ends`);
    end();
  };
  await Promise.all([visit("a", "k"), visit("b", "k"), visit("c", "k")]);
  expect(seen).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  seen.length = 0;
  await Promise.all([visit("a", "k"), visit("b", "other"), visit("c", "k", new KeyMutex(new MemoryStore()))]);
  expect(seen.slice(0, 3)).toEqual(["a begins", "b begins", "c begins"]);
});

test("ending all turns passes on those that are taken, and those that are waited for when they come", async () => {
  const store = new MemoryStore();
  const other = new KeyMutex(store);
  const end = await other.take("waited");
  const turns = new KeyMutex(store);
  await turns.take("taken");
  const waiting = rejection(turns.take("waited"));
  turns.endAll();
  await new KeyMutex(store).take("taken");
  const next = new KeyMutex(store).take("waited");
  end();
  expect(await waiting).toMatchObject({ code: "aborted" });
  (await next)();
});
