/* The letter or digit of a key, in small letters, on the keyboards of the world. A key with a Latin
   letter is that letter, so that 'y' is where the keyboard says so. Where the layout has another
   script there, it is the Latin letter of its place; and the keys of the digits are digits also
   where those need Shift. */
const PLACES = { Period: ".", Slash: "/" }, PLACES_WITH_SHIFT = { Slash: "?" };

const keyOf = ({ key = "", code, shiftKey }) => {
  const [, digit, letter] = /^(?:Digit(\d)|Key([A-Z]))$/.exec(code) ?? [];
  if ([...key].length > 1) return key.toLowerCase(); // Enter, Dead
  if (digit && !shiftKey) return digit;
  if (/[\p{Script=Latin}\p{ASCII}]/u.test(key)) return key.toLowerCase();
  return letter?.toLowerCase() ?? (shiftKey ? PLACES_WITH_SHIFT : PLACES)[code] ?? key;
};
