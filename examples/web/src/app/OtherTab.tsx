import { Button } from "../ui/Button";
import { useSession } from "./session";
import { Wordmark } from "./Wordmark";

/** What a tab shows while another one owns the history and the GPU. */
export function OtherTab({ taking }: { taking: boolean }) {
  const takeOver = useSession((state) => state.takeOver);
  return (
    <main className="mx-auto grid min-h-full max-w-md content-center gap-4 p-6">
      <Wordmark />
      <h1 className="font-serif text-2xl leading-snug">gemwire is open in another tab.</h1>
      <p className="text-soft">
        Only one tab at a time can use the chats and the GPU. When you continue here, the other tab saves its work and
        hands over.
      </p>
      <div>
        <Button look="solid" className="min-h-11 px-5" disabled={taking} onClick={takeOver}>
          {taking ? "Switching…" : "Use gemwire here"}
        </Button>
      </div>
      <p role="status" className="text-sm text-soft">
        {taking ? "Waiting for the other tab." : ""}
      </p>
    </main>
  );
}
