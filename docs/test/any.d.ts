/** A package that is not installed here. */
declare const anything: any;
export const VitePWA: typeof anything;
export default anything;
