const units = ["B", "kB", "MB", "GB", "TB"] as const;

/** bytes writes a size in decimal units, as files are sold: 12.5 MB. */
export function bytes(count: number): string {
  let value = Math.max(0, count);
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit] ?? ""}`;
}

/** Whole numbers are grouped here: the first use of Intl keeps a page that loads busy. */
export const count = (value: number): string =>
  Number.isSafeInteger(value) ? String(value).replace(/\B(?=(?:\d{3})+$)/g, ",") : value.toLocaleString("en");

/** counted says how many there are of a thing: 1 chat, 2,000 chats. */
export const counted = (value: number, thing: string): string => `${count(value)} ${thing}${value === 1 ? "" : "s"}`;

export function tokensPerSecond(value: number): string {
  return `${value >= 99.5 ? value.toFixed(0) : value.toFixed(1)} tokens/s`;
}

export function when(time: number, now = Date.now()): string {
  const date = new Date(time);
  const days = Math.floor((startOfDay(now) - startOfDay(time)) / 86_400_000);
  if (days <= 0) return date.toLocaleTimeString([], { hour: "numeric", minute: "2-digit" });
  if (days === 1) return "Yesterday";
  if (days < 7) return date.toLocaleDateString([], { weekday: "long" });
  return date.toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" });
}

function startOfDay(time: number): number {
  return new Date(time).setHours(0, 0, 0, 0);
}

/** minutes writes seconds as 00:07, as the model was trained to read where a frame stands. */
export const minutes = (seconds: number): string => clock(seconds).padStart(5, "0");

/** clock writes seconds as 0:07. */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** duration writes seconds as somebody would say them: 8 s, 3 min, 2.5 h. */
export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.ceil(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
