import type { DataReport, PreviewExample } from "gemwire";
import { Button } from "../ui/Button";
import { count, counted } from "../ui/format";
import { Section } from "../ui/Section";
import { Pager } from "./Pager";
import type { Previewed } from "./usePreview";

export const examplesToPage = 3;
const mostLines = 5;

interface Props {
  previewed: Previewed;
  page: number;
  onPage: (page: number) => void;
  /** Goes to a row, by its number from 1. */
  onRow: (number: number) => void;
}

/** The examples as the model reads them, with what it learns to say marked. */
export function PreviewSection({ previewed, page, onPage, onRow }: Props) {
  if (previewed.state === "none") return null;
  if (previewed.state === "failed") {
    return (
      <Section title="What the model will see">
        <p role="alert" className="text-sm text-danger">
          {previewed.failure.sentence} {previewed.failure.advice}
        </p>
      </Section>
    );
  }
  const {
    preview: { report, examples },
    stale,
  } = previewed;
  return (
    <Section title="What the model will see" intro={summary(report)}>
      <Troubles report={report} onRow={onRow} />
      {examples.length > 0 && (
        <>
          <p className="pb-2 text-[0.8125rem] text-soft">
            <mark className="rounded-xs border-b-2 border-accent bg-tint px-1 text-ink">Marked</mark> text is what the
            model learns to say; the rest is its input.
          </p>
          <ol aria-busy={stale} className={`space-y-2 transition-opacity ${stale ? "opacity-60" : ""}`}>
            {examples.map((example) => (
              <Example key={example.line} example={example} />
            ))}
          </ol>
          <Pager
            label="Pages of the preview"
            page={page}
            pages={Math.ceil(report.examples / examplesToPage)}
            onPage={onPage}
          />
        </>
      )}
    </Section>
  );
}

function summary({ examples, tokens, targets }: DataReport): string {
  if (examples === 0) return "No examples yet.";
  return `${counted(examples, "example")}, ${counted(tokens, "token")}; the model learns to say ${count(targets)}.`;
}

function Example({ example: { line, tokens, cut, heldOut, pieces } }: { example: PreviewExample }) {
  return (
    <li>
      <figure className="overflow-hidden rounded-md border border-line bg-raised">
        <figcaption className="flex gap-x-3 border-b border-line bg-sunk px-3 py-1 text-xs text-soft tabular-nums">
          <span>Example {count(line)}</span>
          <span>{count(tokens)} tokens</span>
          {heldOut && <span>held out</span>}
          {cut > 0 && <span className="text-danger">{count(cut)} cut off</span>}
        </figcaption>
        <p
          tabIndex={0}
          aria-label={`Example ${line} as the model reads it`}
          className={
            "max-h-44 overflow-y-auto px-3 py-2 font-mono text-xs leading-relaxed [font-variant-ligatures:none] " +
            "whitespace-pre-wrap [overflow-wrap:anywhere]"
          }
        >
          {pieces.map(({ text, target }, index) =>
            target ? (
              <mark key={index} className="rounded-xs border-b-2 border-accent bg-tint text-ink">
                {text}
              </mark>
            ) : (
              <span key={index} className="text-soft">
                {text}
              </span>
            ),
          )}
        </p>
      </figure>
    </li>
  );
}

/** What is wrong with the data, line by line, and what was cut off. */
function Troubles({ report: { bad, cut }, onRow }: Pick<Props, "onRow"> & { report: DataReport }) {
  const lost = cut.reduce((sum, { tokens }) => sum + tokens, 0);
  if (bad.length === 0 && cut.length === 0) return null;
  return (
    <div role="status" className="mb-3 space-y-2 rounded-lg border border-danger/60 bg-raised p-3 text-sm">
      {bad.length > 0 && (
        <div>
          <p className="font-medium">
            {bad.length === 1 ? "1 line cannot be used:" : `${count(bad.length)} lines cannot be used:`}
          </p>
          <ul className="mt-1 space-y-0.5">
            {bad.slice(0, mostLines).map(({ line, message }) => (
              <li key={line} className="flex items-baseline gap-2">
                <Button
                  look="plain"
                  className="-ml-2 !min-h-8 shrink-0 !px-2"
                  aria-label={`Go to line ${line}`}
                  onClick={() => onRow(line)}
                >
                  Line {count(line)}
                </Button>
                <span className="min-w-0 text-soft [overflow-wrap:anywhere]">{message}</span>
              </li>
            ))}
          </ul>
          {bad.length > mostLines && <p className="text-soft">and {count(bad.length - mostLines)} more.</p>}
        </div>
      )}
      {cut.length > 0 && (
        <p>
          {cut.length === 1
            ? `Line ${cut[0]?.line ?? 0} is too long. Its last ${count(lost)} tokens are cut off.`
            : `${count(cut.length)} lines are too long. ${count(lost)} tokens are cut off their ends (${cut
                .slice(0, mostLines)
                .map(({ line }) => line)
                .join(", ")}${cut.length > mostLines ? ", …" : ""}).`}{" "}
          Shorten them, or allow longer examples under Advanced.
        </p>
      )}
    </div>
  );
}
