import { Button, IconButton } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { useToasts, type Toast } from "./toasts";

const looks: Record<Toast["look"], string> = {
  note: "border-line bg-raised",
  warning: "border-wire bg-warn",
};

/** Notes at the foot of a page, and over a chat's field. They take room of their own, so that they cover nothing. */
export function Toasts() {
  const { toasts, hide } = useToasts();
  return (
    <div role="status" aria-live="polite" className="mx-auto flex w-full max-w-[46rem] shrink-0 flex-col px-3 sm:px-6">
      {toasts.map(({ id, text, look, action }) => (
        <div
          key={id}
          data-look={look}
          className={`mb-2 flex items-center gap-2 rounded-lg border py-1 pr-1 pl-3 text-sm ${looks[look]}`}
        >
          {look === "warning" && <Icon name="warn" className="size-4.5 shrink-0 text-wire" />}
          <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{text}</span>
          {action && (
            <Button
              look="plain"
              className="!text-accent underline underline-offset-4"
              onClick={() => {
                hide(id);
                action.run();
              }}
            >
              {action.label}
            </Button>
          )}
          <IconButton small icon="close" label="Dismiss" onClick={() => hide(id)} />
        </div>
      ))}
    </div>
  );
}
