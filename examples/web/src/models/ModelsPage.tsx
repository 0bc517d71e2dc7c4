import { useEffect } from "react";
import { PageBody } from "../app/PageBody";
import { PageHeader } from "../app/PageHeader";
import { FailureNotice, RefusedNotice } from "../engine/FailureNotice";
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
  const announcement = useStoredModels((state) => state.announcement);
  useEffect(() => {
    void refresh();
  }, [refresh]);
  return (
    <>
      <PageHeader title="Models" />
      <p role="status" className="sr-only">
        {announcement}
      </p>
      <PageBody className="space-y-11">
        {engine.state === "failed" && <FailureNotice label={engine.label} failure={engine.failure} />}
        <RefusedNotice />
        <InUse />
        <StoredSection />
        <CatalogSection />
        <OwnSection />
        <ServerSection />
      </PageBody>
    </>
  );
}
