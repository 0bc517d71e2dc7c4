/** A model that `gemwire serve` offers at /models. */
export interface ServedModel {
  name: string;
  from: string;
  url: string;
  size: number;
  sha256: string | null;
  /** Files that it is split into; 1 for most. */
  parts: number;
}

const maxModels = 1000;
/** How long a server in the same network may take for its list, in milliseconds. */
const patience = 10_000;

/** parseServed reads the list of a server, leaving out what is not a model. */
export function parseServed(value: unknown, base: string): ServedModel[] {
  if (!Array.isArray(value)) throw new Error("This server did not send a list of models. Is it gemwire serve?");
  return value.slice(0, maxModels).flatMap((item: unknown) => {
    if (typeof item !== "object" || item === null) return [];
    const { name, url, size, sha256, parts, from } = item as Record<string, unknown>;
    if (typeof name !== "string" || typeof url !== "string" || typeof size !== "number" || !(size >= 0)) return [];
    const address = new URL(url, base);
    if (address.protocol !== "http:" && address.protocol !== "https:") return [];
    return [
      {
        name,
        size,
        url: address.href,
        from: typeof from === "string" ? from : "",
        sha256: typeof sha256 === "string" ? sha256 : null,
        parts: typeof parts === "number" ? parts : 1,
      },
    ];
  });
}

/** listServed asks a server what it has. The page's own server is the empty address. */
export async function listServed(address: string, signal?: AbortSignal): Promise<ServedModel[]> {
  const base = new URL(
    address.trim() === "" ? "/" : /^https?:\/\//.test(address) ? address : `http://${address}`,
    location.href,
  ).href;
  const response = await fetch(new URL("/models", base), {
    signal: signal ?? AbortSignal.timeout(patience),
    credentials: "omit",
    headers: { Accept: "application/json" },
  });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  if (!(response.headers.get("Content-Type") ?? "").includes("json"))
    throw new Error("This server is not gemwire serve.");
  return parseServed(await response.json(), base);
}
