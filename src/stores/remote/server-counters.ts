import { isMemoryShared } from "../../util/pause.ts";
import type { StoreSpec } from "../store.ts";
import { CONTROL_NUMBERS, ConcurrencyControl, MAX_ALLOWED } from "./concurrency-control.ts";

/** Maximum number of servers with counters of their own. Any more share counters with another server. */
const SERVERS = 512;
/** Maximum number of threads that share the counters. Any more have their own. */
const THREADS = 64;

/** Indexes of the fields at the start of the memory. */
const FIXED = 0;
const MOST_FOUND = 1;
const THREADS_USED = 2;
const HEADER = 4;

/** Indexes of a server's fields: its name, counts of its requests, and then the counts of each thread. */
const NAME = 0;
const ACTIVE = 1;
const CHANGES = 2;
const ALLOWED = 3;
const ROUND = 4;
const ROUND_REQUESTS = 5;
const ROUND_LATENCY = 6;
const ROUND_WORK = 7;
const LOCK = 8;
const NEXT_START = 9;
const LAST_END = 10;
const LATENCY = 11;
const SERVER_FIELDS = 12;
const ACTIVE_IN = SERVER_FIELDS;
const WAITING_IN = ACTIVE_IN + THREADS;
const SERVER_SIZE = WAITING_IN + THREADS;

const INTS = HEADER + SERVERS * SERVER_SIZE;
const NUMBERS_AT = Math.ceil((INTS * 4) / 8) * 8;
const BYTES = NUMBERS_AT + SERVERS * CONTROL_NUMBERS * 8;

/** Units in which fractions are stored as integers. */
const ALLOWED_UNIT = 2 ** 14;
const LATENCY_UNIT = 10;
const WORK_UNIT = 16;
/** Bytes whose transfer counts as much work as a request. */
const WORK_BYTES = 2 ** 16;
/** Minimum number of requests in a round: with fewer, each would weigh too much. */
const LEAST_ROUND = 32;
/** Maximum time in milliseconds between two requests, however often a server reported an overload. */
const LONGEST_GAP = 1000;
/** Milliseconds for which a server counts as in use after a request. */
const IN_USE_MS = 1000;
/** EWMA weight of a new latency. */
const SMOOTHING = 1 / 8;

/** Memory in which threads share the counters of servers. */
export type ServerCounters = ArrayBuffer | SharedArrayBuffer;

let memory: ServerCounters = isMemoryShared() ? new SharedArrayBuffer(BYTES) : new ArrayBuffer(BYTES);
let ints = new Int32Array(memory);
/** Number of this thread among those that share the memory. */
let thread = 0;
Atomics.store(ints, THREADS_USED, 1);

/** Numbers of the threads that share the counters; 0 is the main one. */
const threads = new Set([0]);

export interface ThreadCounters {
  readonly memory: ServerCounters;
  readonly thread: number;
}

/** Reserves a number for another thread; undefined if all are taken. `leaveCounters` releases it. */
export function counterThread(): ThreadCounters | undefined {
  if (memory instanceof ArrayBuffer) return undefined;
  for (let number = 1; number < THREADS; number++) {
    if (threads.has(number)) continue;
    threads.add(number);
    countThreads();
    return { memory, thread: number };
  }
  return undefined;
}

/** Shares the counters of the thread that made `shared`. Call this before stores are opened. */
export function joinCounters(shared: ThreadCounters): void {
  memory = shared.memory;
  ints = new Int32Array(memory);
  thread = shared.thread;
}

/** Subtracts the requests that an ended thread may have left in flight, and releases its number. */
export function leaveCounters({ thread: number }: ThreadCounters): void {
  for (const place of places()) {
    const left = Atomics.exchange(ints, place + ACTIVE_IN + number, 0);
    Atomics.store(ints, place + WAITING_IN + number, 0);
    if (left === 0) continue;
    Atomics.sub(ints, place + ACTIVE, left);
    wake(ints, place);
  }
  threads.delete(number);
  countThreads();
}

function countThreads(): void {
  Atomics.store(ints, THREADS_USED, Math.max(...threads) + 1);
}

function wake(counters: Int32Array, place: number): void {
  Atomics.add(counters, place + CHANGES, 1);
  Atomics.notify(counters, place + CHANGES);
}

/** Limit of a flow's requests in flight at a server: a fixed number, or as many as prove useful up to `most`. */
export interface RequestLimit {
  readonly most: number;
  readonly isFixed: boolean;
  /** Identifies a fixed limit that several flows share, so that it counts once. */
  readonly owner?: object | undefined;
}

const limits = new Set<RequestLimit>();

/**
 * Limits the requests in flight at each server, until the returned function is called. The fixed limits of several
 * flows add up. If one flow has no fixed limit, the number may exceed that sum.
 */
export function limitRequests(limit: RequestLimit): () => void {
  const own = { ...limit };
  limits.add(own);
  countLimits();
  return () => {
    limits.delete(own);
    countLimits();
  };
}

function countLimits(): void {
  const owners = new Set<object>();
  const fixed = [...limits].filter(({ isFixed, owner }) => {
    if (!isFixed || (owner && owners.has(owner))) return false;
    if (owner) owners.add(owner);
    return true;
  });
  const found = [...limits].filter(({ isFixed }) => !isFixed);
  const sum = fixed.reduce((total, { most }) => Math.min(2 ** 30, total + most), 0);
  Atomics.store(ints, FIXED, sum);
  Atomics.store(ints, MOST_FOUND, Math.max(0, ...found.map(({ most }) => most)));
}

/** Requests at all servers that were used recently. */
export interface RequestsNow {
  readonly inFlight: number;
  /** Number of requests that are allowed. */
  readonly allowed: number;
}

/** Undefined if no server was used recently. */
export function requestsNow(): RequestsNow | undefined {
  let [inFlight, allowed] = [0, 0];
  const now = milliseconds();
  for (const place of places()) {
    const active = Atomics.load(ints, place + ACTIVE);
    if (active === 0 && ((now - Atomics.load(ints, place + LAST_END)) | 0) > IN_USE_MS) continue;
    inFlight += active;
    allowed += ServerShare.at(place).allowed;
  }
  return allowed === 0 ? undefined : { inFlight, allowed };
}

/** The round to which a started request belongs. */
export interface StartedRequest {
  readonly round: number;
}

/** A thread's view of the requests to a server. */
export class ServerShare {
  readonly #header = ints;
  readonly #thread = thread;
  readonly #ints: Int32Array;
  readonly #place: number;
  readonly #control: ConcurrencyControl;

  private constructor(counters: Int32Array, place: number, numbers: Float64Array) {
    this.#ints = counters;
    this.#place = place;
    this.#control = new ConcurrencyControl(numbers);
  }

  /** Returns the share of this thread in a server, by any name. */
  static of(server: string): ServerShare {
    return ServerShare.at(placeOf(server));
  }

  static at(place: number): ServerShare {
    const at = NUMBERS_AT + ((place - HEADER) / SERVER_SIZE) * CONTROL_NUMBERS * 8;
    return new ServerShare(ints, place, new Float64Array(memory, at, CONTROL_NUMBERS));
  }

  /** Returns a share that no other thread sees. */
  static alone(): ServerShare {
    return new ServerShare(new Int32Array(SERVER_SIZE), 0, new Float64Array(CONTROL_NUMBERS));
  }

  /** Limit of requests in flight, for all threads together; below 1 for one request a part of the time. */
  get allowed(): number {
    const { most, isFixed } = this.#limit();
    const found = this.#load(ALLOWED) / ALLOWED_UNIT || ConcurrencyControl.first(most);
    if (isFixed && !this.#control.isCareful(Date.now())) return most;
    return Math.min(most, found);
  }

  /** Milliseconds from a request to the end of its response, averaged over recent ones; 0 before the first. */
  get latency(): number {
    return this.#load(LATENCY) / LATENCY_UNIT;
  }

  tryStart(): StartedRequest | undefined {
    const allowed = this.allowed;
    if (this.#othersAreFirst(allowed) || this.wait > 0) return undefined;
    const most = Math.max(1, Math.floor(allowed));
    let active = this.#load(ACTIVE);
    for (;;) {
      if (active >= most) return undefined;
      const found = Atomics.compareExchange(this.#ints, this.#place + ACTIVE, active, active + 1);
      if (found === active) break;
      active = found;
    }
    this.#add(ACTIVE_IN + this.#thread, 1);
    if (allowed < 1) this.#store(NEXT_START, milliseconds() + this.#gap(allowed));
    return { round: this.#load(ROUND) };
  }

  /** Milliseconds until a request may start, if the limit is below one. */
  get wait(): number {
    if (this.allowed >= 1) return 0;
    const wait = (this.#load(NEXT_START) - milliseconds()) | 0;
    return wait > LONGEST_GAP ? 0 : Math.max(0, wait);
  }

  /** Records that a request is no longer in flight. */
  ended(): void {
    this.#add(ACTIVE, -1);
    this.#add(ACTIVE_IN + this.#thread, -1);
    this.#store(LAST_END, milliseconds());
    this.#wakeOthers();
  }

  /** Records a success and its latency in milliseconds. The request still counts as in flight. */
  succeeded({ round }: StartedRequest, latency: number, bytes: number): void {
    this.#noteLatency(latency);
    const limit = this.#limit();
    // with fewer requests than allowed, it does not show whether more would help
    if (this.#load(ACTIVE) < Math.floor(this.allowed)) return;
    if (this.#control.isCareful(Date.now())) {
      this.#allow(this.#control.succeeded(this.allowed, limit.most));
      return;
    }
    if (limit.isFixed || round !== this.#load(ROUND)) return;
    this.#add(ROUND_LATENCY, Math.round(latency * LATENCY_UNIT));
    this.#add(ROUND_WORK, Math.round((1 + bytes / WORK_BYTES) * WORK_UNIT));
    const requests = this.#add(ROUND_REQUESTS, 1) + 1;
    if (requests >= Math.max(LEAST_ROUND, Math.floor(this.allowed))) this.#endRound(limit.most);
  }

  /** Records a failure because of too many requests. */
  overloaded(latency: number): void {
    this.#noteLatency(latency);
    this.#allow(this.#control.overloaded(this.allowed, Date.now()));
    this.#newRound();
  }

  /**
   * Records whether requests of this thread wait. If other threads share the counters, returns the state to wait
   * on for their changes.
   */
  setWaiting(isWaiting: boolean): ChangeOfOthers | undefined {
    this.#store(WAITING_IN + this.#thread, isWaiting ? 1 : 0);
    const isShared = this.#ints === this.#header && this.#ofAll(THREADS_USED) > 1;
    if (!isWaiting || !isShared) return undefined;
    return { counters: this.#ints, place: this.#place + CHANGES, seen: this.#load(CHANGES) };
  }

  /** Returns the limit that results from all flows. */
  #limit(): RequestLimit {
    const [fixed, found] = [this.#ofAll(FIXED), this.#ofAll(MOST_FOUND)];
    if (fixed > 0 && found === 0) return { most: fixed, isFixed: true };
    return { most: Math.max(fixed, found || MAX_ALLOWED), isFixed: false };
  }

  #endRound(most: number): void {
    const lock = this.#place + LOCK;
    if (Atomics.compareExchange(this.#ints, lock, 0, 1) !== 0) return;
    const [work, latency] = [this.#load(ROUND_WORK), this.#load(ROUND_LATENCY)];
    if (work > 0 && latency > 0) {
      const allowed = this.allowed;
      const inFlight = Math.floor(allowed);
      this.#allow(this.#control.ended({ inFlight, rate: (inFlight * work) / latency }, allowed, most));
    }
    this.#newRound();
    Atomics.store(this.#ints, lock, 0);
  }

  #newRound(): void {
    this.#add(ROUND, 1);
    for (const count of [ROUND_REQUESTS, ROUND_LATENCY, ROUND_WORK]) this.#store(count, 0);
  }

  #allow(allowed: number): void {
    this.#store(ALLOWED, Math.max(1, Math.round(allowed * ALLOWED_UNIT)));
    this.#wakeOthers();
  }

  #noteLatency(latency: number): void {
    const before = this.#load(LATENCY);
    const now = latency * LATENCY_UNIT;
    this.#store(LATENCY, Math.round(before === 0 ? now : before + (now - before) * SMOOTHING));
  }

  /** Returns the milliseconds from one request to the next while the limit is below one. */
  #gap(allowed: number): number {
    return Math.min(LONGEST_GAP, Math.max(1, this.#load(LATENCY)) / LATENCY_UNIT / allowed);
  }

  /** True if another thread waits and this one already has its share. */
  #othersAreFirst(allowed: number): boolean {
    if (!this.#othersWait()) return false;
    let using = 1;
    for (let other = 0; other < this.#ofAll(THREADS_USED); other++) {
      if (other !== this.#thread && this.#load(ACTIVE_IN + other) + this.#load(WAITING_IN + other) > 0)
        using++;
    }
    return this.#load(ACTIVE_IN + this.#thread) >= Math.max(1, allowed / using);
  }

  #wakeOthers(): void {
    if (this.#othersWait()) wake(this.#ints, this.#place);
  }

  #othersWait(): boolean {
    const used = this.#ofAll(THREADS_USED);
    for (let other = 0; other < used; other++) {
      if (other !== this.#thread && this.#load(WAITING_IN + other) > 0) return true;
    }
    return false;
  }

  #load(field: number): number {
    return Atomics.load(this.#ints, this.#place + field);
  }

  #ofAll(field: number): number {
    return Atomics.load(this.#header, field);
  }

  #store(field: number, value: number): void {
    Atomics.store(this.#ints, this.#place + field, value);
  }

  #add(field: number, value: number): number {
    return Atomics.add(this.#ints, this.#place + field, value);
  }
}

/** State to wait on with `counterChange`. */
export interface ChangeOfOthers {
  readonly counters: Int32Array;
  readonly place: number;
  readonly seen: number;
}

/** Finds or takes the place of a server. If all are taken, the server shares one. */
function placeOf(server: string): number {
  let name = 1;
  for (const letter of server) name = (Math.imul(name, 31) + (letter.codePointAt(0) ?? 0)) | 0;
  if (name === 0) name = 1;
  for (let place = HEADER; place < INTS; place += SERVER_SIZE) {
    const found = Atomics.compareExchange(ints, place + NAME, 0, name);
    if (found === 0 || found === name) return place;
  }
  return HEADER + ((name >>> 0) % SERVERS) * SERVER_SIZE;
}

/** Lists the places of all servers with requests so far. */
function* places(): Generator<number> {
  for (let place = HEADER; place < INTS && Atomics.load(ints, place + NAME) !== 0; place += SERVER_SIZE)
    yield place;
}

/** Returns the time of a clock that all threads share. It wraps, like all counters. */
function milliseconds(): number {
  return Date.now() | 0;
}

/** Server of each opened bucket, by the name under which its requests are counted. */
const servers = new Map<string, string>();

/** Records the server of a bucket, which is not in the bucket's spec. */
export function noteBucketServer(bucket: string, server: string): void {
  servers.set(bucket, server);
}

/**
 * Returns the recent seconds from a request to the end of its response; undefined for a server without requests.
 */
export function serverLatency(spec: StoreSpec): number | undefined {
  const server = serverOf(spec);
  const latency = server === undefined ? 0 : ServerShare.of(server).latency;
  return latency > 0 ? latency / 1000 : undefined;
}

function serverOf(spec: StoreSpec): string | undefined {
  if (spec.kind === "zip-value") return serverOf(spec.store);
  if (spec.kind === "http") return new URL(spec.url).origin;
  return spec.kind === "s3" ? servers.get(spec.bucket) : undefined;
}
