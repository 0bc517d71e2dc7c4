import { Button, IconButton } from "../ui/Button";
import { useToasts } from "./toasts";

export function Toasts() {
  const { toasts, hide } = useToasts();
  return (
    <div role="status" aria-live="polite" className="pointer-events-none fixed inset-x-0 top-16 z-50 lg:left-[17.5rem] flex flex-col items-center gap-2 px-3">
      {toasts.map(({ id, text, action }) => (
        <div key={id} className="pointer-events-auto flex max-w-full items-center gap-2 rounded-lg bg-ink py-1.5 pr-1.5 pl-4 text-sm text-paper shadow-lg">
          <span className="min-w-0 truncate">{text}</span>
          {action && <Button look="plain" className="!text-paper underline underline-offset-4 hover:!bg-soft/40" onClick={() => { hide(id); action.run(); }}>{action.label}</Button>}
          <IconButton small icon="close" label="Dismiss" className="!text-paper hover:!bg-soft/40" onClick={() => hide(id)} />
        </div>
      ))}
    </div>
  );
}
