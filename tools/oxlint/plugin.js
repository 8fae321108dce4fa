import { commentLength } from './comment-length.js';
import { plainEnglish } from './plain-english.js';
import { textNotHtml } from './text-not-html.js';

/** The project's own rules. .oxlintrc.json says where they apply. */
export default {
  meta: { name: 'tocsin' },
  rules: { 'comment-length': commentLength, 'plain-english': plainEnglish, 'text-not-html': textNotHtml },
};
