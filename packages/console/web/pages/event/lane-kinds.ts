import type { EventAnswer } from '@sonde/sdk/api'
import { groupThousands } from '../../format/number.ts'

const KIND_WORDS: ReadonlyMap<string, string> = new Map([
  ['pci', 'PCIe'],
  ['nic', 'NIC'],
  ['netdev', 'Network interface'],
  ['gpu', 'GPU'],
  ['host', 'Host'],
  ['node', 'Node'],
  ['cpu', 'CPU'],
  ['disk', 'Disk'],
])

/**
 * Kinds to choose from, the most frequent first, each with its signals; what is chosen is one of them, whether or not
 * any signal is of it. Signals of no known kind are found by name alone.
 */
export function kindOptions(kinds: EventAnswer['kinds'], chosen: string): readonly (readonly [string, string])[] {
  const known = kinds.filter(({ kind }) => kind !== '')
  const options = known.map(({ kind, lanes }) => [kind, `${wordOf(kind)}, ${groupThousands(String(lanes))}`] as const)
  if (chosen === '' || known.some(({ kind }) => kind === chosen)) return options
  return [[chosen, `${wordOf(chosen)}, 0`], ...options]
}

/** An application names kinds of its own, in letters of its own. */
function wordOf(kind: string): string {
  return KIND_WORDS.get(kind) ?? kind.replaceAll('_', ' ')
}
