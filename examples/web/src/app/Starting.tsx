import firstShell from "./firstShell.html?raw";
import { Wordmark } from "./Wordmark";

/** What is there until the app is: on a first visit, the empty chat as index.html has it from the start. */
export function Starting() {
  return (
    <main className="h-full" aria-busy="true">
      <h1 className="sr-only">gemwire is starting</h1>
      {document.documentElement.dataset.first === "chat" ? (
        <div className="h-full" dangerouslySetInnerHTML={{ __html: firstShell }} />
      ) : (
        <div className="grid h-full place-items-center">
          <Wordmark className="text-3xl opacity-70" />
        </div>
      )}
    </main>
  );
}
