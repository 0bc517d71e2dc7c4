export interface Help {
  browser: string;
  steps: string;
  /** It is the browser that is asking. */
  yours: boolean;
}

const browsers: { browser: string; matches: RegExp; steps: string }[] = [
  {
    browser: "Chrome or Edge on Windows, macOS, ChromeOS",
    matches: /^(?!.*(Linux|Android)).*(Chrome|Edg)\//,
    steps:
      "version 113 or newer. Turn on “Use graphics acceleration when available” in the settings under System, " +
      "and restart the browser.",
  },
  {
    browser: "Chrome on Android",
    matches: /Android.*Chrome\//,
    steps: "version 121 or newer on Android 12 or newer, with a Qualcomm or ARM GPU.",
  },
  {
    browser: "Chrome on Linux",
    matches: /^(?!.*Android).*Linux.*Chrome\//,
    steps:
      "version 144 or newer on Intel GPUs of recent years; otherwise turn on “Vulkan” and “Unsafe WebGPU " +
      "Support” at chrome://flags.",
  },
  {
    browser: "Safari on Mac, iPhone, iPad",
    matches: /^(?!.*(Chrome|Chromium|Android)).*Safari\//,
    steps: "version 26 or newer (macOS 26, iOS 26, iPadOS 26).",
  },
  {
    browser: "Firefox",
    matches: /Firefox\//,
    steps:
      "version 141 or newer on Windows, 145 or newer on Macs with Apple chips; elsewhere turn on " +
      "dom.webgpu.enabled at about:config.",
  },
];

/** browserHelp says for each browser what it needs, the reader's own first. */
export function browserHelp(userAgent: string): Help[] {
  return browsers
    .map(({ browser, matches, steps }) => ({ browser, steps, yours: matches.test(userAgent) }))
    .sort((a, b) => Number(b.yours) - Number(a.yours));
}
