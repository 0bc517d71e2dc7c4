/** What the model thought before it answered, folded. */
export function Thinking({ text, live }: { text: string; live: boolean }) {
  return (
    <details className="group mb-3 rounded-md border border-line">
      <summary className="flex min-h-9 items-center gap-2 rounded-md px-3 text-sm text-soft marker:content-none">
        <span aria-hidden="true" className="transition-transform group-open:rotate-90">
          ›
        </span>
        {live ? <span className="text-wire">Thinking…</span> : "Thoughts"}
      </summary>
      <p className="px-3 pb-3 font-serif text-[0.9375rem] leading-relaxed whitespace-pre-wrap text-soft italic">
        {text.trim()}
      </p>
    </details>
  );
}
