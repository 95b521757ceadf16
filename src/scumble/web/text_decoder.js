/** Texts of bytes in UTF-8, for engines that have no TextDecoder; it has to stand before everything that uses one. */

if (typeof globalThis.TextDecoder === "undefined")
  globalThis.TextDecoder = class {
    decode(bytes) {
      let text = "";
      for (let i = 0; i < bytes.length; ) {
        const first = bytes[i++];
        const more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
        let code = more === 0 ? first : first & (0x3f >> more);
        for (let k = 0; k < more; k++) code = (code << 6) | (bytes[i++] & 0x3f);
        text += String.fromCodePoint(code);
      }
      return text;
    }
  };

export const DECODES = true;
