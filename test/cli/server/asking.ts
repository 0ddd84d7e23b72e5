import { type RequestOptions, request } from "node:http";

/** The status of an answer to a request as no parser of URLs has touched it, or with headers that `fetch` does not send. */
export function statusOf(url: string, options: RequestOptions): Promise<number | undefined> {
  const { hostname, port, pathname } = new URL(url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path: pathname, ...options }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

/** A promise that is resolved from outside. */
export function deferred<T = void>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let resolve = (_: T) => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
