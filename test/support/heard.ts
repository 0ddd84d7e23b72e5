import type { FlowEvent } from "../../src/index.ts";

/** The warnings of a flow that has this listener: what they say, alone, and behind the path that they name. */
export function heard() {
  const messages: string[] = [];
  const warnings: string[] = [];
  const onEvent = (event: FlowEvent | { readonly type: string }): void => {
    if (event.type !== "warning") return;
    const { path, message } = event as Extract<FlowEvent, { type: "warning" }>;
    messages.push(message);
    warnings.push(`${path ?? ""}: ${message}`);
  };
  return { messages, warnings, onEvent };
}
