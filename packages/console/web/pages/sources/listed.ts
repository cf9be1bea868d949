/** Names with commas between them; of many the first few, and how many more there are. */
export function listed(names: readonly string[], countMax: number): string {
  const shown = names.slice(0, countMax).join(', ')
  return names.length > countMax ? `${shown} and ${names.length - countMax} more` : shown
}
