import { Wordmark } from "./Wordmark";

export function Starting() {
  return (
    <main className="grid h-full place-items-center" aria-busy="true">
      <h1 className="sr-only">gemwire is starting</h1>
      <Wordmark className="text-3xl opacity-70" />
    </main>
  );
}
