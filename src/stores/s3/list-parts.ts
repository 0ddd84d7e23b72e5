import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import type { UploadedPart } from "../upload.ts";
import type { S3Client } from "./s3-client.ts";
import { elements, textOf } from "./xml.ts";

/** Uploaded parts on the server, in order. */
interface ListedParts {
  readonly parts: readonly UploadedPart[];
  /** Time of the listing in milliseconds by the server's clock; NaN if the server does not state it. */
  readonly at: number;
}

/** Lists the parts of an upload; undefined if it was completed or aborted. */
export async function listParts(
  client: S3Client,
  { key, id }: { readonly key: string; readonly id: string },
  signal: AbortSignal | undefined,
): Promise<ListedParts | undefined> {
  const parts: UploadedPart[] = [];
  for (let marker = 0; ; ) {
    const query = { uploadId: id, "part-number-marker": String(marker) };
    const request = { method: "GET", root: "ListPartsResult", answers: [], signal } as const;
    const answer = await client.ask(key, query, request).catch((error: unknown) => {
      if (isZarrflowError(error, "source-changed")) return undefined;
      throw error;
    });
    if (answer === undefined) return undefined;
    for (const part of elements(answer.text, "Part")) {
      const [number, size] = [Number(textOf(part, "PartNumber")), Number(textOf(part, "Size"))];
      parts.push({ number, size, tag: textOf(part, "ETag") ?? "" });
    }
    const last = parts.at(-1)?.number ?? 0;
    if (textOf(answer.text, "IsTruncated") !== "true") {
      return { parts, at: Date.parse(answer.headers.get("date") ?? "") };
    }
    if (!(last > marker)) {
      throw new ZarrflowError("corrupt-store", "the server returns the same page again", { key });
    }
    marker = last;
  }
}
