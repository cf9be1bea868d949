/** Names separated by commas. Long lists show the first names and the count of the rest. */
export function listed(names: readonly string[], countMax: number): string {
  const shown = names.slice(0, countMax).join(', ')
  return names.length > countMax ? `${shown} and ${names.length - countMax} more` : shown
}
