import { describe, expect, it } from "vitest";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { type StoreRequest, withRequestLog } from "../../../src/stores/with/request-log.ts";
import { writableStoreChecks } from "../writable-store-checks.ts";

describe("withRequestLog", () => {
  for (const { name, run } of writableStoreChecks(async () => withRequestLog(new MemoryStore(), () => {})))
    it(name, () => run());

  it("reports each request that succeeded, with its bytes", async () => {
    const requests: StoreRequest[] = [];
    const store = withRequestLog(new MemoryStore(), (request) => requests.push(request));
    await store.set("a/0", new Uint8Array(10));
    await store.get("a/0");
    await store.get("a/0", { range: { offset: 8 } });
    await store.get("none");
    await store.size("a/0");
    await store.size("none");
    await expect(store.get("../x")).rejects.toThrow();
    const writer = await store.openWriter("b");
    await writer.write(new Uint8Array(4));
    await writer.commit();
    await store.delete("b");
    for await (const _ of store.list("a/"));
    await store.listDirectory("").cancel();
    expect(requests.map(({ operation, key, bytes }) => `${operation} ${key} ${bytes}`)).toEqual([
      "set a/0 10",
      "get a/0 10",
      "get a/0 2",
      "get none undefined",
      "size a/0 0",
      "size none undefined",
      "open b 0",
      "write b 4",
      "commit b 0",
      "delete b 0",
      "list a/ 0",
    ]);
  });
});
