import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { findOddPhrases } from './odd-phrases.js';

// Reports odd phrases in tracked documents, and in comments of YAML and shell files, and too many words in docs/.
// oxlint checks the code.

/** All pages of docs/ together, except the list of proofs, which no one reads from start to end. */
const docsWordsMax = 35_000;

const files = execFileSync('git', ['ls-files', '*.md', '*.yml', '*.sh', '.ci/run', '.env.example', 'Dockerfile'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '');

/** Returns the lines of a file that contain prose, with their numbers. */
function proseOf(file) {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .map((line, index) => ({ number: index + 1, text: line.trim() }));
  if (!file.endsWith('.md')) return lines.filter(({ text }) => text.startsWith('#'));
  let isCode = false;
  let isQuoted = false;
  return lines.filter(({ text }) => {
    if (text.startsWith('```')) isCode = !isCode;
    // Examples of odd phrases, in docs/style.md.
    if (text === '<!-- prose: off -->') isQuoted = true;
    if (text === '<!-- prose: on -->') isQuoted = false;
    return !isCode && !isQuoted;
  });
}

let hits = 0;
for (const file of files) {
  for (const { number, text } of proseOf(file)) {
    for (const { phrase, advice } of findOddPhrases(text)) {
      hits += 1;
      console.error(`${file}:${number}: "${phrase}" is hard to read: ${advice}. Rewrite the sentence (docs/style.md).`);
    }
  }
}
if (hits > 0) {
  console.error(`${hits} odd phrases in documents.`);
  process.exitCode = 1;
}

const docsWords = files
  .filter((file) => /^docs\/.*\.md$/.test(file) && file !== 'docs/proofs.md')
  .reduce((sum, file) => sum + readFileSync(file, 'utf8').split(/\s+/).filter(Boolean).length, 0);
if (docsWords > docsWordsMax) {
  console.error(`docs/ has ${docsWords} words, at most ${docsWordsMax} are allowed. Shorten a page.`);
  process.exitCode = 1;
}
