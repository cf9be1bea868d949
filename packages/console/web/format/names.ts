import type { Labels } from '@sonde/sdk/api'

const collator = new Intl.Collator('en', { numeric: true })

/** Compares names so that `eth2` comes before `eth10`. */
export function compareNames(a: string, b: string): number {
  return collator.compare(a, b)
}

/** Short names as their makers write them. */
const SHORT_NAMES: ReadonlyMap<string, string> = new Map(
  ['PFC', 'PCIe', 'AER', 'ECC', 'GPU', 'NIC', 'BER', 'MIG', 'XID', 'NVLink', 'ECN', 'CNP', 'vGPU'].map((name) => [
    name.toLowerCase(),
    name,
  ]),
)

/** Name of a rule or a scenario as a title: `pfc-storm` is `PFC storm`. */
export function titleOf(name: string): string {
  return name
    .split(/[-_]/)
    .map((word, place) => SHORT_NAMES.get(word) ?? (place === 0 ? word.charAt(0).toUpperCase() + word.slice(1) : word))
    .join(' ')
}

/**
 * A series by its labels: `eth10 priority 3`. A bare number needs the name of its label. Simulated hardware has plain
 * names, because the page and every export mark it.
 */
export function seriesWords(labels: Labels): string {
  return Object.entries(labels)
    .filter(([label, value]) => value !== '' && label !== 'simulated')
    .map(([label, value]) => (/^\d+$/.test(value) ? `${label} ${value}` : value))
    .join(' ')
}

/** Labels of a GPU that repeat its index. */
const GPU_LABELS: ReadonlySet<string> = new Set([
  ...['UUID', 'device', 'device_file', 'modelName', 'Hostname', 'pci_bus_id', 'pci_address'],
])

/** Labels that name the device of a series without a GPU. */
const DEVICE_LABELS: ReadonlySet<string> = new Set(['device', 'rdma_device', 'pci_address', 'disk', 'chip'])

/** Whether a label names the origin of a series. Such labels are kept whenever they differ. */
function isPlace(name: string, all: readonly Labels[]): boolean {
  return name === 'gpu' || (DEVICE_LABELS.has(name) && all.every(({ gpu }) => gpu === undefined))
}

/**
 * The labels that distinguish series, as short as possible: of `gpu` and `UUID`, which differ together, only `gpu`.
 * Empty if nothing differs. `simulated` does not count, as in {@link seriesWords}.
 */
export function tellingLabels(all: readonly Labels[]): ReadonlySet<string> {
  const names = [...new Set(all.flatMap((labels) => Object.keys(labels)))].filter((name) => name !== 'simulated')
  const differing = names.filter((name) => distinctCount(all, [name]) > 1)
  const needed = distinctCount(all, differing)
  let kept = differing
  for (const name of differing.toSorted((a, b) => lengthOf(all, b) - lengthOf(all, a))) {
    const others = kept.filter((other) => other !== name)
    if (!isPlace(name, all) && distinctCount(all, others) === needed) kept = others
  }
  return new Set(kept)
}

function distinctCount(all: readonly Labels[], names: readonly string[]): number {
  return new Set(all.map((labels) => names.map((name) => labels[name] ?? '').join('\u0001'))).size
}

function lengthOf(all: readonly Labels[], name: string): number {
  return all.reduce((sum, labels) => sum + (labels[name]?.length ?? 0), 0)
}

/**
 * The words of the chosen labels of a series, and of its other labels. A series without chosen labels uses all labels.
 * Other names of a GPU are left out beside its index.
 */
export function splitWords(
  labels: Labels,
  telling: ReadonlySet<string>,
): { readonly name: string; readonly more: string } {
  const isTelling = Object.keys(labels).some((name) => telling.has(name))
  const isNamed = (name: string): boolean =>
    isTelling ? telling.has(name) : labels.gpu === undefined || !GPU_LABELS.has(name)
  const some = (has: (name: string) => boolean): string =>
    seriesWords(Object.fromEntries(Object.entries(labels).filter(([name]) => has(name))))
  return { name: some(isNamed), more: some((name) => !isNamed(name)) }
}
