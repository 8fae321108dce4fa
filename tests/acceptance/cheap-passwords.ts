import bcrypt from 'bcrypt';

/*
 * Loaded before a server or a command of the tests: bcrypt of 2^8 rounds instead of 2^12, which takes 15 ms instead of a
 * quarter of a second, a fifth of all CPU time of the acceptance tests. It stays what takes longest in a request, so that
 * those at once meet as they do elsewhere. The cost itself is a promise of shared/stores/passwords.test.ts.
 */
const rounds = 8;

const { genSaltSync, hashSync } = bcrypt;
bcrypt.genSaltSync = () => genSaltSync(rounds);
bcrypt.hashSync = (password) => hashSync(password, rounds);
