import { useState } from "react";
import { useSettings } from "../settings/settingsStore";
import { Button } from "../ui/Button";
import { Field, inputLook } from "../ui/Field";
import { bytes } from "../ui/format";
import { Section } from "../ui/Section";
import { listServed, type ServedModel } from "./localServer";
import { PlanLine } from "./PlanLine";
import { startModel } from "./startModel";
import { useStoredModels } from "./storedModels";
import { useAcquire } from "./useAcquire";

type Answer =
  | { state: "idle" }
  | { state: "asking" }
  | { state: "list"; models: ServedModel[] }
  | { state: "failed"; sentence: string };

/** Models of a machine that runs `gemwire serve`: this one, or one in the same network. */
export function ServerSection() {
  const settings = useSettings();
  const [address, setAddress] = useState(settings.servers[0] ?? location.origin);
  const [answer, setAnswer] = useState<Answer>({ state: "idle" });
  const ask = async () => {
    setAnswer({ state: "asking" });
    try {
      const models = await listServed(address);
      setAnswer({ state: "list", models });
      settings.set({ servers: [address] });
    } catch (error) {
      const reason =
        error instanceof TypeError || error instanceof DOMException
          ? unanswered()
          : error instanceof Error
            ? error.message
            : String(error);
      setAnswer({ state: "failed", sentence: reason });
    }
  };
  return (
    <Section
      title="From gemwire serve"
      intro={
        <>
          Models from Ollama or a folder, on a machine that runs{" "}
          <code className="font-mono text-xs">gemwire serve</code>.
        </>
      }
    >
      <form
        className="flex flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <div className="min-w-0 flex-1 basis-56">
          <Field label="Server">
            {(ids) => (
              <input
                {...ids}
                spellCheck={false}
                className={inputLook}
                value={address}
                onChange={({ target }) => setAddress(target.value)}
              />
            )}
          </Field>
        </div>
        <Button type="submit" className="!min-h-10">
          Show its models
        </Button>
      </form>
      <div aria-live="polite" className="mt-3 text-sm">
        {answer.state === "asking" && <p className="text-soft">Connecting…</p>}
        {answer.state === "failed" && <p className="text-danger">{answer.sentence}</p>}
        {answer.state === "list" && answer.models.length === 0 && (
          <p className="text-soft">
            This server has no models. Start it with a folder of GGUF files, or pull one with Ollama.
          </p>
        )}
      </div>
      {answer.state === "list" && answer.models.length > 0 && (
        <ul className="divide-y divide-line border-y border-line">
          {answer.models.map((model) => (
            <Served key={model.url} model={model} />
          ))}
        </ul>
      )}
    </Section>
  );
}

const unanswered = () =>
  navigator.onLine
    ? "The server does not respond, or does not allow requests from this page."
    : "This device is offline, and the server does not respond.";

function Served({ model }: { model: ServedModel }) {
  const download = useStoredModels((state) => state.download);
  const { name, url, size, sha256, parts, from } = model;
  const file = keptName(name);
  const { free, start, panel } = useAcquire({
    file,
    shown: name,
    source: url,
    size,
    begin: (origin) => download(url, { name: file, origin, ...(sha256 ? { sha256 } : {}) }),
  });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 py-3">
      <div className="min-w-0 flex-1 basis-60">
        <p className="font-medium [overflow-wrap:anywhere]">{name}</p>
        <p className="text-[0.8125rem] text-soft">
          {bytes(size)}
          {from && ` · ${from}`}
          {parts > 1 && ` · ${parts} files`}
        </p>
        <PlanLine source={url} name={name} />
      </div>
      <div className="flex gap-2">
        <Button aria-label={`Use ${name} from the server`} onClick={() => startModel({ kind: "url", url, name })}>
          Use
        </Button>
        <Button icon="download" disabled={!free} aria-label={`Keep ${name}`} onClick={start}>
          Keep
        </Button>
      </div>
      {panel}
    </li>
  );
}

/** The name of a file in the browser's storage for a model that a server calls so. */
function keptName(name: string): string {
  return name.endsWith(".gguf") ? name : `${name.replaceAll(/[/:]/g, "-")}.gguf`;
}
