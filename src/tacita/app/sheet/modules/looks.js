/** How cells look: for each of the 256 sums of flags its classes, its signs and its meaning in words. */

export const TOTAL = 32;
export const CHANGED = 64;
export const EMPTY = 128;

export function combineLooks(looks) {
  return Array.from({ length: 256 }, (_, flags) => {
    const present = looks.filter(([flag]) => flags & flag);
    return {
      className: ["sheet-cell", ...present.map(([, name]) => `sheet-${name}`)].join(" "),
      signs: present.map(([, , sign]) => sign).join(""),
      meaning: present.map(([, , , meaning]) => meaning).join(", "),
    };
  });
}
