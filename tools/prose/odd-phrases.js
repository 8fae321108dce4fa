/**
 * Phrases that are hard to read in technical English, each with a suggestion. The rule of oxlint in
 * `tools/oxlint` reports them in comments and sentences of the code, `main.js` in documents, YAML and shell scripts.
 */
const oddPhrases = [
  {
    advice: 'name the noun: "the caller", "the owner", "a client that …"',
    pattern:
      /\b(?:of|to|for|from|by|with|than|when|beside|behind|and|that|what|but) (?:who|whoever|whom)\b|(?:^|[.;:,] ?)(?:who|whoever) (?:asks|comes|has|is|guesses|calls|knows|waits|reads|wants|may|can)\b/gi,
  },
  {
    advice: 'name the noun: "the missing rows", "a closed stream"',
    pattern:
      /\bwhat (?:is|are|was|were|has|had|does|did) (?:no|none|not|over|left|missing|stored|sent|asked|told|run|read|away|there|kept|given|handed|gone|written|removed|known|said|new|old|larger|shorter|longer|still|already)\b/gi,
  },
  {
    advice: 'negate with "not" or "no": "does not exist", "has no owner"',
    pattern:
      /\b(?:is|are|was|were|be) none\b|\b(?:that|what) is no\b(?! longer)|\bnobody\b|\bgives? way\b|\bno such (?:that|as)\b/gi,
  },
  {
    advice: 'use "notify", "report", "show" or "state"',
    pattern:
      /\b(?:is|are|was|were|be|been|not) told\b|\btold (?:of|that|at|by|anew|apart|once)\b|\btells? (?:of|whoever|who)\b/gi,
  },
  {
    advice: 'use "again", "retry", "automatically" or "continue"',
    pattern: /\banew\b|\bby (?:itself|themselves)\b|\b(?:go|goes|gone|went) on\b(?! to the)|\btried on\b/gi,
  },
  {
    advice: 'use "immediately", "concurrently", "while" or "as many"',
    pattern: /\bat once\b|\bso (?:long|many) (?:as|who|that|the)\b|\bso long\b/gi,
  },
  {
    advice: 'use "unavailable", "unreachable" or "down"',
    pattern:
      /\b(?:is|are|was|were|be|being|stays?) away\b|\b(?:bus|store|database|Kafka|MongoDB|Redis|broker|provider|queue|engine|FCM|APNs|Expo) away\b/gi,
  },
  {
    advice: 'use "alongside", "next to", "concurrently with" or "after"',
    pattern: /\bbeside\b|\bbehind (?:it|the|its|an|a)\b/gi,
  },
  {
    advice: 'use a modern verb: "available", "must be", "fix", "repair", "backfill", "also"',
    pattern:
      /\bto be had\b|\bis to be\b|\bare to be\b|\bmend(?:s|ed|ing)?\b|\bheals?\b|\bbecame of\b|\bhas not (?:the|a|an)\b|\bhave not (?:the|a|an)\b|\bfor it is\b|\blikewise\b|\bthereof\b|\bupon\b|\blest\b|\bhence\b/gi,
  },
];

/** Returns the odd phrases of a text in the order of the table: index, phrase and advice. */
export function findOddPhrases(text) {
  return oddPhrases.flatMap(({ pattern, advice }) =>
    [...text.matchAll(pattern)].map((match) => ({ index: match.index, phrase: match[0].trim(), advice })),
  );
}
