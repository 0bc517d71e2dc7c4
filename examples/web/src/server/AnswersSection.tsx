import { useEffect, useState } from "react";
import { useChat } from "../chat/chatStore";
import { failureOf } from "../engine/failure";
import { useSettings } from "../settings/settingsStore";
import { Button } from "../ui/Button";
import { Field, inputLook } from "../ui/Field";
import { Section } from "../ui/Section";
import { answerFromServer, answerHere, serverInUse } from "./answerFrom";
import { hostOf, listModels } from "./server";

type Test =
  { state: "idle" } | { state: "asking" } | { state: "list"; models: string[] } | { state: "failed"; sentence: string };

/** Whether the page came from a server that answers too, with or without a key. */
function useOwnServer(): boolean {
  const [own, setOwn] = useState(false);
  useEffect(() => {
    const controller = new AbortController();
    fetch(new URL("/v1/models", location.origin), { signal: controller.signal, credentials: "omit" })
      .then((response) => {
        const json = (response.headers.get("Content-Type") ?? "").includes("json");
        if (json && (response.ok || response.status === 401)) setOwn(true);
      })
      .catch(() => undefined); // there is none
    return () => controller.abort();
  }, []);
  return own;
}

/** Where answers are computed: in the tab, or by a server. */
export function AnswersSection() {
  const settings = useSettings();
  const used = useSettings(serverInUse);
  const busy = useChat((state) => state.run !== null);
  const own = useOwnServer();
  const [url, setUrl] = useState(settings.server?.url ?? "");
  const [key, setKey] = useState(settings.server?.key ?? "");
  const [model, setModel] = useState(settings.server?.model ?? "");
  const [test, setTest] = useState<Test>({ state: "idle" });

  const ask = async (address: string) => {
    setTest({ state: "asking" });
    try {
      const models = await listModels({ url: address, key });
      setTest({ state: "list", models });
      if (!models.includes(model)) setModel(models[0] ?? "");
    } catch (error) {
      const { sentence, advice } = failureOf(error);
      setTest({ state: "failed", sentence: `${sentence} ${advice}`.trim() });
    }
  };
  const change = (set: (value: string) => void) => (value: string) => {
    set(value);
    setTest({ state: "idle" });
  };

  return (
    <Section
      title="Who answers"
      intro={
        "This tab, or a machine that runs gemwire serve. With a server, what you write and attach is sent to it; " +
        "chats stay in this browser."
      }
    >
      {used && (
        <p className="mb-3 flex flex-wrap items-center gap-3 text-sm" role="status">
          <span>
            {used.model} on {hostOf(used.url)} answers.
          </span>
          <Button disabled={busy} onClick={answerHere}>
            Answer in this tab
          </Button>
        </p>
      )}
      {own && url !== location.origin && (
        <p className="mb-3 flex flex-wrap items-center gap-3 text-sm">
          <span>This page comes from a server that can answer.</span>
          <Button
            onClick={() => {
              setUrl(location.origin);
              void ask(location.origin);
            }}
          >
            Choose this server
          </Button>
        </p>
      )}
      <form
        aria-label="Server that answers"
        className="grid items-end gap-3 sm:grid-cols-[1fr_1fr_auto]"
        onSubmit={(event) => {
          event.preventDefault();
          void ask(url);
        }}
      >
        <Field label="Address">
          {(ids) => (
            <input
              {...ids}
              spellCheck={false}
              autoCapitalize="none"
              inputMode="url"
              placeholder="http://192.168.0.10:8080"
              className={inputLook}
              value={url}
              onChange={({ target }) => change(setUrl)(target.value)}
            />
          )}
        </Field>
        <Field label="API key, if it needs one">
          {(ids) => (
            <input
              {...ids}
              type="password"
              autoComplete="off"
              className={inputLook}
              value={key}
              onChange={({ target }) => change(setKey)(target.value)}
            />
          )}
        </Field>
        <Button type="submit" className="!min-h-10" disabled={url.trim() === "" || test.state === "asking"}>
          Test the connection
        </Button>
      </form>
      <div aria-live="polite" className="mt-3 text-sm">
        {test.state === "asking" && <p className="text-soft">Connecting…</p>}
        {test.state === "failed" && <p className="text-danger">{test.sentence}</p>}
        {test.state === "list" && test.models.length === 0 && (
          <p className="text-soft">The server answers, and has no models. Put one there with gemwire pull.</p>
        )}
      </div>
      {test.state === "list" && test.models.length > 0 && (
        <div className="flex flex-wrap items-end gap-3">
          <Field label="Model">
            {(ids) => (
              <select {...ids} className={inputLook} value={model} onChange={({ target }) => setModel(target.value)}>
                {test.models.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            )}
          </Field>
          <Button
            look="solid"
            className="!min-h-10"
            disabled={busy}
            onClick={() => answerFromServer({ url: url.trim(), key, model })}
          >
            Let this server answer
          </Button>
        </div>
      )}
      <p className="mt-3 max-w-prose text-[0.8125rem] text-soft">
        The key is kept in this browser. Repetition penalty, bounds for thoughts and repetitions, and adapters are the
        server’s own: the API that is used, OpenAI’s, has no fields for them.
      </p>
    </Section>
  );
}
