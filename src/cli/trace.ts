import { closeSync, openSync, writeSync } from "node:fs";
import type { FlowEvent } from "../run/events.ts";
import { fileError } from "../stores/files/file-error.ts";
import { isZarrflowError } from "../util/errors.ts";
import { toJson } from "./text/results.ts";

/** Characters of lines that are written at once. */
const WRITTEN_TOGETHER = 64_000;

/**
 * Writes the events of a run to a file as they happen, each as a line of JSON with the milliseconds since the start.
 * Leaves out `progress`, which only counts what other events name.
 */
export class TraceFile {
  readonly #path: string;
  #file: number | undefined;
  readonly #begin = performance.now();
  #lines = "";

  constructor(path: string) {
    this.#path = path;
  }

  /** Replaces the file at the path. @throws `not-found`, `access-denied` and others, with the file's name. */
  open(): void {
    this.#file = this.#call(() => openSync(this.#path, "w"));
  }

  /** Records an event. Events are buffered until the file is open. */
  note(event: FlowEvent): void {
    if (event.type === "progress") return;
    const ms = Math.round((performance.now() - this.#begin) * 10) / 10;
    this.#lines += `${toJson({ ms, ...withPlainErrors(event) })}\n`;
    if (this.#lines.length >= WRITTEN_TOGETHER) this.#write();
  }

  /** Writes the rest and closes the file, if it was opened. */
  close(): void {
    const file = this.#file;
    if (file === undefined) return;
    try {
      this.#write();
    } finally {
      closeSync(file);
    }
  }

  #write(): void {
    const file = this.#file;
    if (file === undefined) return;
    let left = Buffer.from(this.#lines);
    this.#lines = "";
    while (left.length > 0) left = left.subarray(this.#call(() => writeSync(file, left)));
  }

  #call<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw fileError(error, { store: `file ${this.#path}` });
    }
  }
}

/** The event with the code and the message of its error, since JSON cannot represent errors. */
function withPlainErrors(event: FlowEvent): object {
  if (event.type === "task-failed") return { ...event, error: plainError(event.error) };
  if (event.type !== "retry") return event;
  const { error, ...retry } = event.retry;
  return { type: event.type, ...retry, error: plainError(error) };
}

function plainError(error: unknown): object {
  if (!isZarrflowError(error)) return { message: String(error) };
  return { code: error.code, message: error.message };
}
