import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import * as api from "../src/index.ts";
import * as slabs from "../src/run/slabs/read-slabs.ts";
import { MemoryStore, nameMemoryStore } from "../src/stores/memory.ts";
import * as requests from "../src/stores/remote/fetch-with-timeout.ts";
import { onRetry } from "../src/stores/remote/retry-requests.ts";
import * as rateLimit from "../src/stores/with/rate-limit.ts";
import * as pauses from "../src/util/pause.ts";
import { BUCKET, type S3Server, serveBucket } from "./stores/s3-server.ts";
import { all, valuesIn } from "./support/consume.ts";
import { given } from "./support/given.ts";
import { declared, NEW, SUBJECTS, type World } from "./support/option-subjects.ts";
import { s3Environment, stubEnvironment } from "./support/s3-environment.ts";
import { oneIn } from "./support/samples.ts";

describe("every option of every function", () => {
  it("is of a function that is called here", () => {
    expect(Object.keys(SUBJECTS).sort()).toEqual([...declared.keys()].sort());
  });

  it.each([...declared])(
    "%s: a name that is none is refused, with the one that is near",
    async (name, options) => {
      const world = { group: "memory:none", array: "memory:none", target: "memory:none-target" };
      const [known = ""] = [...options].sort((a, b) => b.length - a.length);
      const misspelt = `${known.slice(0, -2)}${known.slice(-1)}`;
      nameMemoryStore("none", await given({ arrays: { t: { ...NEW, values: null } } }));
      const subject = SUBJECTS[name] as (options: object, world: World) => Promise<unknown>;
      const array =
        /^(open|renameNode|resizeArray|setAttributes|deleteNode|append|diff|formatSlice|pyramid|planSlice|slice|writeRegion|openArray)$/;
      const at = array.test(name) ? { ...world, array: "memory:none/t" } : world;
      const error = await subject({ [misspelt]: true }, at).catch((thrown: unknown) => thrown);
      const [message, hint] = [misspelt, known].map((text) => expect.stringContaining(text));
      expect(error).toMatchObject({ code: "invalid-option", message, details: { hint } });
    },
  );
});

describe("options of reading have their effect on every function that has them:", () => {
  let server: S3Server;
  let isMissing403 = false;
  let isFailing = false;

  beforeAll(async () => {
    server = await serveBucket({ open: true });
    server.fault = async (response, { key, method }) => {
      const isRefused = isMissing403 && method !== "PUT" && key !== "" && !server.objects.has(key);
      if (isRefused || isFailing) response.writeHead(isFailing ? 500 : 403).end();
      return isRefused || isFailing;
    };
    stubEnvironment(s3Environment(server.endpoint));
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await server.close();
  });

  const HTTP = "http://data.test";
  const worldOf = (name: string, url = `s3://${BUCKET}`): World => {
    const target = { diff: `${url}/g/t`, append: "memory:effects/t", clean: `${url}/g` }[name];
    return { group: `${url}/g`, array: `${url}/g/t`, target: target ?? "memory:effects-new" };
  };

  beforeEach(async () => {
    const counting = { ...NEW, values: (i: number) => i + 1 };
    const store = await given({ zarrFormat: "v2", arrays: { t: counting, u: counting } });
    nameMemoryStore("effects", store);
    nameMemoryStore("effects-new", new MemoryStore());
    server.objects.clear();
    for (const [key, bytes] of await valuesIn(store, "g")) server.objects.set(key, Buffer.from(bytes));
    server.requests.length = 0;
    for (const name of ["withRateLimit", "requestTurns", "paceOf"] as const) vi.spyOn(rateLimit, name);
    vi.spyOn(slabs, "readSlabs");
    isMissing403 = false;
    isFailing = false;
    served.mockClear();
  });
  afterEach(() => {
    vi.restoreAllMocks();
    nameMemoryStore("effects", undefined);
    nameMemoryStore("effects-new", undefined);
  });

  /** What comes of a call: what it gives, or the code of its error. */
  const outcome = async (name: string, options: object, url?: string): Promise<unknown> => {
    const base = name === "append" ? { dim: "y" } : name.startsWith("create") ? { ifExists: "replace" } : {};
    const subject = SUBJECTS[name] as (options: object, world: World) => Promise<unknown>;
    try {
      return { given: await subject({ ...base, ...options }, worldOf(name, url)) };
    } catch (error) {
      return { code: (error as { code?: string }).code };
    }
  };

  const having = (option: string) =>
    [...declared].flatMap(([name, options]) => (options.includes(option) ? [name] : []));
  const readers = (option: string) => having(option).filter((name) => !/^(create|simulatePlan)/.test(name));

  /** A test for one function in three, and in the long run for all; each option leaves out others. */
  function effect(option: string, names: readonly string[], run: (name: string) => Promise<void>): void {
    names.forEach((name, i) => {
      it(`${option}, ${name}`, oneIn(3, i + option.length), () => run(name));
    });
  }

  effect("anonymous", readers("anonymous"), async (name) => {
    const areSigned = () => server.requests.map(({ headers }) => headers.authorization !== undefined);
    await outcome(name, {});
    expect(areSigned()).toContain(true);
    server.requests.length = 0;
    await outcome(name, { anonymous: true });
    expect(areSigned()).toContain(false);
    expect(areSigned()).not.toContain(true);
  });

  effect("missing403", readers("missing403"), async (name) => {
    server.objects.delete("g/t/0.0");
    for (const key of [...server.objects.keys()].filter((one) => one.endsWith(".zattrs")))
      server.objects.delete(key);
    isMissing403 = true;
    const without = await outcome(name, {});
    expect(without).not.toEqual(await outcome(name, { missing403: true }));
  });

  effect("beforeRequest", readers("beforeRequest"), async (name) => {
    const beforeRequest = vi.fn(async () => {});
    await outcome(name, { beforeRequest });
    expect(beforeRequest).toHaveBeenCalled();
  });

  effect("fetch", readers("fetch"), async (name) => {
    const fetch = vi.fn(globalThis.fetch);
    await outcome(name, { fetch });
    expect(server.requests.length).toBeGreaterThan(0);
    expect(fetch).toHaveBeenCalledTimes(server.requests.length);
  });

  /** A web server of the same keys, without a network. */
  const served = vi.fn(async (input: RequestInfo | URL, init?: RequestInit) => {
    const { pathname } = new URL(new Request(input, init).url);
    const bytes = server.objects.get(decodeURIComponent(pathname.slice(1)));
    return bytes ? new Response(new Uint8Array(bytes)) : new Response(null, { status: 404 });
  });
  const servedRequests = () => served.mock.calls.map(([input, init]) => new Request(input, init));
  /** Nothing is cleaned on a web server, and the stored plan is one of folders. */
  const ofServers = (option: string) => readers(option).filter((name) => !/^(?:clean|readPlan)$/.test(name));

  effect("headers", ofServers("headers"), async (name) => {
    await outcome(name, { fetch: served, headers: { "x-key": "7" } }, HTTP);
    const sent = servedRequests().map(({ headers }) => headers.get("x-key"));
    expect(new Set(sent)).toEqual(new Set(["7"]));
  });

  effect("query", ofServers("query"), async (name) => {
    await outcome(name, { fetch: served, query: "key=7" }, HTTP);
    const sent = servedRequests().map(({ url }) => new URL(url).search);
    expect(new Set(sent)).toEqual(new Set(["?key=7"]));
  });

  effect("retry", readers("retry"), async (name) => {
    isFailing = true;
    vi.spyOn(pauses, "pause").mockResolvedValue();
    const sent = vi.spyOn(requests, "fetchWithTimeout");
    const attempts: number[] = [];
    const end = onRetry(({ attempt }) => attempts.push(attempt));
    await outcome(name, { retry: { attempts: 3, timeout: "7s" } });
    end();
    expect(Math.max(...attempts)).toBe(2);
    expect(new Set(sent.mock.calls.map(([, , , { silence }]) => silence))).toEqual(new Set([7000]));
  });

  effect("maxMetadata", readers("maxMetadata"), async (name) => {
    const limited = JSON.stringify(await outcome(name, { maxMetadata: 1 }));
    expect(limited).toMatch(/resource-limit|document is too large/);
  });

  effect("requestsPerSecond", readers("requestsPerSecond"), async (name) => {
    await outcome(name, { requestsPerSecond: 12_345 });
    const { requestTurns, paceOf } = rateLimit;
    expect(name === "context" ? paceOf : requestTurns).toHaveBeenCalledWith(12_345);
  });

  effect("bytesPerSecond", readers("bytesPerSecond"), async (name) => {
    await outcome(name, { bytesPerSecond: "123MB" });
    if (name === "context") return expect(rateLimit.paceOf).toHaveBeenCalledWith(123e6);
    const limits = expect.objectContaining({ bytesPerSecond: 123e6 });
    expect(rateLimit.withRateLimit).toHaveBeenCalledWith(expect.anything(), limits);
  });

  effect("signal", having("signal"), async (name) => {
    expect(await outcome(name, { signal: AbortSignal.abort() })).toEqual({ code: "aborted" });
  });

  effect("maxMemory", readers("maxMemory"), async (name) => {
    const how =
      name === "validate" ? { deep: true } : /opy$|onvert$|asStore/.test(name) ? { chunks: { y: 3 } } : {};
    expect(await outcome(name, { ...how, maxMemory: 20 })).toEqual({ code: "budget-too-small" });
  });

  it.each(["slice", "digest", "digestTree"])("threads, scratch and strategy, %s", async (name) => {
    const scratch = "memory:effects-scratch";
    await outcome(name, { threads: 3, strategy: "direct", scratch });
    const given = expect.objectContaining({ threads: 3, strategy: "direct", scratch: expect.anything() });
    expect(slabs.readSlabs).toHaveBeenCalledWith(expect.anything(), expect.anything(), given);
  });
});

it("mustChange, isLeftOut and onLeftOut have their effect", async () => {
  const store = await given({ arrays: { t: { ...NEW, values: null } } });
  const same = api.plan(store, new MemoryStore(), { chunks: { y: 2, x: 2 }, mustChange: true });
  await expect(same).rejects.toMatchObject({ code: "invalid-option" });
  const onLeftOut = vi.fn();
  const options = { isLeftOut: (path: string) => path === "t", onLeftOut };
  expect(await all(api.walk(await api.openGroup(store), options))).toEqual([]);
  expect(onLeftOut).toHaveBeenCalledWith("t");
});
