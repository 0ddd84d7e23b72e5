/** The streams that all stages use: the runtime's own, or web-streams-polyfill if it lacks them. */
export { ReadableStream, streamFrom, TransformStream, WritableStream } from "../util/web-streams.ts";
