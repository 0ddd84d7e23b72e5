import type { FlowEvent } from "../../src/index.ts";

/** A listener for a flow, and the warnings it has received: their messages, and the same after the path they name. */
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
