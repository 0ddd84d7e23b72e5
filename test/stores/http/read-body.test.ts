import { describe, expect, it, vi } from "vitest";
import { countBytes, readBody, readUnstated } from "../../../src/stores/http/read-body.ts";
import { bodyOfStream } from "../../../src/stores/http/stream-body.ts";

it.each([0, 2])("lets go of a body of which %d bytes are wanted", async (length) => {
  const cancel = vi.fn();
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(5)),
    cancel,
  });
  const body = bodyOfStream(stream);
  expect(await readBody(body, { skip: 4, length }, (size) => new Uint8Array(size))).toHaveLength(length);
  expect(cancel).toHaveBeenCalledOnce();
});

it("reads a stream of bytes in one buffer, of which what is kept is copied", async () => {
  const buffers = new Set<number>();
  let sent = 0;
  const stream = new ReadableStream({
    type: "bytes",
    pull(controller) {
      const view = controller.byobRequest?.view as Uint8Array | undefined;
      buffers.add(view?.buffer.byteLength ?? 0);
      view?.set([sent++, sent++]);
      controller.byobRequest?.respond(2);
    },
  });
  const bytes = await readUnstated(
    bodyOfStream(stream),
    { offset: 1, length: 6 },
    (size) => new Uint8Array(size),
  );
  expect([...bytes]).toEqual([1, 2, 3, 4, 5, 6]);
  expect([...buffers]).toEqual([64 * 1024]);
});

describe("a body whose length nobody states", () => {
  const take = (size: number) => new Uint8Array(size);

  /** A body of so many pieces of 10 bytes, the numbers from 0 on. */
  function counted(pieces: number) {
    let sent = 0;
    const cancel = vi.fn();
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      if (sent === pieces) return controller.close();
      controller.enqueue(Uint8Array.from({ length: 10 }, (_, i) => sent * 10 + i));
      sent++;
    };
    const body = bodyOfStream(new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 }));
    return { body, cancel, sent: () => sent };
  }

  it.each([
    [{ offset: 5, length: 10 }, [5, 6, 7, 8, 9, 10, 11, 12, 13, 14]],
    [{ offset: 28, length: 10 }, [28, 29]],
    [{ offset: 40, length: 10 }, []],
    [{ offset: 27 }, [27, 28, 29]],
    [{ suffix: 3 }, [27, 28, 29]],
    [{ suffix: 12 }, [18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]],
  ])("gives the range %o, cut at its end", async (range, expected) => {
    expect([...(await readUnstated(counted(3).body, range, take))]).toEqual(expected);
  });

  it("is read no further than the range goes, and than the caller can use", async () => {
    const part = counted(Number.POSITIVE_INFINITY);
    await readUnstated(part.body, { offset: 5, length: 10 }, take);
    expect(part.sent()).toBe(2);
    const all = counted(Number.POSITIVE_INFINITY);
    await expect(readUnstated(all.body, { offset: 0 }, take, 25)).rejects.toMatchObject({
      code: "resource-limit",
      details: { expected: "at most 25 bytes" },
    });
    expect(all.sent()).toBe(3);
    for (const { cancel } of [part, all]) expect(cancel).toHaveBeenCalledOnce();
  });

  it("is counted without being kept", async () => {
    expect(await countBytes(counted(1000).body)).toBe(10_000);
  });
});
