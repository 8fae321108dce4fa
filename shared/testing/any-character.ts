import fc from 'fast-check';

const surrogatesFrom = 0xd800;
const surrogateCount = 0x800;
const last = 0x10ffff - surrogateCount;

/** Any Unicode character. The unit `binary` of fast-check has the same ones, but first lists them for a second. */
export const anyCharacter = fc
  .integer({ min: 0, max: last })
  .map((index) => String.fromCodePoint(index < surrogatesFrom ? index : index + surrogateCount));
