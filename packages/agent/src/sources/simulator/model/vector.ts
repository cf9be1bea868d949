/** Named numbers in one array: the index of each name. */
export type Vector<Names extends string> = { readonly [Name in Names]: number }

/** Indexes for the given names, in their order, starting at `from`. */
export function vectorOf<const Names extends readonly string[]>(names: Names, from = 0): Vector<Names[number]> {
  return Object.fromEntries(names.map((name, index) => [name, from + index])) as Vector<Names[number]>
}
