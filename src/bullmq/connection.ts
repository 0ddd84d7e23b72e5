import { importPackage } from "../tables/plain-values.ts";
import { abortError, followSignals, onAbort } from "../util/abort.ts";
import { ZarrflowError } from "../util/errors.ts";
import { assertRules, checkedOptions, type OptionNames, pickOptions } from "../util/options.ts";
import { pause } from "../util/pause.ts";

/** Options to reach a queue. */
export interface QueueOptions {
  /**
   * The URL of a Redis (`redis://`, `rediss://`) or PostgreSQL (`postgres://`) server, or an object that BullMQ accepts
   * as `connection` to a Redis server. It stays in this process.
   */
  readonly connection: string | object;
  /** The name of the queue; `zarrflow` by default. */
  readonly queue?: string | undefined;
  /** Seconds that the server may be unreachable before this gives up; 60 by default. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const QUEUE_OPTIONS: OptionNames<QueueOptions> = {
  connection: true,
  queue: true,
  timeout: true,
  signal: true,
};

type BullMQ = typeof import("bullmq");
/** An object of BullMQ that owns a connection. */
interface Ending {
  close(): Promise<void>;
  getBackend(): { close(force?: boolean): Promise<void> };
}
type Emitter = { on(event: "error", listener: (error: Error) => void): unknown };

/** Milliseconds that a server has to answer when a connection is closed. */
const END_MS = 2000;

/** Messages of a server that denies access to this process. */
const NOT_ALLOWED = /WRONGPASS|NOAUTH|NOPERM|invalid (?:username-)?password|password authentication failed/i;

/** A connection to a queue. It gives up when the server has not answered for too long. */
export class Connection {
  readonly bullmq: BullMQ;
  readonly name: string;
  readonly queue: InstanceType<BullMQ["Queue"]>;
  /** Aborted when the caller's signal is, and with `transient` when the server has been unreachable for too long. */
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
      timeout: { expected: "a number of seconds", holds: (one) => typeof one === "number" && one > 0 },
    });
    const bullmq = await importPackage(() => import("bullmq"), "bullmq@6", "queues are served");
    return new Connection(bullmq, options);
  }

  private constructor(
    bullmq: BullMQ,
    { connection, queue = "zarrflow", timeout = 60, signal }: QueueOptions,
  ) {
    this.bullmq = bullmq;
    this.name = queue;
    this.#args = argumentsOf(connection, bullmq);
    this.queue = this.watched(opened(() => new bullmq.Queue(queue, ...this.#args)));
    this.#following = followSignals(signal, this.#gone.signal);
    this.signal = this.#following.signal;
    this.#timer = this.#watch(timeout * 1000);
  }

  /** True once the connection no longer waits for the server. */
  get isGone(): boolean {
    return this.#gone.signal.aborted;
  }

  /** True once the server has answered. Before that, BullMQ ends connections only by force. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** The arguments that follow the first ones in every constructor of BullMQ. */
  args<T extends object>(options: T): readonly [T & { connection: object }, undefined] {
    const [common, factory] = this.#args;
    return [{ ...common, ...options }, factory];
  }

  /** Handles errors of a connection, which BullMQ re-establishes after any of them. */
  watched<T extends Emitter>(emitter: T): T {
    emitter.on("error", (error) => {
      this.#lastError = error;
      if (NOT_ALLOWED.test(error.message)) this.#gone.abort(this.#failure("access-denied", 0));
    });
    return emitter;
  }

  /** Resolves to the server's answer. @throws `aborted`; `transient` after the last attempt */
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

  /** Ends a connection, even if the server does not answer. */
  async end(one: Ending): Promise<void> {
    const ended = new AbortController();
    const closing = this.isGone ? one.getBackend().close(true) : one.close();
    const close = closing.catch(() => {}).finally(() => ended.abort());
    await Promise.race([close, pause(END_MS, ended.signal).catch(() => {})]);
    // otherwise BullMQ reconnects without end
    if (!ended.signal.aborted)
      await one
        .getBackend()
        .close(true)
        .catch(() => {});
  }

  /** Asks the server at intervals, to notice when it no longer answers. */
  #watch(timeout: number): NodeJS.Timeout {
    const interval = Math.min(2000, timeout / 5);
    let isAsking = false;
    let last = performance.now();
    const ask = async () => {
      const now = performance.now();
      // after the process was suspended, the time without an answer says nothing about the server
      if (now - last > 2 * interval + 1000) this.#answered = now;
      last = now;
      if (now - this.#answered > timeout) this.#gone.abort(this.#failure("transient", timeout));
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

  #failure(code: "transient" | "access-denied", timeout: number): ZarrflowError {
    const { message, code: short } = (this.#lastError ?? {}) as NodeJS.ErrnoException;
    const found = message || short;
    const details = found === undefined ? {} : { found };
    if (code === "access-denied") {
      const hint = "Check the user name and password of the connection.";
      return new ZarrflowError(code, "the queue server denies access", { ...details, hint });
    }
    return new ZarrflowError(code, `the queue server has not answered for ${timeout / 1000} s`, {
      ...details,
      hint: "Nothing is lost: finished work is kept at the target, and jobs in the queue. Restart this program when the server is back.",
    });
  }
}

/** The connection options and the backend. BullMQ has different types for each backend; this module does not. */
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
    throw new ZarrflowError("invalid-option", "this is not the URL of a queue server", {
      expected: "redis://HOST:PORT, rediss:// or postgres://",
    });
  }
  const redis = { url: connection, maxRetriesPerRequest: null, retryStrategy: () => 1000 };
  return [{ connection: redis }, undefined];
}

/** @throws `unsupported-operation` if the package that BullMQ needs for the server is not installed. */
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
