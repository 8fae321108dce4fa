/** The only letter that `folded` would bring together with another that Unicode keeps apart from it: ı and i. */
const dotlessI = 'ı';

/** One byte a character and no NUL: what engines compare without regard to case as Unicode does. */
const plainForm = /^[\u0001-\u007f]*$/;

/**
 * The text for a comparison without regard to case: two texts that differ by case alone give the same one. Case folding is
 * Unicode's, in full (`ß` is `ss`; The Unicode Standard, section 3.13) and without regard to language. The result may be
 * longer than the text, is the same when folded again, and is for comparing only, not for showing.
 */
export function foldCase(text: string): string {
  if (isPlain(text)) return text.toLowerCase();
  return text.includes(dotlessI) ? text.split(dotlessI).map(folded).join(dotlessI) : folded(text);
}

/** By way of upper case, where letters meet that have several lower ones; then ς, which is σ at the end of a word. */
function folded(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** Whether the text is ASCII without NUL, so that its case folding is that of the letters A to Z. */
export function isPlain(text: string): boolean {
  return plainForm.test(text);
}
