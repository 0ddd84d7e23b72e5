/**
 * Plans as jobs of BullMQ: submitted to a queue, and run by any number of workers on any number of machines.
 *
 * @module
 */

export type { QueueOptions } from "./connection.ts";
export {
  type DeadJob,
  type FollowOptions,
  follow,
  type JobEvent,
  type RunStatus,
  type SubmitOptions,
  status,
  submit,
} from "./runs.ts";
export { type WorkerEvent, type WorkerOptions, worker } from "./worker.ts";
