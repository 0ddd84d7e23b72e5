import type { PassThrough } from "node:stream";
import type { ZipFile } from "yazl";
import { ZarrflowError } from "../../util/errors.ts";
import { builtin } from "../../util/platform.node.ts";
import { machineFiles } from "../store-spec.ts";
import type { ByteSink } from "../writer.ts";
import { type EntryEncoder, FILE_MODE } from "./zip-records.ts";

const PIECE_BYTES = 64 * 1024;

/** Deflates entries with yazl. Bytes are copied, and may reach the sink later, before `finish` resolves. */
export class DeflatingEncoder implements EntryEncoder {
  /** A promise, because yazl is loaded only if something is deflated. */
  readonly #zip: Promise<ZipFile>;
  readonly #level: number;
  /** Rejects when the sink fails. */
  readonly #delivery: Promise<void>;
  #input = passThrough();

  /** @param level 1 (fast) to 9 (small). */
  constructor(sink: ByteSink, level: number) {
    this.#level = level;
    this.#zip = machineFiles()
      .yazl()
      .then((yazl) => new yazl.ZipFile());
    this.#delivery = this.#zip.then(({ outputStream }) =>
      deliver(outputStream as AsyncIterable<Buffer>, sink),
    );
    this.#delivery.catch(() => {});
  }

  async add(key: string, bytes: Uint8Array): Promise<void> {
    await this.begin(key);
    await this.write(bytes);
    await this.end();
  }

  async begin(key: string): Promise<void> {
    this.#input = passThrough();
    (await this.#zip).addReadStream(this.#input, key, {
      compressionLevel: this.#level,
      // yazl writes this in local time, so the bytes are the same in every time zone
      mtime: new Date(1980, 0, 1),
      forceDosTimestamp: true,
      mode: FILE_MODE,
    });
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = Buffer.from(bytes.subarray(at, at + PIECE_BYTES));
      const taken = new Promise<void>((resolve) => this.#input.write(piece, () => resolve()));
      await Promise.race([taken, this.#delivery]);
    }
  }

  async end(): Promise<void> {
    this.#input.end();
    await Promise.race([builtin("node:stream")?.promises.finished(this.#input), this.#delivery]);
  }

  async finish(comment?: Uint8Array): Promise<void> {
    // yazl accepts a buffer, although its types do not
    const bytes = (comment ? Buffer.from(comment) : "") as string;
    (await this.#zip).end({ forceZip64Format: false, comment: bytes });
    await this.#delivery;
  }
}

function passThrough(): PassThrough {
  const stream = builtin("node:stream");
  if (stream) return new stream.PassThrough();
  throw new ZarrflowError("unsupported-operation", "zip entries cannot be deflated on this platform", {
    hint: "Omit `deflate`: chunks are already compressed.",
  });
}

async function deliver(stream: AsyncIterable<Buffer>, sink: ByteSink): Promise<void> {
  for await (const bytes of stream) await sink.write(bytes);
}
