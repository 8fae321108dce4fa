/** Upper-casing would merge ı with i, which Unicode keeps distinct. No other letter needs this exception. */
const dotlessI = 'ı';

/** ASCII without NUL. For such texts, the engines' own case folding equals that of Unicode. */
const plainPattern = /^[\u0001-\u007f]*$/;

/**
 * Folds the case of a text for comparison: texts that differ only by case fold to the same result. Implements the full
 * case folding of the Unicode Standard, section 3.13 (`ß` folds to `ss`), independent of language. The result can be
 * longer than the text and is not meant for display. Folding is idempotent.
 */
export function foldCase(text: string): string {
  if (isPlain(text)) return text.toLowerCase();
  return text.includes(dotlessI) ? text.split(dotlessI).map(foldPart).join(dotlessI) : foldPart(text);
}

/**
 * Upper-casing merges letters that have several lower-case forms. Lower-casing can produce a final sigma, so maps ς to
 * σ.
 */
function foldPart(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** Whether the text is ASCII without NUL, so that folding only affects the letters A to Z. */
export function isPlain(text: string): boolean {
  return plainPattern.test(text);
}
