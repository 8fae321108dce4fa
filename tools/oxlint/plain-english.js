import { findOddPhrases } from '../prose/odd-phrases.js';

/** Strings with fewer words are keys or paths, not sentences. */
const wordsMin = 3;

/** Reports odd phrases in comments and in strings of at least three words. */
export const plainEnglish = {
  meta: {
    type: 'suggestion',
    schema: [],
    docs: { description: 'Comments and texts are plain technical English (docs/style.md).' },
    messages: { odd: '"{{phrase}}" is hard to read: {{advice}}. Rewrite the sentence (docs/style.md).' },
  },
  create(context) {
    const { sourceCode } = context;

    /** @param start the index in the file at which the text begins */
    const check = (text, start) => {
      for (const { index, phrase, advice } of findOddPhrases(text)) {
        const loc = {
          start: sourceCode.getLocFromIndex(start + index),
          end: sourceCode.getLocFromIndex(start + index + phrase.length),
        };
        context.report({ loc, messageId: 'odd', data: { phrase, advice } });
      }
    };
    const checkSentence = (text, start) => {
      if (text.trim().split(/\s+/).length >= wordsMin) check(text, start);
    };

    return {
      Program() {
        for (const comment of sourceCode.getAllComments()) check(comment.value, comment.range[0] + 2);
      },
      Literal(node) {
        if (typeof node.value === 'string') checkSentence(node.value, node.range[0] + 1);
      },
      TemplateElement(node) {
        checkSentence(node.value.raw, node.range[0] + 1);
      },
    };
  },
};
