import { afterEach, expect, test } from "vitest";
import { estimateCopy } from "../../../src/flows/keys/estimate-copy.ts";
import { planFlow } from "../../../src/flows/request/flow.ts";
import { copy, type FlowEvent } from "../../../src/index.ts";
import { nameMemoryStore } from "../../../src/stores/memory.ts";
import { emitRetry } from "../../../src/stores/remote/retry-events.ts";
import { ZarrflowError } from "../../../src/util/errors.ts";
import { makeHierarchy } from "../../support/made-hierarchy.ts";

const FROM = "memory:retry-source";
const TO = "memory:retry-target";
afterEach(() => {
  for (const name of ["retry-source", "retry-target"]) nameMemoryStore(name, undefined);
});

/** A source of which every call was made twice. */
async function nameSlowSource(): Promise<void> {
  const store = await makeHierarchy("v3");
  const retry = { store: "m", attempt: 1, wait: 1, error: new ZarrflowError("transient", "busy") };
  const slow = new Proxy(store, {
    get(target, property) {
      const value = Reflect.get(target, property);
      if (typeof value !== "function") return value;
      if (property !== "get" && property !== "list") return value.bind(target);
      return (key: string, ...rest: unknown[]) => {
        emitRetry({ ...retry, operation: property, key });
        return value.call(target, key, ...rest);
      };
    },
  });
  nameMemoryStore("retry-source", slow);
}

test("requests that are made again are reported while a flow is planned, estimated and run, and not after", async () => {
  await nameSlowSource();
  let events: FlowEvent["type"][] = [];
  const onEvent = ({ type }: FlowEvent) => events.push(type);
  const planned = await planFlow(FROM, TO, { onEvent });
  expect(new Set(events)).toEqual(new Set(["retry"]));
  events = [];
  await estimateCopy(planned, { onEvent });
  expect(new Set(events)).toEqual(new Set(["retry"]));
  events = [];
  await planFlow(FROM, TO);
  await estimateCopy(planned);
  expect(events).toEqual([]);
  await copy(FROM, TO, { onEvent });
  expect(events.slice(0, events.indexOf("plan"))).toContain("retry");
  expect(events.at(-1)).toBe("done");
});
