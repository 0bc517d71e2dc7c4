import { browserHelp } from "../engine/browserHelp";

/** For a browser without WebGPU: why nothing is answered, and what to do. Chats can still be read and exported. */
export function NoWebGpu({ reason }: { reason: string }) {
  return (
    <section aria-label="This browser has no WebGPU" className="py-2">
      <h2 className="font-serif text-2xl tracking-tight">This browser cannot compute answers yet.</h2>
      <p className="mt-2 max-w-prose text-soft">gemwire runs the model on your own GPU, through WebGPU. {reason}</p>
      <ul className="mt-5 space-y-3">
        {browserHelp(navigator.userAgent).map(({ browser, steps, yours }) => (
          <li key={browser} className={yours ? "border-l-2 border-wire pl-3" : "pl-3.5"}>
            <strong className="font-semibold">{browser}{yours ? " (this one)" : ""}:</strong> {steps}
          </li>
        ))}
      </ul>
      <p className="mt-5 text-soft">Your chats can be read, searched and exported here all the same.</p>
    </section>
  );
}
