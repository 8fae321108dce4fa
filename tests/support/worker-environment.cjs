const ClosingEnvironment = require('../../tools/jest/closing-environment.cjs');

/**
 * Modules that nearly every acceptance file needs, loaded once per worker. Jest would load them again for each file, which
 * takes a second of CPU time.
 */
const loaded = () => Promise.all([import('./fetch-checked.ts'), import('./stack.ts')]);

/** The environment of the acceptance files: its `fetch` holds answers against the document, see fetch-checked.ts. */
module.exports = class WorkerEnvironment extends ClosingEnvironment {
  async setup() {
    await super.setup();
    const [{ fetchChecked }, { openStackDocuments }] = await loaded();
    // Functions of this file's own: Jest clears what it finds on them when the file is over.
    this.global.fetch = (input, init) => fetchChecked(input, init);
    this.global.openDocumentsOfWorker = (stack) => openStackDocuments(stack);
  }
};
