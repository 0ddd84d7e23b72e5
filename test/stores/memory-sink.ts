import type { ByteSink } from "../../src/stores/writer.ts";

/** Keeps what is written, by copy; `log` tells the calls. It cannot patch. */
export class MemorySink implements ByteSink {
  readonly log: string[] = [];
  readonly #pieces: Uint8Array[] = [];

  get bytes(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.#pieces));
  }

  async write(bytes: Uint8Array): Promise<void> {
    await new Promise(setImmediate);
    this.log.push(`write ${bytes.length}`);
    this.#pieces.push(new Uint8Array(bytes));
  }

  async close(): Promise<void> {
    this.log.push("close");
  }

  async abort(reason: unknown): Promise<void> {
    this.log.push(`abort ${reason instanceof Error ? reason.message : reason}`);
  }
}
