import { importPackage } from "../flows/slabs/table/load-package.ts";
import { abortError, followSignals, onAbort } from "../util/abort.ts";
import { assertRules, checkedOptions, type OptionNames, pickOptions } from "../util/check-options.ts";
import { ZarrflowError } from "../util/errors.ts";
import { pause } from "../util/pause.ts";

/** Where the queue is. */
export interface QueueOptions {
  /**
   * The URL of a Redis (`redis://`, `rediss://`) or PostgreSQL (`postgres://`) server, or what BullMQ takes as
   * `connection` to a Redis server. It stays in this process.
   */
  readonly connection: string | object;
  /** The name of the queue; `zarrflow` by default. */
  readonly queue?: string | undefined;
  /** Seconds for which the server may be gone before this gives up; 60 by default. */
  readonly patience?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const QUEUE_OPTIONS: OptionNames<QueueOptions> = {
  connection: true,
  queue: true,
  patience: true,
  signal: true,
};

type BullMQ = typeof import("bullmq");
/** What BullMQ gives connections to. */
interface Ending {
  close(): Promise<void>;
  getBackend(): { close(force?: boolean): Promise<void> };
}
type Emitter = { on(event: "error", listener: (error: Error) => void): unknown };

/** A server that does not answer has so long to say goodbye. */
const END_MS = 2000;

/** What a server says that will not let this process in. */
const NOT_ALLOWED = /WRONGPASS|NOAUTH|NOPERM|invalid (?:username-)?password|password authentication failed/i;

/** A queue, for as long as its server answers. */
export class Connection {
  readonly bullmq: BullMQ;
  readonly name: string;
  readonly queue: InstanceType<BullMQ["Queue"]>;
  /** Aborted when the caller's signal is, and with `transient` when the server has been gone for too long. */
  readonly signal: AbortSignal;
  readonly #args: readonly [{ connection: object }, undefined];
  readonly #following: { readonly signal: AbortSignal; end(): void };
  readonly #gone = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #answered = performance.now();
  #hasAnswered = false;
  #lastError: Error | undefined;

  /** @throws `unsupported-operation` without the package `bullmq`; `invalid-option`. */
  static async open(given: QueueOptions): Promise<Connection> {
    const options = checkedOptions<QueueOptions>(pickOptions(given, QUEUE_OPTIONS), QUEUE_OPTIONS);
    assertRules(options, {
      connection: { expected: "a URL or an object", holds: (one) => /string|object/.test(typeof one) },
      queue: { expected: "a name", holds: (one) => typeof one === "string" && /^[^:]+$/.test(one) },
      patience: { expected: "a number of seconds", holds: (one) => typeof one === "number" && one > 0 },
    });
    const bullmq = await importPackage(() => import("bullmq"), "bullmq@6", "queues are served");
    return new Connection(bullmq, options);
  }

  private constructor(
    bullmq: BullMQ,
    { connection, queue = "zarrflow", patience = 60, signal }: QueueOptions,
  ) {
    this.bullmq = bullmq;
    this.name = queue;
    this.#args = argumentsOf(connection, bullmq);
    this.queue = this.watched(opened(() => new bullmq.Queue(queue, ...this.#args)));
    this.#following = followSignals(signal, this.#gone.signal);
    this.signal = this.#following.signal;
    this.#timer = this.#watch(patience * 1000);
  }

  /** Whether the server was given up. */
  get isGone(): boolean {
    return this.#gone.signal.aborted;
  }

  /** Whether the server has answered yet: BullMQ ends connections by force alone where it has not. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** Arguments after the first ones of each of BullMQ's constructors. */
  args<T extends object>(options: T): readonly [T & { connection: object }, undefined] {
    const [common, factory] = this.#args;
    return [{ ...common, ...options }, factory];
  }

  /** Listens to errors of a connection: it is made again, whatever they are. */
  watched<T extends Emitter>(emitter: T): T {
    emitter.on("error", (error) => {
      this.#lastError = error;
      if (NOT_ALLOWED.test(error.message)) this.#gone.abort(this.#failure("access-denied", 0));
    });
    return emitter;
  }

  /** What the server answers. @throws `aborted`; `transient` once it is given up */
  answer<T>(asked: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = onAbort(this.signal, () => reject(abortError(this.signal.reason)));
      if (this.signal.aborted) reject(abortError(this.signal.reason));
      asked.then(resolve, (error) => reject(this.isGone ? this.#gone.signal.reason : error)).finally(stop);
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#following.end();
    await this.end(this.queue);
  }

  /** Ends a connection, whether the server answers or not. */
  async end(one: Ending): Promise<void> {
    const ended = new AbortController();
    const closing = this.isGone ? one.getBackend().close(true) : one.close();
    const close = closing.catch(() => {}).finally(() => ended.abort());
    await Promise.race([close, pause(END_MS, ended.signal).catch(() => {})]);
    // or it is made again for ever
    if (!ended.signal.aborted)
      await one
        .getBackend()
        .close(true)
        .catch(() => {});
  }

  /** Asks the server now and then whether it is there. */
  #watch(patience: number): NodeJS.Timeout {
    const interval = Math.min(2000, patience / 5);
    let isAsking = false;
    let last = performance.now();
    const ask = async () => {
      const now = performance.now();
      // a process that slept knows nothing of the server
      if (now - last > 2 * interval + 1000) this.#answered = now;
      last = now;
      if (now - this.#answered > patience) this.#gone.abort(this.#failure("transient", patience));
      if (isAsking || this.isGone) return;
      isAsking = true;
      try {
        await this.queue.getJobCountByTypes("active");
        this.#answered = performance.now();
        this.#hasAnswered = true;
      } catch (error) {
        if (error instanceof Error) this.#lastError = error;
      } finally {
        isAsking = false;
      }
    };
    void ask();
    return setInterval(ask, interval);
  }

  #failure(code: "transient" | "access-denied", patience: number): ZarrflowError {
    const { message, code: short } = (this.#lastError ?? {}) as NodeJS.ErrnoException;
    const found = message || short;
    const details = found === undefined ? {} : { found };
    if (code === "access-denied") {
      const hint = "Check the user and the password in the connection.";
      return new ZarrflowError(code, "the server of the queue denies access", { ...details, hint });
    }
    return new ZarrflowError(code, `the server of the queue has not answered for ${patience / 1000} s`, {
      ...details,
      hint: "Nothing is lost: what was done is kept at the target, jobs in the queue. Start this again when the server is back.",
    });
  }
}

/** The options of a connection, with the backend that it is for: the types of BullMQ tell these apart, we do not. */
function argumentsOf(
  connection: string | object,
  { createPostgresBackend }: BullMQ,
): readonly [{ connection: object }, undefined] {
  if (typeof connection !== "string") return [{ connection }, undefined];
  if (/^postgres(?:ql)?:/.test(connection)) {
    const postgres = { connectionString: connection, migrate: true };
    return [{ connection: postgres }, createPostgresBackend as unknown as undefined];
  }
  if (!/^rediss?:/.test(connection) || !URL.canParse(connection)) {
    throw new ZarrflowError("invalid-option", "this is not the URL of a server that keeps queues", {
      expected: "redis://HOST:PORT, rediss:// or postgres://",
    });
  }
  const redis = { url: connection, maxRetriesPerRequest: null, retryStrategy: () => 1000 };
  return [{ connection: redis }, undefined];
}

/** @throws `unsupported-operation` where BullMQ lacks the package of the server. */
function opened<T>(open: () => T): T {
  try {
    return open();
  } catch (cause) {
    const { message } = cause as Error;
    if (!/ioredis|'pg'/.test(message)) throw cause;
    const name = message.includes("ioredis") ? "ioredis" : "pg";
    const hint = `Install it beside bullmq: npm install ${name}.`;
    throw new ZarrflowError(
      "unsupported-operation",
      `the package ${name} is not installed`,
      { hint },
      { cause },
    );
  }
}
