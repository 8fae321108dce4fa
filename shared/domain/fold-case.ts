/** The only letter that upper and lower case would bring together with another that Unicode keeps apart from it: ı and i. */
const dotlessI = 'ı';
/** Half a surrogate pair: no text that can be stored holds one, so it stands for ı alone. */
const dotlessIMark = '\uDC00';

/** One byte a character and no NUL: what engines compare without regard to case as Unicode does. */
const plainForm = /^[\u0001-\u007f]*$/;

/**
 * The text for a comparison without regard to case: two texts that differ by case alone give the same one. Case folding is
 * Unicode's, in full (`ß` is `ss`; The Unicode Standard, section 3.13) and without regard to language. The result may be
 * longer than the text, is the same when folded again, and is for comparing only, not for showing.
 */
export function foldCase(text: string): string {
  if (isPlain(text)) return text.toLowerCase();
  const marked = text.includes(dotlessI) ? text.replaceAll(dotlessI, dotlessIMark) : text;
  // By way of upper case, where letters meet that have several lower ones; then ς, which is σ at the end of a word.
  const folded = marked.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
  return marked === text ? folded : folded.replaceAll(dotlessIMark, dotlessI);
}

/** Whether the text is ASCII without NUL, so that its case folding is that of the letters A to Z. */
export function isPlain(text: string): boolean {
  return plainForm.test(text);
}
