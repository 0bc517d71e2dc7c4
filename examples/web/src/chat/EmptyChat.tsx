import { pageHref } from "../app/route";
import { useEngine, type Engine } from "../engine/engineStore";
import { serverInUse } from "../server/answerFrom";
import { hostOf } from "../server/server";
import { useSettings } from "../settings/settingsStore";
import { useChat } from "./chatStore";

const forNano = [
  "What color is the sky?",
  "What is the opposite of hot?",
  "Tell me a joke.",
  "What is the capital of Austria?",
];
const forOthers = [
  "Explain how a heat pump works, to a ten-year-old.",
  "Plan three vegetarian dinners that share their ingredients.",
  "Write a Go function that reverses the words of a sentence.",
  "What should I ask before I sign a rental contract?",
];

/** What is true of the model now, in a sentence. */
function whereItRuns(engine: Engine): string {
  switch (engine.state) {
    case "ready":
      return `The model ${engine.label} runs here, on your ${engine.model.info.device === "gpu" ? "GPU" : "CPU"}.`;
    case "loading":
      return `The model ${engine.label} is being loaded.`;
    case "failed":
      return `The model ${engine.label} is not open. Below is why, and what to do.`;
    case "closed":
      return "No model is open.";
  }
}

/** A chat before its first question. */
export function EmptyChat() {
  const engine = useEngine((state) => state.engine);
  const ask = useChat((state) => state.ask);
  const server = useSettings(serverInUse);
  const nano = !server && (engine.state === "closed" || engine.label === "nano");
  const ready = server !== null || engine.state === "ready";
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto w-full max-w-[46rem] px-3 pt-[16vh] pb-6 sm:px-6">
        <div className="wire pl-9 sm:pl-11">
          <span className="gem gem-answer !top-3.5" aria-hidden="true" />
          <h2 className="font-serif text-[1.75rem] leading-tight tracking-tight sm:text-4xl">Ask your own machine.</h2>
          <p className="mt-3 max-w-[34rem] text-soft">
            {nano ? (
              <>
                A small model is built in, so you can try it at once. It answers easy questions and makes mistakes; for
                everything else{" "}
                <a href={pageHref.models} className="text-accent underline underline-offset-2">
                  choose a real Gemma
                </a>
                .
              </>
            ) : (
              <>{server ? `The model ${server.model} answers on ${hostOf(server.url)}.` : whereItRuns(engine)}</>
            )}
          </p>
          <ul className="mt-6 grid max-w-[34rem] gap-x-6 sm:grid-cols-2">
            {(nano ? forNano : forOthers).map((question) => (
              <li key={question} className="border-t border-line">
                <button
                  type="button"
                  disabled={!ready}
                  onClick={() => void ask(question)}
                  className="w-full py-2.5 text-left text-[0.9375rem] hover:text-accent disabled:text-soft"
                >
                  {question}
                </button>
              </li>
            ))}
          </ul>
        </div>
      </div>
    </div>
  );
}
