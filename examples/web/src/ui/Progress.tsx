interface Props {
  label: string;
  done: number;
  /** 0: not known; the bar moves instead of filling. */
  total: number;
}

export function Progress({ label, done, total }: Props) {
  const share = total > 0 ? Math.min(1, done / total) : null;
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(share === null ? {} : { "aria-valuenow": Math.round(share * 100) })}
      className={share === null ? "bar bar-moving" : "bar"}
    >
      <span style={share === null ? undefined : { width: `${share * 100}%` }} />
    </div>
  );
}
