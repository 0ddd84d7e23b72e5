import { TransformStream } from "./web.ts";

/** Passes on the items of lists one by one. */
export function flatten<T>(): TransformStream<readonly T[], T> {
  return new TransformStream<readonly T[], T>({
    transform(items, controller) {
      for (const item of items) controller.enqueue(item);
    },
  });
}
