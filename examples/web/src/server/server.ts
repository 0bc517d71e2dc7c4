import { GemwireError } from "gemwire";
import { asSentence } from "../engine/failure";

/** A machine whose models answer instead of the tab's. */
export interface Server {
  /** Its address as the reader wrote it. */
  url: string;
  /** Empty for servers that ask for none. */
  key: string;
  model: string;
}

const maxModels = 1000;
/** The most of an error's own words that is shown. */
const mostWords = 400;
/** How long a server may take for its list, in milliseconds. */
const patience = 10_000;

/** serverOf knows a server among any values. */
export function serverOf(value: unknown): Server | null {
  if (typeof value !== "object" || value === null) return null;
  const { url, key, model } = value as Record<string, unknown>;
  return typeof url === "string" && typeof key === "string" && typeof model === "string" ? { url, key, model } : null;
}

/** endpoint is where a server has a path of OpenAI's API, whether its address ends in /v1 or not. */
export function endpoint(address: string, path: string): URL {
  const typed = address.trim();
  const whole = /^https?:\/\//i.test(typed) ? typed : `http://${typed}`;
  let url: URL;
  try {
    url = new URL(whole);
  } catch {
    throw new GemwireError("bad-argument", `“${typed}” is no address.`, {
      advice: "An address looks like http://192.168.0.10:8080.",
    });
  }
  if (url.username !== "" || url.password !== "")
    throw new GemwireError("bad-argument", "The address has a user name or a password in it.", {
      advice: "Use the field for the API key.",
    });
  const base = url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
  return new URL(`${base}/v1/${path}`, url);
}

/** hostOf is how a server is called in a sentence. */
export function hostOf(address: string): string {
  try {
    return endpoint(address, "").host;
  } catch {
    return address.trim();
  }
}

const loopback = /^(localhost|127(\.\d+){3}|\[::1\]|.*\.localhost)$/;

/** ask sends a request to a server; whatever it refuses is an error in the reader's words. */
export async function ask(
  { url, key }: Pick<Server, "url" | "key">,
  path: string,
  init: { signal: AbortSignal; body?: unknown },
): Promise<Response> {
  const address = endpoint(url, path);
  if (location.protocol === "https:" && address.protocol === "http:" && !loopback.test(address.hostname))
    throw new GemwireError("network", `This page came over HTTPS, so the browser lets it ask no server over HTTP.`, {
      advice:
        "Start the server with gemwire serve --https and use its https:// address, or open the app from the server.",
    });
  let response: Response;
  try {
    response = await fetch(address, {
      signal: init.signal,
      credentials: "omit",
      redirect: "error", // a key goes to nobody else
      headers: {
        Accept: "application/json",
        ...(key.trim() === "" ? {} : { Authorization: `Bearer ${key.trim()}` }),
        ...(init.body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(init.body === undefined ? {} : { method: "POST", body: JSON.stringify(init.body) }),
    });
  } catch (error) {
    throw unreached(error, address);
  }
  if (!response.ok) throw await refused(response, address);
  return response;
}

/**
 * What a request that had no answer means. A page cannot tell a server that is away from one that does not allow it.
 */
function unreached(error: unknown, { host, origin }: URL): unknown {
  if (error instanceof DOMException && error.name === "AbortError") return error;
  if (error instanceof DOMException && error.name === "TimeoutError")
    return new GemwireError("network", `${host} did not answer in time.`, { advice: "Check that the server runs." });
  if (!navigator.onLine && !loopback.test(new URL(origin).hostname))
    return new GemwireError("network", "This device is offline.", { advice: "Connect it and try again." });
  if (origin === location.origin)
    return new GemwireError("network", `${host} does not respond.`, { advice: "Check that the server runs." });
  return new GemwireError("network", `${host} does not respond, or does not allow this page.`, {
    advice: `Check the address, and start the server with: gemwire serve --cors ${location.origin}`,
  });
}

/** The error of a response, in OpenAI's form or another. */
async function refused(response: Response, { host }: URL): Promise<GemwireError> {
  const body = (await response.json().catch(() => null)) as unknown;
  const { message, code } = errorIn(body);
  const said = message === "" ? "" : ` It says: ${asSentence(message)}`;
  switch (response.status) {
    case 401:
      return new GemwireError("bad-argument", `${host} needs an API key, or refuses this one.`, {
        advice: "Enter its key on the Settings page.",
      });
    case 404:
      return code === "model_not_found"
        ? new GemwireError("not-found", `${host} has no such model.`, {
            advice: "Choose another on the Settings page.",
          })
        : new GemwireError("not-found", `${host} is no server with OpenAI's API.`, {
            advice: "Check the address: it must be that of gemwire serve, or of another server with that API.",
          });
    case 429:
    case 503:
      return new GemwireError("busy", `${host} has too much to do.`, { advice: "Try again in a moment." });
  }
  return (
    failed(host, message, code) ??
    new GemwireError("internal", `${host} answered ${response.status}.${said}`, { advice: "" })
  );
}

/** failed is what a server says of an answer that it does not give, or null where it says nothing. */
export function failed(host: string, message: string, code: string): GemwireError | null {
  if (code === "context_length_exceeded") return new GemwireError("context-full", message);
  return message === "" ? null : new GemwireError("internal", `${host}: ${asSentence(message)}`, { advice: "" });
}

/** errorIn reads an error in OpenAI's form. */
export function errorIn(body: unknown): { message: string; code: string } {
  const { error } = (body ?? {}) as { error?: unknown };
  const { message, code } = (typeof error === "object" && error !== null ? error : {}) as Record<string, unknown>;
  return {
    message: typeof message === "string" ? message.slice(0, mostWords) : "",
    code: typeof code === "string" ? code : "",
  };
}

/** listModels asks a server which models it has; with that, whether it is one. */
export async function listModels(server: Pick<Server, "url" | "key">): Promise<string[]> {
  const response = await ask(server, "models", { signal: AbortSignal.timeout(patience) });
  const body = (await response.json().catch(() => null)) as unknown;
  const { data } = (body ?? {}) as { data?: unknown };
  if (!Array.isArray(data))
    throw new GemwireError("not-found", `${hostOf(server.url)} is no server with OpenAI's API.`, {
      advice: "Check the address: it must be that of gemwire serve, or of another server with that API.",
    });
  return data.slice(0, maxModels).flatMap((item: unknown) => {
    const { id } = (item ?? {}) as { id?: unknown };
    return typeof id === "string" && id !== "" ? [id] : [];
  });
}
