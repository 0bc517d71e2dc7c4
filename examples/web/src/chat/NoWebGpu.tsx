import { browserHelp } from "../engine/browserHelp";
import { useEngine } from "../engine/engineStore";

/** For a browser without WebGPU: why, what to do, and what goes on all the same. */
export function NoWebGpu({ reason }: { reason: string }) {
  const answers = useEngine(({ engine }) => engine.state === "ready");
  return (
    <section aria-label="This browser has no WebGPU" className="py-2">
      <h2 className="font-serif text-2xl tracking-tight">This browser gives no way to the GPU.</h2>
      <p className="mt-2 max-w-prose text-soft">gemwire runs models on your own GPU, through WebGPU. {reason}</p>
      {answers && <p className="mt-2 max-w-prose">Small models run on the processor meanwhile: the one that is open answers below.</p>}
      <ul className="mt-5 space-y-3">
        {browserHelp(navigator.userAgent).map(({ browser, steps, yours }) => (
          <li key={browser} className={yours ? "border-l-2 border-wire pl-3" : "pl-3.5"}>
            <strong className="font-semibold">{browser}{yours ? " (this one)" : ""}:</strong> {steps}
          </li>
        ))}
      </ul>
      <p className="mt-5 text-soft">Your chats can be read, searched and exported here in any case.</p>
    </section>
  );
}
