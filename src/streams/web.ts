/** The streams that every stage here is made of: the runtime's own, or web-streams-polyfill where it lacks them. */
export { ReadableStream, streamFrom, TransformStream, WritableStream } from "../util/web-streams.ts";
