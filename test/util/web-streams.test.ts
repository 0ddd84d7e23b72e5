import { describe, expect, it } from "vitest";
import { pagesFrom, ReadableStream, streamFrom, streamFromPages } from "../../src/util/web-streams.ts";

async function all<T>(pages: AsyncIterable<readonly T[]>): Promise<(readonly T[])[]> {
  const found: (readonly T[])[] = [];
  for await (const page of pages) found.push(page);
  return found;
}

describe("pagesFrom", () => {
  it("gives the pages that a stream was made of, itself", async () => {
    const pages = [[1, 2, 3], [], [4]];
    const found = await all(pagesFrom(streamFromPages(pages)));
    expect(found).toEqual(pages);
    expect(found[0]).toBe(pages[0]);
  });

  it("gives each item of another stream, and the rest of one that was read from", async () => {
    expect(await all(pagesFrom(streamFrom([1, 2])))).toEqual([[1], [2]]);
    const stream = streamFromPages([
      [1, 2],
      [3, 4],
    ]);
    const reader = stream.getReader();
    await reader.read();
    reader.releaseLock();
    expect(await all(pagesFrom(stream))).toEqual([[2], [3], [4]]);
  });

  it("takes the stream, and closes what it comes from when it is left early", async () => {
    let isClosed = false;
    const pages = async function* () {
      try {
        yield [1];
        yield [2];
      } finally {
        isClosed = true;
      }
    };
    const stream = streamFromPages(pages());
    for await (const page of pagesFrom(stream)) {
      expect(page).toEqual([1]);
      expect(stream.locked).toBe(true);
      break;
    }
    expect(isClosed).toBe(true);
  });

  it("fails as the pages do, or with the reason of the signal", async () => {
    const failing = async function* () {
      yield [1];
      throw new RangeError("no more");
    };
    await expect(all(pagesFrom(streamFromPages(failing())))).rejects.toThrow("no more");
    const broken = new ReadableStream<number>({
      start(controller) {
        controller.error(new RangeError("broken"));
      },
    });
    await expect(all(pagesFrom(broken))).rejects.toThrow("broken");
    const abort = new AbortController();
    const endless = async function* () {
      for (let i = 0; ; i++) {
        if (i === 3) abort.abort(new RangeError("enough"));
        yield [i];
      }
    };
    await expect(all(pagesFrom(streamFromPages(endless(), abort.signal)))).rejects.toMatchObject({
      code: "aborted",
      cause: new RangeError("enough"),
    });
  });
});
