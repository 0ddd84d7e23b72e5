import * as polyfill from "web-streams-polyfill";

Object.assign(globalThis, {
  ReadableStream: polyfill.ReadableStream,
  TransformStream: polyfill.TransformStream,
  WritableStream: polyfill.WritableStream,
});
