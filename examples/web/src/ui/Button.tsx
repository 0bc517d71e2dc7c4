import type { ButtonHTMLAttributes, Ref } from "react";
import { Icon, type IconName } from "./Icon";

type Look = "solid" | "outline" | "plain" | "danger";

const looks: Record<Look, string> = {
  solid: "bg-accent text-on-accent hover:brightness-110 disabled:bg-line disabled:text-soft disabled:brightness-100",
  outline: "border border-line bg-raised hover:border-soft disabled:text-soft",
  plain: "hover:bg-sunk text-soft hover:text-ink",
  danger: "border border-danger text-danger hover:bg-danger hover:text-paper",
};

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  icon?: IconName;
}

export function Button({ look = "outline", icon, className = "", children, type = "button", ...rest }: Props) {
  return (
    <button
      type={type}
      className={
        "inline-flex min-h-9 items-center justify-center gap-1.5 rounded-md px-3 py-1 text-sm font-medium " +
        `transition-colors ${looks[look]} ${className}`
      }
      {...rest}
    >
      {icon && <Icon name={icon} className="size-4" />}
      {children}
    </button>
  );
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconName;
  /** Read out, and shown as a tooltip. */
  label: string;
  small?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

export function IconButton({ icon, label, small = false, className = "", type = "button", ...rest }: IconButtonProps) {
  const size = small ? "size-8" : "size-10";
  return (
    <button
      type={type}
      aria-label={label}
      title={label}
      className={
        `inline-flex ${size} shrink-0 items-center justify-center rounded-md text-soft transition-colors ` +
        `hover:bg-sunk hover:text-ink disabled:opacity-40 ${className}`
      }
      {...rest}
    >
      <Icon name={icon} className={small ? "size-4" : "size-5"} />
    </button>
  );
}
