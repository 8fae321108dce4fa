/** The module `node:http`. A static import of it also loads Node's `fetch`, which takes 7 MB. */
export const http = process.getBuiltinModule('node:http');
