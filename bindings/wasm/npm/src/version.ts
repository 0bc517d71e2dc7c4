/** The package's version; the build checks it against package.json. */
export const version = "0.1.0";
