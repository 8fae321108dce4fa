const { TestEnvironment } = require('jest-environment-node');

/**
 * What nearly every acceptance file needs, loaded by Node once for all files of a worker. Jest would load it anew for each:
 * the packages of the cluster's store, and the validators of every answer, were a second of CPU time a file.
 */
const loaded = () => Promise.all([import('./fetch-checked.ts'), import('./stack.ts')]);

/** The environment of the acceptance files: its `fetch` holds answers against the document, see fetch-checked.ts. */
module.exports = class WorkerEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    const [{ fetchChecked }, { openStackDocuments }] = await loaded();
    // Functions of this file's own: Jest clears what it finds on them when the file is over.
    this.global.fetch = (input, init) => fetchChecked(input, init);
    this.global.openDocumentsOfWorker = (stack) => openStackDocuments(stack);
  }
};
