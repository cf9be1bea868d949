/** Something that can be chosen, and a line that says what it is. */
export interface ComboOption {
  readonly value: string
  readonly note?: string
}

/** Options that contain every word of a text; those whose value does come before those whose note does. */
export function rankOptions<Option extends ComboOption>(options: readonly Option[], text: string): readonly Option[] {
  const words = text
    .toLowerCase()
    .split(/[\s_]+/)
    .filter(Boolean)
  if (words.length === 0) return options
  const inValue: Option[] = []
  const inNote: Option[] = []
  for (const option of options) {
    const value = option.value.toLowerCase()
    const all = `${value} ${option.note?.toLowerCase() ?? ''}`
    if (words.every((word) => value.includes(word))) inValue.push(option)
    else if (words.every((word) => all.includes(word))) inNote.push(option)
  }
  return [...inValue, ...inNote]
}
