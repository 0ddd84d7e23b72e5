/**
 * Plans as jobs of BullMQ: submitted to a queue, and run by any number of workers on any number of machines.
 *
 * @module
 */

export type { QueueOptions } from "./connection.ts";
export { type FollowOptions, follow, type JobEvent } from "./follow.ts";
export { type DeadJob, type RunStatus, status } from "./status.ts";
export { type SubmitOptions, submit } from "./submit.ts";
export { type WorkerEvent, type WorkerOptions, worker } from "./worker.ts";
