import { type Awaitable, isPromise } from "../util/awaitable.ts";
import { TransformStream } from "../util/web-streams.ts";

/**
 * One step of a flow, without a stream around it. Run it in a plain loop or with `stageStream`; a task composes its
 * stages once.
 */
export interface Stage<In, Out> {
  /**
   * Takes ownership of the item.
   *
   * @returns the items that are finished with it, in order.
   */
  push(item: In): Awaitable<readonly Out[]>;
  /**
   * Called once, after the last item.
   *
   * @returns the items that remain; none by default.
   */
  end?(): Awaitable<readonly Out[]>;
}

/** Wraps a stage in a transform stream. */
export function stageStream<In, Out>(stage: Stage<In, Out>): TransformStream<In, Out> {
  type Controller = TransformStreamDefaultController<Out>;
  const enqueue = (items: Awaitable<readonly Out[]>, controller: Controller): Awaitable<void> => {
    if (isPromise(items)) return items.then((found) => enqueue(found, controller));
    for (const item of items) controller.enqueue(item);
  };
  return new TransformStream<In, Out>({
    transform: (item, controller) => enqueue(stage.push(item), controller),
    flush: (controller) => enqueue(stage.end?.() ?? [], controller),
  });
}
