import { expect, it, vi } from "vitest";
import { readBody } from "../../../src/stores/http/read-body.ts";

it.each([0, 2])("lets go of a body of which %d bytes are wanted", async (length) => {
  const cancel = vi.fn();
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(5)),
    cancel,
  });
  expect(await readBody(body, { skip: 4, length }, (size) => new Uint8Array(size))).toHaveLength(length);
  expect(cancel).toHaveBeenCalledOnce();
});
