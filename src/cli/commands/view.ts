import type { TreeArray } from "../../flows/tree.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { portOf, readingOf } from "../option-values.ts";
import { defineCommand } from "../parse-arguments.ts";
import { outputOptions, readingOptions } from "../shared-options.ts";
import { failureText } from "../text/failure.ts";
import { toJson } from "../text/results.ts";

export const command = defineCommand({
  usage: "URL",
  notes: [
    "Prints the address of the page, opens no browser, and runs until you press Ctrl-C. Only this machine can reach",
    "the page, and only with the token in its address. The page is read-only and loads nothing from elsewhere.",
  ],
  operands: [1, 1],
  options: {
    port: { type: "string", value: "N", summary: "the port to listen on; any free one by default" },
    ...readingOptions,
    ...outputOptions,
    json: { type: "boolean", summary: "print the address as JSON; errors as JSON on standard error" },
  },
  examples: [
    { line: "view era5.zarr", says: "all arrays of a group" },
    { line: "view image.ome.zarr.zip --port 8080", says: "an image in a zip, on a port of your choice" },
    { line: "view s3://bucket/era5.zarr --anonymous", says: "public data in S3" },
  ],
  async run([url = ""], values, terminal) {
    const { signal } = terminal;
    const port = portOf(values.port);
    const { ViewedSource } = await import("../../flows/view/viewed-source.ts");
    const source = await ViewedSource.open(url, readingOf(values));
    try {
      await assertShown(source.tree(signal), url);
      const { serveUntil } = await import("../server/serve-requests.ts");
      const { makeToken, viewHandler } = await import("../view/handler.ts");
      const token = makeToken();
      const onFailure = (error: unknown) => terminal.printLine(failureText(error));
      await serveUntil(signal, viewHandler(source, token), { port, onFailure }, async (server) => {
        const address = `${server}${token}/`;
        await terminal.write(values.json ? `${toJson({ url: address })}\n` : `${address}\n`);
        if (!values.quiet && !values.json) terminal.printLine(`showing ${url}; press Ctrl-C to stop`);
      });
    } finally {
      await source.close();
    }
  },
});

/** @throws if there is nothing to draw: no array, or a single array without numbers. */
async function assertShown(
  nodes: AsyncIterable<{ readonly kind: string; readonly path: string }>,
  url: string,
): Promise<void> {
  for await (const node of nodes) {
    if (node.kind !== "array") continue;
    const { dataType } = node as TreeArray;
    if (node.path !== "" || /^(?:bool|u?int|float|complex|datetime|timedelta)/.test(dataType)) return;
    throw new ZarrflowError("unsupported-operation", `values of ${dataType} cannot be drawn`, {
      url,
      hint: `Print them with \`zarrflow slice ${url} --format json\`, or view the group that holds the array.`,
    });
  }
  throw new ZarrflowError("not-found", `no arrays in \`${url}\``, {
    url,
    hint: "Run `zarrflow tree` to see what is there.",
  });
}
