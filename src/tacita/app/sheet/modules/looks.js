/** How cells look: for each sum of flags its classes, its signs and its meaning in words. */

export const TOTAL = 32;
export const EMPTY = 128;
export const CHANGED = 256;

export function combineLooks(looks) {
  const most = looks.reduce((sum, [flag]) => sum | flag, 0);
  return Array.from({ length: most + 1 }, (_, flags) => {
    const present = looks.filter(([flag]) => flags & flag);
    return {
      className: ["sheet-cell", ...present.map(([, name]) => `sheet-${name}`)].join(" "),
      signs: present.map(([, , sign]) => sign).join(""),
      meaning: present.map(([, , , meaning]) => meaning).join(", "),
    };
  });
}
