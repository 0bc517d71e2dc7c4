import { useEffect, useState } from "react";
import { PageBody } from "../app/PageBody";
import { PageHeader } from "../app/PageHeader";

/** What others wrote and the app carries, with their licenses: the file that lies beside the app. */
export function LicensesPage() {
  const [text, setText] = useState<string | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    const leaving = new AbortController();
    fetch("third-party-notices.txt", { signal: leaving.signal })
      .then(async (answer) => {
        if (!answer.ok) throw new Error(answer.statusText);
        setText(await answer.text());
      })
      .catch(() => {
        if (!leaving.signal.aborted) setFailed(true);
      });
    return () => {
      leaving.abort();
    };
  }, []);
  return (
    <>
      <PageHeader title="Licenses" />
      <PageBody>
        {failed && (
          <p role="alert">The licenses could not be loaded. Check the connection, then open this page again.</p>
        )}
        {text !== null && (
          <pre
            dir="ltr"
            tabIndex={0}
            className="font-mono text-[0.75rem] leading-normal wrap-break-word whitespace-pre-wrap"
          >
            {text}
          </pre>
        )}
      </PageBody>
    </>
  );
}
