/** Numbers with names, kept in one array: the place of each by its name. */
export type Vector<Names extends string> = { readonly [Name in Names]: number }

/** Names of the numbers in a vector, in its order; `from` is the place of the first. */
export function vectorOf<const Names extends readonly string[]>(names: Names, from = 0): Vector<Names[number]> {
  return Object.fromEntries(names.map((name, index) => [name, from + index])) as Vector<Names[number]>
}
