import { useEffect, useMemo, useState } from "react";
import { AdaptersSection } from "../adapters/AdaptersSection";
import { PageBody } from "../app/PageBody";
import { PageHeader } from "../app/PageHeader";
import { ModelChip } from "../chat/ModelChip";
import { ComparisonSection } from "./ComparisonSection";
import { ExamplesSection, rowsToPage } from "./ExamplesSection";
import { useExamples } from "./examplesStore";
import { examplesToPage, PreviewSection } from "./PreviewSection";
import { jsonlOf } from "./rows";
import { useRun } from "./runStore";
import { TrainingSection } from "./TrainingSection";
import { useTrainingSettings } from "./trainingSettings";
import { usePreview } from "./usePreview";

/** From examples to an adapter, in the order in which it is done. */
export function FinetunePage() {
  const rows = useExamples((state) => state.rows);
  const { maxLength, allTurns } = useTrainingSettings();
  const refreshRuns = useRun((state) => state.refresh);
  const [rowPage, setRowPage] = useState(0);
  const [previewPage, setPreviewPage] = useState(0);
  const jsonl = useMemo(() => jsonlOf(rows), [rows]);
  const previewed = usePreview({
    jsonl,
    first: previewPage * examplesToPage,
    count: examplesToPage,
    maxLength,
    allTurns,
  });
  const report = previewed.state === "shown" ? previewed.preview.report : null;
  const bad = useMemo(() => new Map(report?.bad.map(({ line, message }) => [line, message])), [report]);
  useEffect(() => {
    void refreshRuns();
  }, [refreshRuns]);
  const lastPage = Math.max(0, Math.ceil((report?.examples ?? 1) / examplesToPage) - 1);
  if (report && previewPage > lastPage) setPreviewPage(lastPage);

  return (
    <>
      <PageHeader title="Fine-tune">
        <ModelChip />
      </PageHeader>
      <PageBody className="space-y-11">
        <ExamplesSection bad={bad} page={rowPage} onPage={setRowPage} />
        <PreviewSection
          previewed={previewed}
          page={previewPage}
          onPage={setPreviewPage}
          onRow={(number) => setRowPage(Math.floor((number - 1) / rowsToPage))}
        />
        <TrainingSection report={report} />
        <ComparisonSection />
        <AdaptersSection />
      </PageBody>
    </>
  );
}
