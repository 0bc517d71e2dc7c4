import { useSession } from "../app/session";
import { browserHelp } from "../engine/browserHelp";
import { Section } from "../ui/Section";

/** For a browser without WebGPU: why, and what to do. */
export function WebGpuSection() {
  const support = useSession((state) => state.support);
  if (support?.webgpu !== false) return null;
  return (
    <Section
      title="WebGPU"
      intro={
        `This browser does not offer WebGPU, which models need to run on the GPU. ${support.reason ?? ""} Small ` +
        "models run on the CPU meanwhile."
      }
    >
      <ul className="space-y-3 text-sm">
        {browserHelp(navigator.userAgent).map(({ browser, steps, yours }) => (
          <li key={browser} className={yours ? "border-l-2 border-wire pl-3" : "pl-3.5"}>
            <strong className="font-semibold">
              {browser}
              {yours ? " (this one)" : ""}:
            </strong>{" "}
            {steps}
          </li>
        ))}
      </ul>
    </Section>
  );
}
