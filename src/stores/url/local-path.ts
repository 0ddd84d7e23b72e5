import { ZarrflowError } from "../../util/errors.ts";
import { currentFolder, isOnWindows } from "../../util/platform.node.ts";

/** A drive, or a server, of Windows at the begin of a path. */
const WINDOWS_ROOT = /^(?:[a-z]:[\\/]|\\\\)/i;

/** A path with `/` between its segments, where it is one of Windows. */
export function slashed(path: string): string {
  return isOnWindows() || WINDOWS_ROOT.test(path) ? path.replaceAll("\\", "/") : path;
}

/** A path as another process would need it, without `.` and `..` segments and slashes at the end. */
export function absolutePath(path: string): string {
  const [, drive, rest = path] = /^([a-z]:)(\/.*)$/is.exec(path) ?? [];
  if (drive !== undefined) return `${drive}${resolved(rest)}`;
  if (path.startsWith("//") && isOnWindows()) return `/${resolved(path)}`;
  if (path.startsWith("/")) return resolved(path);
  const folder = slashed(currentFolder());
  return absolutePath(folder.startsWith("/") || folder === "" ? `/${folder}/${path}` : `${folder}/${path}`);
}

/** Without `.` and `..` segments and slashes at the end. */
function resolved(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return `/${segments.join("/")}`;
}

/** The path that a URL of a local file means. @throws `invalid-option` */
export function pathOfFileUrl(text: string): string {
  try {
    const { host, pathname, search, hash } = new URL(text);
    const isPlain = (host === "" || host === "localhost") && search === "" && hash === "";
    if (isPlain && !/%2f/i.test(pathname)) return decodeURIComponent(pathname).replace(/^\/(?=[a-z]:)/i, "");
  } catch {
    // not even a URL, or percent signs that do not encode a character
  }
  throw new ZarrflowError("invalid-option", "this is not a URL of a local file", {
    value: text,
    hint: "A URL of a local file looks like file:///path, with `?`, `#` and `%` percent-encoded.",
  });
}
