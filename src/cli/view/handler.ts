import { brotliDecompressSync } from "node:zlib";
import type { ViewedSource } from "../../flows/view/viewed-source.ts";
import { packageVersion } from "../../util/package-version.node.ts";
import type { RequestHandler } from "../server/serve-requests.ts";
import { viewAnswers } from "./answer.ts";
import { allowedPath, respond } from "./guard.ts";

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>zarrflow view</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page.css">
<script src="page.js" defer></script>
</head>
<body><noscript>This page needs JavaScript.</noscript></body>
</html>
`;

/** Answers the page's requests about a source: the page itself, and the data that it shows. */
export function viewHandler(source: ViewedSource, token: string): RequestHandler {
  const answers = viewAnswers(source, packageVersion());
  return async (request) => {
    const path = allowedPath(request, token);
    if (typeof path !== "string") return path;
    if (path === "") return respond(PAGE, "text/html; charset=utf-8");
    if (path === "page.css" || path === "page.js") {
      const { pages } = await import("./page-bytes.ts");
      const text = brotliDecompressSync(Buffer.from(pages[path], "base64"));
      return respond(text, path === "page.js" ? "text/javascript" : "text/css");
    }
    const answer = await answers(path, new URL(request.url).searchParams, request.signal);
    if (answer === undefined) return respond("not found\n", "text/plain", 404);
    return respond(answer.body, answer.headers.get("content-type") ?? "", answer.status);
  };
}
