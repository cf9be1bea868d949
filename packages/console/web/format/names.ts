import type { Labels } from '../api/types.ts'

const collator = new Intl.Collator('en', { numeric: true })

/** Compares names so that `eth2` comes before `eth10`. */
export function compareNames(a: string, b: string): number {
  return collator.compare(a, b)
}

/** Short names as their makers write them. */
const SHORT_NAMES: ReadonlyMap<string, string> = new Map(
  ['PFC', 'PCIe', 'AER', 'ECC', 'GPU', 'NIC', 'BER', 'MIG', 'XID', 'NVLink', 'ECN', 'CNP'].map((name) => [
    name.toLowerCase(),
    name,
  ]),
)

/** Name of a rule or a scenario as a title: `pfc-storm` is `PFC storm`. */
export function titleOf(name: string): string {
  const words = name
    .split(/[-_]/)
    .map((word) => SHORT_NAMES.get(word) ?? word)
    .join(' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/**
 * A series by its labels: `eth10 priority 3`. A bare number says nothing without the name of its label. Simulated hardware is named as its
 * like: the page and every export say what is simulated.
 */
export function seriesWords(labels: Labels): string {
  return Object.entries(labels)
    .filter(([label, value]) => value !== '' && label !== 'simulated')
    .map(([label, value]) => (/^\d+$/.test(value) ? `${label} ${value}` : value))
    .join(' ')
}
