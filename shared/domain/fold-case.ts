/** The only letter that upper-casing would merge with a letter that Unicode keeps distinct: ı and i. */
const dotlessI = 'ı';

/** One byte per character and no NUL. Engines fold the case of such texts like Unicode. */
const plainForm = /^[\u0001-\u007f]*$/;

/**
 * Folds the case of a text for comparison: texts that differ only by case fold to the same result. Implements the full
 * case folding of the Unicode Standard, section 3.13 (`ß` folds to `ss`), independent of language. The result can be
 * longer than the text and is not meant for display. Folding is idempotent.
 */
export function foldCase(text: string): string {
  if (isPlain(text)) return text.toLowerCase();
  return text.includes(dotlessI) ? text.split(dotlessI).map(folded).join(dotlessI) : folded(text);
}

/** Upper case merges letters with several lower-case forms; then maps the final sigma ς to σ. */
function folded(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** Whether the text is ASCII without NUL, so that folding only affects the letters A to Z. */
export function isPlain(text: string): boolean {
  return plainForm.test(text);
}
