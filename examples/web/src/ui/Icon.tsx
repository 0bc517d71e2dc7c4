const paths = {
  plus: "M10 4v12M4 10h12",
  menu: "M3 6h14M3 10h14M3 14h9",
  close: "M5 5l10 10M15 5 5 15",
  search: "M9 3.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11ZM13.2 13.2 17 17",
  send: "M10 16V4M4.5 9.5 10 4l5.5 5.5",
  stop: "M6 6h8v8H6z",
  copy: "M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3",
  check: "M4 10.5 8.2 15 16 5.5",
  retry: "M15.5 8A6 6 0 1 0 16 11.5M16 4v4h-4",
  edit: "M4 16l.8-3.6L13 4.2l2.8 2.8-8.2 8.2L4 16ZM11.5 5.7l2.8 2.8",
  left: "M12 5l-5 5 5 5",
  right: "M8 5l5 5-5 5",
  down: "M5 8l5 5 5-5",
  tune: "M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4",
  trash: "M4 6h12M8 6V4h4v2M6 6l.7 10h6.6L14 6M8.5 9v4.5M11.5 9v4.5",
  pause: "M7 5v10M13 5v10",
  play: "M7 4.5v11l8-5.5z",
  download: "M10 3.5v9M6 9l4 4 4-4M4 16.5h12",
  upload: "M10 13V4M6 7.5l4-4 4 4M4 16.5h12",
  file: "M5 3.5h6l4 4v9H5zM11 3.5v4h4",
  attach:
    "M14.500 9.500 9.300 14.700a2.900 2.900 0 0 1-4.100-4.100l6-6a1.950 1.950 0 0 1 2.750 2.750l-5.700 " +
    "5.700a.95.95 0 0 1-1.350-1.350l4.900-4.900",
  image: "M3.500 4.500h13v11h-13zM3.500 13l3.500-3.500 3 3 2-2 4.500 4M12.500 7.700v.1",
  microphone:
    "M10 3a2.300 2.300 0 0 1 2.300 2.300v4a2.300 2.300 0 0 1-4.600 0v-4A2.300 2.300 0 0 1 10 3ZM5 9.500a5 5 0 0 " +
    "0 10 0M10 14.500V17",
  gem: "M6 4h8l3.5 4.5L10 16.5 2.5 8.5zM2.5 8.5h15M10 16.5 7 8.5l1.5-4.5M10 16.5l3-8L11.500 4",
  curve: "M3.500 3.500v13h13M5.800 5.500c.8 5.500 3.200 8 10 8",
  undo: "M7.500 4.500 4 8l3.500 3.500M4 8h7.500a4 4 0 0 1 0 8H8",
  pulse: "M2.500 10.500h3.500l2-6 3.500 11 2.500-7 1 2h2.500",
  settings:
    "M10 7.300a2.700 2.700 0 1 1 0 5.400 2.700 2.700 0 0 1 0-5.400ZM10 2.800v2M10 15.200v2M2.800 10h2M15.200 " +
    "10h2M4.900 4.900l1.400 1.400M13.700 13.700l1.400 1.400M15.100 4.900l-1.400 1.400M6.300 13.700l-1.400 1.400",
  wrench:
    "M12.500 3.500a4 4 0 0 0-3.600 5.600L3.500 14.500l2 2 5.400-5.400a4 4 0 0 0 5.300-5l-2.500 " +
    "2.500-2.200-.6-.6-2.200z",
  warn: "M10 3.500 17.500 16.500h-15zM10 8.500v3.500M10 14.300v.2",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, className = "size-5" }: { name: IconName; className?: string }) {
  return (
    <svg
      viewBox="0 0 20 20"
      className={`shrink-0 ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  );
}
