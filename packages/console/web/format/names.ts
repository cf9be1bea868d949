const collator = new Intl.Collator('en', { numeric: true })

/** Compares names so that `eth2` comes before `eth10`. */
export function compareNames(a: string, b: string): number {
  return collator.compare(a, b)
}
