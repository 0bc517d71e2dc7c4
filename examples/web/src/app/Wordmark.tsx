/** The name with its sign: a gem on a wire. */
export function Wordmark({ className = "text-xl" }: { className?: string }) {
  return (
    <span className={`inline-flex items-center gap-[0.45em] font-serif font-medium tracking-tight ${className}`}>
      <svg viewBox="0 0 12 28" className="h-[1.35em]" aria-hidden="true">
        <path d="M6 0v28" stroke="var(--wire)" strokeWidth="1.2" />
        <path d="M6 7.500 11.500 14 6 20.500.500 14Z" fill="var(--accent)" />
        <path d="M6 7.500 11.500 14H.500Z" fill="var(--paper)" fillOpacity=".38" />
      </svg>
      gemwire
    </span>
  );
}
