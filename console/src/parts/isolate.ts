/**
 * A name that users choose, for a text without markup, such as a toast: characters that control the direction of text
 * are removed, and the name cannot change the direction of the text around it.
 */
export const isolate = (name: string): string => `\u2068${name.replaceAll(/[\u2028-\u202E\u2066-\u2069]/g, '')}\u2069`;
