import { useEffect } from "react";
import { PageHeader } from "../app/PageHeader";
import { FailureNotice } from "../engine/FailureNotice";
import { useEngine } from "../engine/engineStore";
import { CatalogSection } from "./CatalogSection";
import { InUse } from "./InUse";
import { OwnSection } from "./OwnSection";
import { ServerSection } from "./ServerSection";
import { StoredSection } from "./StoredSection";
import { useStoredModels } from "./storedModels";

export function ModelsPage() {
  const engine = useEngine((state) => state.engine);
  const refresh = useStoredModels((state) => state.refresh);
  useEffect(() => {
    void refresh();
  }, [refresh]);
  return (
    <>
      <PageHeader title="Models" />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto w-full max-w-[46rem] space-y-11 px-4 pt-7 pb-16 sm:px-6">
          {engine.state === "failed" && <FailureNotice label={engine.label} failure={engine.failure} />}
          <InUse />
          <StoredSection />
          <CatalogSection />
          <OwnSection />
          <ServerSection />
        </div>
      </div>
    </>
  );
}
