import { pageHref } from "../app/route";
import { useSession } from "../app/session";
import { useEngine } from "../engine/engineStore";
import { serverInUse } from "../server/answerFrom";
import { useSettings } from "../settings/settingsStore";

/** That this browser has no WebGPU, and what answers all the same. */
export function WithoutWebGpu() {
  const support = useSession((state) => state.support);
  const engine = useEngine((state) => state.engine);
  const remote = useSettings(serverInUse) !== null;
  if (remote || support?.webgpu !== false) return null;
  return (
    <p className="px-2 pb-2 text-sm text-soft">
      This browser does not offer WebGPU.{" "}
      {engine.state === "ready" ? `${engine.label} answers on the CPU.` : "Small models answer on the CPU."}{" "}
      <a className="text-accent underline underline-offset-2" href={pageHref.settings}>
        What to do
      </a>
    </p>
  );
}
